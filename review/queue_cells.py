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
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, F, FilteredRelation, Func, Max, Q, QuerySet

from codememory.models import Candidate, CandidateTraits, Project, ReviewDecision
from review.filters import FACETS, Filters
from review.queue_set import age_of, reaching

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


@dataclass(frozen=True, slots=True)
class _Kept:
    """Counts of a whole project, and up to which decision and candidate they reach."""

    cells: Cells
    decision: int
    candidate: int
    until: float
    paths: list[int]  # the documents that say most


def cells_of(project: Project, filters: Filters) -> Cells:
    """Return the counts of what words, document and likeness leave, by all counted properties."""
    if not filters.is_counted_whole:
        return count_cells(project, filters, reaching(project, filters))
    with _lock:
        kept = _kept.get(project.scope_id)
    if kept is None or kept.until < time.monotonic():
        return _count_anew(project, filters).cells
    return _set_right(project, filters, kept) or _count_anew(project, filters).cells


def count_cells(project: Project, filters: Filters, found: QuerySet[Candidate]) -> Cells:
    """Count these candidates."""
    counted = _described(project, filters, found).annotate(n=Count("*")).order_by()
    cells: Cells = Counter()
    for row in counted:
        cells[_cell(row[:-1])] += int(str(row[-1]))
    return cells


def top_paths(project: Project) -> list[int]:
    """Return the documents that say most of the project's candidates, as last counted."""
    with _lock:
        kept = _kept.get(project.scope_id)
    return kept.paths if kept else _count_paths(project.scope_id)


def _count_anew(project: Project, filters: Filters) -> _Kept:
    scope = project.scope_id
    # First up to where, then the counts: what comes between is set right to what it is already.
    decision = ReviewDecision.objects.filter(scope_id=scope).aggregate(n=Max("pk"))["n"] or 0
    candidate = Candidate.objects.filter(scope_id=scope).aggregate(n=Max("pk"))["n"] or 0
    within = Candidate.objects.filter(scope_id=scope, pk__lte=candidate)
    cells = count_cells(project, filters, within)
    until = time.monotonic() + LIFE
    kept = _Kept(cells, decision, candidate, until, _count_paths(scope))
    if cells.total() <= FEW:
        return kept
    with _lock:
        _kept[scope] = kept
        _kept.move_to_end(scope)
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return kept


def _set_right(project: Project, filters: Filters, kept: _Kept) -> Cells | None:
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
    cells = kept.cells.copy()
    found = Candidate.objects.filter(scope_id=scope, pk__in=before, pk__lte=kept.candidate)
    for row in _described(project, filters, found, "pk"):
        cell = _cell(row[1:])
        cells[cell._replace(state=before[int(str(row[0]))])] -= 1
        cells[cell] += 1
    fresh = Candidate.objects.filter(scope_id=scope, pk__gt=kept.candidate)
    cells.update(count_cells(project, filters, fresh))
    return cells


def _described(
    project: Project, filters: Filters, found: QuerySet[Candidate], *first: str
) -> QuerySet[Candidate, tuple[object, ...]]:
    own = FilteredRelation("traits", condition=Q(traits__scope_id=project.scope_id))
    described = found.annotate(own=own).annotate(sources=F("own__sources"), how_old=age_of(filters))
    return described.values_list(
        *first, "state", "type", "modality", "layer", "flags", "sources", "how_old"
    )


def _cell(values: tuple[object, ...]) -> Cell:
    state, type_, modality, layer, flags, sources, age = values
    return Cell(
        str(state).lower(),
        str(type_),
        str(modality),
        str(layer),
        tuple(flags),  # type: ignore[arg-type]
        tuple(sources or ()),  # type: ignore[arg-type]
        str(age),
    )


def _count_paths(scope_id: int) -> list[int]:
    counted = (
        CandidateTraits.objects.filter(scope_id=scope_id)
        .annotate(place=Func(F("paths"), function="unnest"))
        .values_list("place")
        .annotate(n=Count("id"))
        .order_by("-n", "place")[:MAX_PATHS]
    )
    return [place for place, _ in counted]
