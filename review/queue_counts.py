"""How many candidates each filter would show, as links.

The candidates are counted by every property at once; a filter's counts are sums of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count
from django.http import QueryDict

from codememory.models import (
    Candidate,
    KnowledgeType,
    Layer,
    Modality,
    Path,
    Project,
    SavedFilter,
)
from codememory.paths import shown_path
from review.claims import claims_of
from review.filters import AGES, CLAIMED, FLAGS, SECOND, SOURCES, Filters, QueueForm
from review.forms import STATES
from review.queue_cells import Cells, Tally, tally, tally_of, top_places
from review.queue_set import in_conflict, in_state, passing, reaching
from review.second_reviewers import waiting_in

ALWAYS_SHOWN = frozenset({"pending", "promoted", "rejected", "any"})  # others when there are any
TITLES = {
    "state": "Standing",
    "type": "Type",
    "modality": "Said as",
    "source": "Source",
    "layer": "Layer",
    "conflict": "Conflict",
    "flag": "Flag",
    "age": "Age",
    "claimed": "Claimed",
    "second": "Second reviewer",
    "path": "Said in",
}
LABELS: dict[str, Sequence[tuple[str, str]]] = {
    "state": STATES,
    "type": [(value, label.lower()) for value, label in KnowledgeType.choices],
    "modality": [(value, label.lower()) for value, label in Modality.choices],
    "layer": [(value, label.lower()) for value, label in Layer.choices],
    "source": SOURCES,
    "conflict": [("yes", "conflict")],
    "flag": FLAGS,
    "age": AGES,
    "claimed": CLAIMED,
    "second": SECOND,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter's value as a link: its word, how many candidates it holds, whether it is chosen."""

    value: str
    label: str
    count: int
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of one filter."""

    name: str
    title: str
    choices: list[Choice]


@dataclass(frozen=True, slots=True)
class Saved:
    """A person's saved filter; no count where words or documents would have to be looked up."""

    saved: SavedFilter
    query: str
    count: int | None
    is_chosen: bool


