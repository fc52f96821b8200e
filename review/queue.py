"""The review queue: which candidates, in which order, with counts for each filter.

Filters live in the address. Pages follow a key (pending first, then by number), so that deciding
on a candidate never moves another one to a page already read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from codememory.models import (
    Candidate,
    CandidateState,
    DecisionAction,
    EvidenceLink,
    KnowledgeType,
    Modality,
    Path,
    Project,
    ReviewDecision,
)
from codememory.paths import raw_path, shown_path
from review.forms import FLAGS, STATES
from review.rivals import has_rival_subject

PAGE_SIZE = 50
ALWAYS_SHOWN = frozenset({"pending", "promoted", "rejected", "any"})  # others when there are any
MAX_PATHS = 8  # documents named among the filters; the address takes any document or folder


NARROWING = ("type", "modality", "flag", "conflict", "path", "q")


@dataclass(frozen=True, slots=True)
class Filters:
    """What the address asks for; `query` writes it back, with changes."""

    state: str = "pending"
    type: str = ""
    modality: str = ""
    flag: str = ""
    conflict: str = ""
    path: str = ""
    q: str = ""

    @classmethod
    def of(cls, cleaned: Mapping[str, str]) -> Filters:
        chosen = {name: cleaned[name] for name in NARROWING}
        return cls(cleaned["state"] or "pending", **chosen)

    def query(self, **more: object) -> str:
        """Return the query string, "?" included; empty when nothing is chosen."""
        parts = {name: value for name, value in {**self.fields, **more}.items() if value}
        return f"?{urlencode(parts, doseq=True)}" if parts else ""

    @property
    def fields(self) -> dict[str, str]:
        """What a form sends along to keep the filters."""
        chosen = {"state": "" if self.state == "pending" else self.state}
        chosen |= {name: getattr(self, name) for name in NARROWING}
        return {name: value for name, value in chosen.items() if value}

    @property
    def is_narrowed(self) -> bool:
        return any(getattr(self, name) for name in NARROWING)


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter's value as a link: its word, how many candidates it holds, whether it is chosen."""

    value: str
    label: str
    count: int
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the queue, with what it takes to say where it stands."""

    candidates: list[Candidate]
    before: int
    total: int
    next_query: str | None

    @property
    def first(self) -> int:
        return self.before + 1

    @property
    def last(self) -> int:
        return self.before + len(self.candidates)


@dataclass(frozen=True, slots=True)
class Progress:
    decided_today: int
    left: int

    @property
    def share(self) -> float:
        total = self.decided_today + self.left
        return round(100 * self.decided_today / total, 1) if total else 100.0


def candidates_in(project: Project, filters: Filters) -> QuerySet[Candidate]:
    """Return the project's candidates that pass the filters, pending first, then by number."""
    found = Candidate.objects.filter(scope_id=project.scope_id)
    if filters.state != "any":
        found = found.filter(state=filters.state.upper())
    if filters.type:
        found = found.filter(type=filters.type)
    if filters.modality:
        found = found.filter(modality=filters.modality)
    if filters.flag:
        found = found.filter(flags__contains=[filters.flag])
    if filters.conflict:
        found = found.filter(has_rival_subject())
    if filters.path:
        found = found.filter(_is_said_in(project, filters.path))
    for word in filters.q.split():
        found = found.filter(statement__icontains=word)
    if filters.state != "any":
        return found.order_by("id")  # by the index of the queue
    return found.annotate(rank=_rank()).order_by("rank", "id")


def page_of(project: Project, filters: Filters, after: str) -> Page:
    """Return the page that follows a key ("rank.number"; empty: the first page)."""
    found = candidates_in(project, filters)
    total, before, rest = found.count(), 0, found
    if after:
        beyond = _beyond(filters, *map(int, after.split(".")))
        before, rest = found.exclude(beyond).count(), found.filter(beyond)
    candidates = list(rest[: PAGE_SIZE + 1])
    shown = candidates[:PAGE_SIZE]
    key = f"{_rank_of(shown[-1])}.{shown[-1].pk}" if len(candidates) > PAGE_SIZE else None
    return Page(shown, before, total, filters.query(after=key) if key else None)


def neighbours(
    project: Project, filters: Filters, candidate: Candidate
) -> tuple[Candidate | None, Candidate | None]:
    """Return the candidates before and after this one in the queue, whether it is in it or not."""
    found = candidates_in(project, filters).exclude(pk=candidate.pk)
    beyond = _beyond(filters, _rank_of(candidate), candidate.pk)
    return found.exclude(beyond).reverse().first(), found.filter(beyond).first()


def next_open(project: Project, filters: Filters, decided: Candidate) -> Candidate | None:
    """Return the pending candidate to go on with: the next one, else the first that is left."""
    found = candidates_in(project, replace(filters, state="pending"))
    return found.filter(id__gt=decided.pk).first() or found.first()


