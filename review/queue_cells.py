"""How many candidates have which properties: counted whole once, and kept up to date by decisions.

One pass over 100,000 candidates takes longer than a page may. Its result is kept in this process
for a while; what was decided on or proposed since then is looked up by number and set right, so
that the counts after one's own decision are exact. What collecting changes of an older candidate
(its type, its flags) is seen when the time is over.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Case, Count, F, FilteredRelation, Func, Max, Q, QuerySet, When

from codememory.models import Candidate, CandidateTraits, Project, ReviewDecision
from review.filters import FACETS, Filters
from review.queue_set import age_of

LIFE = 300.0  # seconds
MAX_KEPT = 64  # projects
FEW = 5_000  # candidates that are counted each time: it takes less than it would save
MAX_CHANGES = 2_000  # more are counted anew
MAX_PATHS = 8  # documents named among the filters; the address takes any document or folder
_lock = threading.Lock()
_kept: OrderedDict[int, _Kept] = OrderedDict()


class Cell(NamedTuple):
    """The values that candidates of one cell have in common."""

    state: str
    type: str
    modality: str
    layer: str
    flags: tuple[str, ...]
    sources: tuple[str, ...]
    age: str

    def passes(self, filters: Filters, but: str = "") -> bool:
        """Whether these values pass the filters, but for one of them."""
        if but != "state" and filters.state not in ("any", self.state):
            return False
        return all(
            name == but or name not in COUNTED or value in self.values_of(name)
            for name in FACETS
            if (value := getattr(filters, name))
        )

    def values_of(self, name: str) -> tuple[str, ...]:
        if name == "flag":
            return self.flags
        return self.sources if name == "source" else (getattr(self, name),)


COUNTED = frozenset({"type", "modality", "layer", "source", "flag", "age"})
Cells = Counter[Cell]
VALUES = ("state", "type", "modality", "layer", "flags", "sources", "how_old")  # as a cell has them


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of candidates by all counted properties, and those again by what says them.

    `said` has the documents that say most of the project's.
    """

    cells: Cells
    said: dict[int, Cells]

    @classmethod
    def of(cls, places: Iterable[int]) -> Tally:
        return cls(Counter(), {place: Counter() for place in places})

    def add(self, cell: Cell, number: int, places: Iterable[int] | None) -> None:
        self.cells[cell] += number
        for place in self.said.keys() & set(places or ()):
            self.said[place][cell] += number

    def plus(self, other: Tally) -> Tally:
        """Both together; counts may be below nothing in what is to be taken away."""
        found = Tally(self.cells.copy(), {place: one.copy() for place, one in self.said.items()})
        found.cells.update(other.cells)
        for place in found.said.keys() & other.said.keys():
            found.said[place].update(other.said[place])
        return found

    def minus(self, other: Tally) -> Tally:
        taken = Tally.of(other.said)
        taken.cells.subtract(other.cells)
        for place, cells in other.said.items():
            taken.said[place].subtract(cells)
        return self.plus(taken)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A tally, and up to which decision and candidate it reaches."""

    tally: Tally
    decision: int
    candidate: int
    until: float


def tally_of(project: Project, filters: Filters) -> Tally:
    """Return the counts of all candidates: what passes filters that are counted is a sum of it."""
    with _lock:
        kept = _kept.get(project.scope_id)
    if kept is None or kept.until < time.monotonic():
        return _count_anew(project, filters)
    return _set_right(project, filters, kept) or _count_anew(project, filters)


def tally(
    project: Project, filters: Filters, found: QuerySet[Candidate], places: Collection[int]
) -> Tally:
    """Count these candidates in one pass; `places` are the documents that are told apart."""
    tallied = Tally.of(places)
    apart = Case(When(own__paths__overlap=list(places), then=F("own__paths")))
    counted = _described(project, filters, found, apart).annotate(n=Count("*")).order_by()
    for row in counted:
        tallied.add(_cell(row[:-2]), row[-1], row[-2])
    return tallied


def top_places(scope_id: int) -> list[int]:
    """Return the documents that say most of the project's candidates, as last counted."""
    with _lock:
        kept = _kept.get(scope_id)
    return list(kept.tally.said) if kept else _count_places(scope_id)


def _count_anew(project: Project, filters: Filters) -> Tally:
    scope = project.scope_id
    # First up to where, then the counts: what comes between is set right to what it is already.
    decision = ReviewDecision.objects.filter(scope_id=scope).aggregate(n=Max("pk"))["n"] or 0
    candidate = Candidate.objects.filter(scope_id=scope).aggregate(n=Max("pk"))["n"] or 0
    within = Candidate.objects.filter(scope_id=scope, pk__lte=candidate)
    tallied = tally(project, filters, within, _count_places(scope))
    if tallied.cells.total() <= FEW:
        return tallied
    with _lock:
        _kept[scope] = _Kept(tallied, decision, candidate, time.monotonic() + LIFE)
        _kept.move_to_end(scope)
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return tallied


def _set_right(project: Project, filters: Filters, kept: _Kept) -> Tally | None:
    """Return the counts with what changed since; None where that is too much to look up."""
    scope = project.scope_id
    decisions = ReviewDecision.objects.filter(scope_id=scope, pk__gt=kept.decision).order_by("pk")
    before: dict[int, str] = {}
    for number, state, ended, given_back in decisions.values_list(
        "candidate_id", "candidate_state", "supersedes", "undoes__supersedes"
    )[: MAX_CHANGES + 1]:
        if ended or given_back:  # another candidate's state changed with it
            return None
        before.setdefault(number, state.lower())
    if len(before) > MAX_CHANGES:
        return None
    every = Candidate.objects.filter(scope_id=scope)
    known, fresh = every.filter(pk__lte=kept.candidate), every.filter(pk__gt=kept.candidate)
    found = kept.tally
    if before:
        moved = Tally.of(found.said)
        decided = known.filter(pk__in=before)
        for row in _described(project, filters, decided, F("own__paths"), "pk"):
            *values, places, number = row
            cell = _cell(values)
            moved.add(cell._replace(state=before[number]), -1, places)
            moved.add(cell, 1, places)
        found = found.plus(moved)
    if fresh.exists():
        found = found.plus(tally(project, filters, fresh, found.said))
    return found


def _described(
    project: Project,
    filters: Filters,
    found: QuerySet[Candidate],
    places: F | Case,
    *more: str,
) -> QuerySet[Candidate, tuple[Any, ...]]:
    """Return the values of each candidate's cell, the documents that say it, and more."""
    own = FilteredRelation("traits", condition=Q(traits__scope_id=project.scope_id))
    described = found.annotate(own=own).annotate(
        sources=F("own__sources"), how_old=age_of(filters), places=places
    )
    return described.values_list(*VALUES, "places", *more)


def _cell(values: Sequence[Any]) -> Cell:
    state, type_, modality, layer, flags, sources, age = values
    return Cell(state.lower(), type_, modality, layer, tuple(flags), tuple(sources or ()), age)


def _count_places(scope_id: int) -> list[int]:
    counted = (
        CandidateTraits.objects.filter(scope_id=scope_id)
        .annotate(place=Func(F("paths"), function="unnest"))
        .values_list("place")
        .annotate(n=Count("id"))
        .order_by("-n", "place")[:MAX_PATHS]
    )
    return [place for place, _ in counted]
