"""The review queue: which rows in which order, page by page, as they were when it was opened.

A page follows a key (place in the order, then number), so that deciding moves nothing; what was
decided since the page was opened stays where it was. Near-duplicates stand in one row, that of the
first of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from codememory.models import (
    Candidate,
    CandidateState,
    CandidateTraits,
    DecisionAction,
    Project,
    ReviewDecision,
)
from review.claims import held
from review.filters import Filters
from review.queue_set import (
    conflict_rank,
    in_conflict,
    in_state,
    left_since,
    moment,
    passing,
)

__all__ = ["PAGE_SIZE", "Filters", "Page", "QueueRow", "neighbours", "next_open", "page_of"]
PAGE_SIZE = 30
COLUMNS = {"sure": "confidence", "unsure": "confidence"}
ROUNDS = 8  # of looking for rows that are no near-duplicates of earlier ones


@dataclass(frozen=True, slots=True)
class Key:
    """A place in the order: open ones first or not, the value sorted by, the number."""

    rank: int
    value: float
    number: int
    before: int = 0  # rows before it, on the pages already read

    @classmethod
    def of(cls, text: str) -> Key:
        rank, value, number, before = text.split("_")
        return cls(int(rank), float(value), int(number), int(before))

    def __str__(self) -> str:
        return f"{self.rank}_{self.value:.6g}_{self.number}_{self.before}"


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A row: a candidate, and how many others of the queue say nearly the same."""

    candidate: Candidate
    similar: int


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the queue, with what it takes to say where it stands."""

    rows: list[QueueRow]
    before: int
    after: str  # the key that it follows
    next_query: str | None

    @property
    def first(self) -> int:
        return self.before + 1

    @property
    def last(self) -> int:
        return self.before + len(self.rows)


@dataclass(frozen=True, slots=True)
class Progress:
    decided_today: int
    last_hour: int
    left: int

    @property
    def share(self) -> float:
        total = self.decided_today + self.left
        return round(100 * self.decided_today / total, 1) if total else 100.0


class Order:
    """How the rows follow each other: segment after segment, and within one by an index.

    Segments are open ones before decided ones where all are listed, and conflicts before the rest
    where that is asked for: nothing has to be sorted that is not shown.
    """

    def __init__(self, project: Project, filters: Filters) -> None:
        self._ranked = filters.state == "any"
        self._by_conflict = filters.sort == "conflict"
        self._column = COLUMNS.get(filters.sort)
        self._falls = filters.sort in ("new", "sure")  # an index is read from one of its ends
        self._conflict = in_conflict(project) if self._by_conflict else Q()

    def segments(self, key: Key | None) -> list[tuple[Q, Key | None]]:
        """Return what is still to come after a key: each segment, and where to begin in it."""
        is_open = Q(state=CandidateState.PENDING)
        ranks = [(0, is_open), (1, ~is_open)] if self._ranked else [(0, Q())]
        conflicts = [(0, self._conflict), (1, ~self._conflict)] if self._by_conflict else [(0, Q())]
        found = []
        for rank, in_rank in ranks:
            for value, in_value in conflicts:
                at = (rank, value)
                begin = (key.rank, key.value if self._by_conflict else 0) if key else at
                if at >= begin:
                    found.append((in_rank & in_value, key if at == begin else None))
        return found

    def sort(self, found: QuerySet[Candidate]) -> QuerySet[Candidate]:
        """Return them in the order within a segment, with the values of a key."""
        if self._by_conflict:
            found = found.annotate(conflict_rank=conflict_rank(self._conflict))
        names = [self._column, "id"] if self._column else ["id"]
        return found.order_by(*(f"-{name}" if self._falls else name for name in names))

    def key(self, candidate: Candidate, before: int = 0) -> Key:
        value: float = 0
        if self._by_conflict:
            value = float(vars(candidate)["conflict_rank"])  # as `sort` has it
        elif self._column:
            value = getattr(candidate, self._column)
        rank = 0 if candidate.state == CandidateState.PENDING else 1
        return Key(rank if self._ranked else 0, value, candidate.pk, before)

    def key_before(self, candidate: Candidate, before: int) -> Key:
        """The key that a page follows which begins with the candidate."""
        number = candidate.pk + 1 if self._falls else candidate.pk - 1
        return replace(self.key(candidate, before), number=number)

    def place(self, candidate: Candidate) -> tuple[float, ...]:
        """What sorts candidates in Python as they stand in the queue."""
        key = self.key(candidate)
        sign = -1 if self._falls else 1
        return (key.rank, sign * key.value, sign * key.number)

    def beyond(self, key: Key) -> Q:
        """What comes after a key within its segment."""
        way = "lt" if self._falls else "gt"
        beyond = Q(**{f"id__{way}": key.number})
        if self._column:
            same = Q(**{self._column: key.value}) & beyond
            beyond = Q(**{f"{self._column}__{way}": key.value}) | same
        return beyond


def page_of(project: Project, filters: Filters, at: int | None = None) -> Page:
    """Return the page that follows the key of the filters; `at` is a row that it must hold.

    Where the page does not hold it, the page that begins with it is returned.
    """
    order = Order(project, filters)
    key = Key.of(filters.after) if filters.after else None
    page = _page(project, filters, order, key)
    if at is None or any(row.candidate.pk == at for row in page.rows):
        return page
    wanted = order.sort(passing(project, filters).filter(pk=at)).first()
    if wanted is None:
        return page
    return _page(project, filters, order, order.key_before(wanted, page.last))


def _page(project: Project, filters: Filters, order: Order, key: Key | None) -> Page:
    found = passing(project, filters)
    if filters.asof:
        found = found.filter(created_at__lte=moment(filters))
    now = order.sort(in_state(filters, found))
    rows = _rows(project, filters, order, now, key)
    if filters.state != "any" and filters.asof:
        gone = order.sort(left_since(project, filters, found))
        rows += _rows(project, filters, order, gone, key)
        rows.sort(key=lambda row: order.place(row.candidate))
    shown, before = rows[:PAGE_SIZE], key.before if key else 0
    follows = str(order.key(shown[-1].candidate, before + PAGE_SIZE)) if shown else ""
    has_more = len(rows) > PAGE_SIZE
    more = filters.query(after=follows) if has_more else None
    return Page(shown, before, str(key or ""), more)


def _rows(
    project: Project,
    filters: Filters,
    order: Order,
    found: QuerySet[Candidate],
    key: Key | None,
) -> list[QueueRow]:
    """Return a page of rows and one more: each candidate that no earlier number says already."""
    rows: list[QueueRow] = []
    for within, begin in order.segments(key):
        if len(rows) <= PAGE_SIZE:
            rows += _rows_of(project, filters, order, found.filter(within), begin)
    return rows[: PAGE_SIZE + 1]


def _rows_of(
    project: Project,
    filters: Filters,
    order: Order,
    segment: QuerySet[Candidate],
    key: Key | None,
) -> list[QueueRow]:
    rows: list[QueueRow] = []
    for _ in range(ROUNDS):
        beyond = segment.filter(order.beyond(key)) if key else segment
        some = list(beyond[: 2 * PAGE_SIZE])
        rows += _first_of_each(project, segment, some) if filters.is_grouped else _alone(some)
        if len(some) < 2 * PAGE_SIZE or len(rows) > PAGE_SIZE:
            break
        key = order.key(some[-1])
    return rows


def _alone(candidates: Sequence[Candidate]) -> list[QueueRow]:
    return [QueueRow(candidate, 0) for candidate in candidates]


def _first_of_each(
    project: Project, found: QuerySet[Candidate], some: Sequence[Candidate]
) -> list[QueueRow]:
    """Leave out those of which an earlier number of the queue is a near-duplicate."""
    scope = project.scope_id
    traits = CandidateTraits.objects.filter(
        scope_id=scope, candidate__in=[one.pk for one in some], similar_key__isnull=False
    )
    keys = dict(traits.values_list("candidate_id", "similar_key"))
    same = found.filter(traits__scope_id=scope, traits__similar_key__in=set(keys.values()))
    groups = {
        similar: (first, count)
        for similar, first, count in same.order_by()
        .values_list("traits__similar_key")
        .annotate(first=Min("id"), n=Count("id"))
    }
    rows = []
    for candidate in some:
        first, count = groups.get(keys.get(candidate.pk), (candidate.pk, 1))
        if first == candidate.pk:
            rows.append(QueueRow(candidate, count - 1))
    return rows


def group_of(project: Project, filters: Filters, numbers: Sequence[int]) -> list[int]:
    """Return the candidates of the queue that say nearly what these do, themselves first."""
    if not numbers:
        return []
    own = CandidateTraits.objects.filter(scope_id=project.scope_id, candidate__in=list(numbers))
    same = CandidateTraits.objects.filter(
        scope_id=project.scope_id, similar_key__in=own.values("similar_key")
    )
    alike = in_state(filters, passing(project, filters)).filter(pk__in=same.values("candidate_id"))
    return [*dict.fromkeys([*numbers, *alike.order_by("id").values_list("pk", flat=True)])]


def neighbours(
    project: Project, filters: Filters, candidate: Candidate
) -> tuple[Candidate | None, Candidate | None]:
    """Return the candidates before and after this one in the queue, whether it is in it or not."""
    order = Order(project, filters)
    every = Candidate.objects.filter(scope_id=project.scope_id)
    key = order.key(order.sort(every.filter(pk=candidate.pk)).get())
    found = order.sort(in_state(filters, passing(project, filters)).exclude(pk=candidate.pk))
    segments = [found.filter(within) for within, _ in order.segments(None)]
    at = len(segments) - len(order.segments(key))
    beyond = order.beyond(key)
    earlier = [segments[at].exclude(beyond), *reversed(segments[:at])]
    later = [segments[at].filter(beyond), *segments[at + 1 :]]
    previous = (one for each in earlier if (one := each.reverse().first()))
    following = (one for each in later if (one := each.first()))
    return next(previous, None), next(following, None)


def next_open(project: Project, filters: Filters, decided: Candidate) -> Candidate | None:
    """Return the open candidate to go on with: the next row, else the first that is left.

    What others have claimed is passed over.
    """
    open_ones = replace(filters, state="pending" if filters.state == "any" else filters.state)
    order = Order(project, open_ones)
    every = Candidate.objects.filter(scope_id=project.scope_id)
    key = order.key(order.sort(every.filter(pk=decided.pk)).get())
    claimed = held(project.scope_id).exclude(actor__user=filters.me).values("candidate_id")
    found = in_state(open_ones, passing(project, open_ones)).exclude(pk__in=claimed)
    rows = _rows(project, open_ones, order, order.sort(found), key)
    rows = rows or _rows(project, open_ones, order, order.sort(found), None)
    return rows[0].candidate if rows else None


def progress(project: Project, left: int) -> Progress:
    """Count what was decided since midnight UTC and in the last hour, and still stands."""
    now = timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    hour = now - timedelta(hours=1)
    since = ReviewDecision.objects.filter(
        scope_id=project.scope_id, created_at__gte=min(midnight, hour)
    )
    undone = ReviewDecision.objects.filter(scope_id=project.scope_id, undoes=OuterRef("pk"))
    standing = since.exclude(action=DecisionAction.UNDO).filter(~Exists(undone))
    counts = standing.aggregate(
        today=Count("pk", filter=Q(created_at__gte=midnight)),
        hour=Count("pk", filter=Q(created_at__gte=hour)),
    )
    return Progress(counts["today"], counts["hour"], left)