def choices(project: Project, filters: Filters) -> dict[str, list[Choice]]:
    """Return the filters with counts; a count is of what choosing the value would show."""
    labels = {"state": STATES, "type": KnowledgeType.choices, "modality": Modality.choices}
    found = {name: _choices_of(project, filters, name, labels[name]) for name in labels}
    return found | {
        "warning": [*_conflict_choices(project, filters), *_flag_choices(project, filters)],
        "path": _path_choices(project, filters),
    }


def progress(project: Project) -> Progress:
    """Count what was decided since midnight UTC (and still stands), and what is left."""
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    decided = ReviewDecision.objects.filter(
        scope_id=project.scope_id, created_at__gte=midnight
    ).exclude(action=DecisionAction.UNDO)
    taken_back = ReviewDecision.objects.filter(
        scope_id=project.scope_id, undoes__in=decided.values("pk")
    )
    pending = Candidate.objects.filter(scope_id=project.scope_id, state=CandidateState.PENDING)
    return Progress(decided.count() - taken_back.count(), pending.count())


def _beyond(filters: Filters, rank: int, number: int) -> Q:
    """What comes after a key; among candidates of one state the number alone says it."""
    if filters.state != "any":
        return Q(id__gt=number)
    return Q(rank__gt=rank) | Q(rank=rank, id__gt=number)


def _rank_of(candidate: Candidate) -> int:
    return 0 if candidate.state == CandidateState.PENDING else 1


def _rank() -> Case:
    pending = When(state=CandidateState.PENDING, then=Value(0))
    return Case(pending, default=Value(1), output_field=IntegerField())


def _choices_of(
    project: Project, filters: Filters, name: str, labels: list[tuple[str, str]]
) -> list[Choice]:
    chosen = getattr(filters, name)
    anything = "any" if name == "state" else ""
    others = candidates_in(project, replace(filters, **{name: anything}))
    counts = dict(others.order_by().values_list(name).annotate(Count("id")))
    if name == "state":
        counts = {state.lower(): count for state, count in counts.items()}
        counts["any"] = sum(counts.values())
    return [
        Choice(
            value,
            label,
            counts.get(value, 0),
            replace(filters, **{name: _toggled(name, value, chosen)}).query() or "?",
            value == chosen,
        )
        for value, label in labels
        if counts.get(value) or value == chosen or value in ALWAYS_SHOWN
    ]


def _conflict_choices(project: Project, filters: Filters) -> list[Choice]:
    count = candidates_in(project, replace(filters, conflict="yes")).count()
    is_chosen = bool(filters.conflict)
    query = replace(filters, conflict="" if is_chosen else "yes").query() or "?"
    choice = Choice("yes", "conflict", count, query, is_chosen)
    return [choice] if count or is_chosen else []


def _flag_choices(project: Project, filters: Filters) -> list[Choice]:
    others = candidates_in(project, replace(filters, flag=""))
    made = []
    for flag, label in FLAGS:
        count, is_chosen = others.filter(flags__contains=[flag]).count(), flag == filters.flag
        query = replace(filters, flag=_toggled("flag", flag, filters.flag)).query() or "?"
        if count or is_chosen:
            made.append(Choice(flag, label, count, query, is_chosen))
    return made


def _path_choices(project: Project, filters: Filters) -> list[Choice]:
    """The documents that say most of it, and the chosen document or folder whichever it is."""
    others = candidates_in(project, replace(filters, path="")).order_by()
    said = (
        EvidenceLink.objects.filter(scope_id=project.scope_id, candidate__in=others)
        .values_list("segment__revision__path__raw")
        .annotate(count=Count("candidate", distinct=True))
        .order_by("-count", "segment__revision__path__raw")[:MAX_PATHS]
    )
    counts = {shown_path(bytes(raw)) or "": count for raw, count in said}
    if filters.path and filters.path not in counts:
        counts[filters.path] = candidates_in(project, filters).count()
    return [
        Choice(
            path,
            path,
            count,
            replace(filters, path=_toggled("path", path, filters.path)).query() or "?",
            path == filters.path,
        )
        for path, count in counts.items()
    ]


def _is_said_in(project: Project, shown: str) -> Exists:
    """Whether a candidate's evidence stands in this document, or in one below this folder."""
    asked = raw_path(shown).rstrip(b"/")
    # Bytes have no prefix search in the ORM, and a project has only so many documents.
    documents = Path.objects.filter(
        scope_id=project.scope_id,
        pk__in=EvidenceLink.objects.filter(
            scope_id=project.scope_id, candidate__isnull=False
        ).values("segment__revision__path"),
    )
    within = [
        number
        for number, raw in documents.values_list("pk", "raw")
        if bytes(raw) == asked or bytes(raw).startswith(asked + b"/")
    ]
    return Exists(
        EvidenceLink.objects.filter(
            scope_id=project.scope_id,
            candidate_id=OuterRef("pk"),
            segment__revision__path__in=within,
        )
    )


def _toggled(name: str, value: str, chosen: str) -> str:
    """A chosen type or modality is a link that gives it up; a state is only ever replaced."""
    return "" if value == chosen and name != "state" else value
