"""The review queue: which candidates, in which order, with counts for each filter.

Filters live in the address. Pages follow a key (pending first, then by number), so that deciding
on a candidate never moves another one to a page already read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.utils import timezone

from codememory.models import (
    Candidate,
    CandidateState,
    DecisionAction,
    KnowledgeType,
    Modality,
    Project,
    ReviewDecision,
)
from review.forms import STATES

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Filters:
    """What the address asks for; `query` writes it back, with changes."""

    state: str = "pending"
    type: str = ""
    modality: str = ""
    q: str = ""

    @classmethod
    def of(cls, cleaned: Mapping[str, str]) -> Filters:
        return cls(
            cleaned["state"] or "pending", cleaned["type"], cleaned["modality"], cleaned["q"]
        )

    def query(self, **more: object) -> str:
        """Return the query string, "?" included; empty when nothing is chosen."""
        chosen = {"state": "" if self.state == "pending" else self.state}
        chosen |= {"type": self.type, "modality": self.modality, "q": self.q}
        parts = {name: value for name, value in {**chosen, **more}.items() if value}
        return f"?{urlencode(parts)}" if parts else ""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.type or self.modality or self.q)


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
    return {name: _choices_of(project, filters, name, labels[name]) for name in labels}


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
        if counts.get(value) or value == chosen or name == "state"
    ]


def _toggled(name: str, value: str, chosen: str) -> str:
    """A chosen type or modality is a link that gives it up; a state is only ever replaced."""
    return "" if value == chosen and name != "state" else value