class Counts:
    """The counts beside one page of the queue."""

    def __init__(self, project: Project, filters: Filters) -> None:
        self._project, self._filters = project, filters
        self._claims = claims_of(project, filters.me)
        self._waiting = waiting_in(project, filters.me)
        self._tally = self._count(filters)
        self._cells = self._tally.cells

    @property
    def total(self) -> int:
        """How many pass all filters."""
        return _sum(self._cells, self._filters)

    def by_state(self) -> dict[str, int]:
        found = self._of("state")
        return {**{state: found[state] for state, _ in STATES}, "any": sum(found.values())}

    def _count(self, filters: Filters) -> Tally:
        """Count what words, document, likeness, conflict, claims and second reviewers leave.

        Few candidates are in conflict, claimed or endorsed: those are counted by themselves.
        """
        project, claimed = self._project, filters.claimed
        found = reaching(project, filters)
        narrowed = filters.conflict or filters.second or claimed not in ("", "nobody")
        if filters.is_counted_whole and not narrowed:
            whole = tally_of(project, filters)
            if not (claimed and self._claims):
                return whole
            taken = found.filter(pk__in=list(self._claims))
            return whole.minus(tally(project, filters, taken, whole.said))
        if filters.conflict:
            found = found.filter(in_conflict(project))
        if filters.second:
            found = found.filter(pk__in=self._waiting_for(filters.second))
        if claimed == "nobody":
            found = found.exclude(pk__in=list(self._claims))
        elif claimed:
            found = found.filter(pk__in=self._claimed(claimed))
        return tally(project, filters, found, top_places(project.scope_id))

    def _claimed(self, by: str) -> list[int]:
        is_mine = by == "mine"
        return [number for number, claim in self._claims.items() if claim.is_mine == is_mine]

    def _waiting_for(self, whom: str) -> list[int]:
        is_mine = whom == "mine"
        return [number for number, one in self._waiting.items() if one.is_mine == is_mine]

    def facets(self) -> list[Facet]:
        """Return every filter that has something to offer, in the order of the rail."""
        found = [Facet(name, TITLES[name], self._choices(name)) for name in LABELS]
        found.append(Facet("path", TITLES["path"], self._paths()))
        return [facet for facet in found if _is_offered(facet)]

    def saved(self, saved: Iterable[SavedFilter]) -> list[Saved]:
        """Return saved filters with the count of each, as far as it is known here."""
        here = self._filters
        found = []
        for one in saved:
            form = QueueForm(QueryDict(one.query))
            if not form.is_valid():  # a word that the address no longer knows
                continue
            filters = Filters.of(form.cleaned_data, here.me)
            is_known = is_whole(here) and is_whole(filters)
            count = _sum(self._cells, filters) if is_known else None
            is_chosen = filters.fields == here.fields
            found.append(Saved(one, filters.query() or "?", count, is_chosen))
        return found

    def _of(self, name: str) -> Counter[str]:
        """The counts of one filter's values among what the other filters leave."""
        if name == "conflict":
            return Counter({"yes": self._count_conflicts()})
        if name == "claimed":
            return self._count_claims()
        if name == "second":
            return self._count_waiting()
        found: Counter[str] = Counter()
        for cell, count in self._cells.items():
            if cell.passes(self._filters, but=name):
                for value in cell.values_of(name):
                    found[value] += count
        return found

    def _count_conflicts(self) -> int:
        if self._filters.conflict:
            return self.total
        found = passing(self._project, self._filters).filter(in_conflict(self._project))
        return in_state(self._filters, found).count()

    def _count_claims(self) -> Counter[str]:
        if not self._claims:
            return Counter()
        free = replace(self._filters, claimed="")
        found = in_state(free, passing(self._project, free).filter(pk__in=list(self._claims)))
        numbers = list(found.values_list("pk", flat=True))
        mine = sum(self._claims[number].is_mine for number in numbers)
        everything = _sum(self._count(free).cells, free)
        counts = {"mine": mine, "others": len(numbers) - mine}
        return Counter({**counts, "nobody": everything - len(numbers)})

    def _count_waiting(self) -> Counter[str]:
        if not self._waiting:
            return Counter()
        free = replace(self._filters, second="")
        found = passing(self._project, free).filter(pk__in=list(self._waiting))
        numbers = in_state(free, found).values_list("pk", flat=True)
        return Counter("mine" if self._waiting[pk].is_mine else "others" for pk in numbers)

    def _choices(self, name: str) -> list[Choice]:
        chosen, counts = getattr(self._filters, name), self._of(name)
        if name == "state":
            counts["any"] = sum(counts.values())
        return [
            Choice(
                value,
                label,
                counts[value],
                self._filters.anew(**{name: _toggled(name, value, chosen)}),
                value == chosen,
            )
            for value, label in LABELS[name]
            if counts[value] or value == chosen or (name == "state" and value in ALWAYS_SHOWN)
        ]

    def _paths(self) -> list[Choice]:
        """Documents that say most, and the chosen one whichever it is, with exact counts."""
        filters, chosen = self._filters, self._filters.path
        counts = self._said_in()
        if chosen:
            counts[chosen] = self.total
        return [
            Choice(
                path,
                path,
                count,
                filters.anew(path=_toggled("path", path, chosen)),
                path == chosen,
            )
            for path, count in sorted(counts.items(), key=lambda item: -item[1])
        ]

    def _said_in(self) -> dict[str, int]:
        filters = replace(self._filters, path="")
        said = (self._count(filters) if self._filters.path else self._tally).said
        names = Path.objects.filter(scope_id=self._project.scope_id).in_bulk(list(said))
        counts = {place: _sum(cells, filters) for place, cells in said.items()}
        return {
            shown_path(bytes(names[place].raw)) or "": count
            for place, count in counts.items()
            if count and place in names
        }


def is_whole(filters: Filters) -> bool:
    """Whether the counts of the whole project say how many pass."""
    return filters.is_counted_whole and not (filters.conflict or filters.claimed or filters.second)


def _sum(cells: Cells, filters: Filters) -> int:
    return sum(count for cell, count in cells.items() if cell.passes(filters))


def _is_offered(facet: Facet) -> bool:
    """A filter of which all candidates have the same value narrows nothing."""
    if facet.name in ("layer", "source") and len(facet.choices) == 1:
        return facet.choices[0].is_chosen
    return bool(facet.choices)


def _toggled(name: str, value: str, chosen: str) -> str:
    """A chosen value is a link that gives it up; a state is only ever replaced."""
    return "" if value == chosen and name != "state" else value


def pending_elsewhere(projects: Iterable[Project]) -> dict[int, int]:
    """Return the number of open candidates by scope."""
    scopes = [project.scope_id for project in projects]
    rows = Candidate.objects.filter(scope_id__in=scopes, state="PENDING").values_list("scope_id")
    return dict(rows.annotate(n=Count("*")).order_by())
