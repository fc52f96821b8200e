"""Runs: how many in which state, which of them need somebody, and what reading cost."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Case, Count, IntegerField, Min, Value, When

from codememory.models import LIVE_STATES, Run, RunState
from review.admin_filters import needing
from review.coverage.figures import Figure, Where
from review.coverage.source_words import NAMES

Source = tuple[int, str]  # a scope and a kind of source
MAX_LISTED = 25
RETRIABLE = (RunState.FAILED, RunState.POISONED, RunState.CANCELLED)
PHASES = {
    "seconds_read": "read from Git",
    "seconds_versions": "read versions",
    "seconds_terms": "make terms",
    "seconds_store": "store",
}
# What runs recorded of each source, by key: added up for all runs there ever were.
_RECORDED = """
    SELECT run.scope_id, run.source, entry.key, sum(entry.value::text::numeric)
    FROM codememory_run run CROSS JOIN LATERAL jsonb_each(run.metrics) entry
    WHERE run.scope_id = ANY(%s) AND jsonb_typeof(entry.value) = 'number'
    GROUP BY 1, 2, 3
"""


@dataclass(slots=True)
class StateRow:
    """One source of a project: its runs by state, and since when the oldest waits."""

    slug: str
    source: str
    counts: list[Figure]
    waiting: Figure | None


@dataclass(slots=True)
class RunRow:
    """A run that is live or ended badly, with what may be done about it."""

    run: Run
    slug: str
    source: str
    href: str
    may_cancel: bool
    may_retry: bool


@dataclass(slots=True)
class CostRow:
    """What reading one source of a project took; None: no run recorded it."""

    slug: str
    source: str
    bytes_read: Figure | None
    cache_hits: Figure | None
    phases: list[tuple[int, str, Figure]]  # place in the order of all, words, seconds

    @property
    def seconds(self) -> Decimal:
        return sum((Decimal(str(figure.value)) for _, _, figure in self.phases), Decimal())


@dataclass(slots=True)
class Work:
    states: list[RunState]
    by_state: list[StateRow]
    totals: list[tuple[RunState, Figure]]
    needing: Figure
    waiting: Figure | None
    listed: list[RunRow]
    is_cut: bool
    costs: list[CostRow]

    @property
    def most_seconds(self) -> Decimal:
        return max((cost.seconds for cost in self.costs), default=Decimal())


def work_of(where: Where) -> Work:
    """Count the runs of the projects; four queries."""
    slugs = {project.scope_id: project.slug for project in where.projects}
    runs = Run.objects.filter(scope_id__in=where.scopes)
    counts: defaultdict[Source, dict[str, int]] = defaultdict(dict)
    since: dict[Source, datetime] = {}
    for scope, source, state, number, oldest in (
        runs.values_list("scope_id", "source", "state")
        .annotate(Count("pk"), Min("created_at"))
        .order_by()
    ):
        counts[scope, source][state] = number
        if state == RunState.QUEUED:
            since[scope, source] = oldest
    listed, is_cut = _listed(where, slugs)
    totals = [(state, sum(found.get(state, 0) for found in counts.values())) for state in RunState]
    return Work(
        list(RunState),
        [
            _state_row(where, slugs[key[0]], key[1], counts[key], since.get(key))
            for key in sorted(counts, key=lambda key: (slugs[key[0]], key[1]))
            if key[0] in where.shown
        ],
        [(state, where.count(number, Run, **_in(state))) for state, number in totals],
        where.count(runs.filter(needing()).count(), Run, needs="you"),
        _waiting(where, None, min(since.values(), default=None)),
        listed,
        is_cut,
        _costs(where, slugs),
    )


def _in(state: RunState) -> dict[str, Any]:
    return {"state__exact": state.value}


def _state_row(
    where: Where, slug: str, source: str, found: dict[str, int], since: datetime | None
) -> StateRow:
    counts = [
        where.count(found.get(state, 0), Run, slug, source__exact=source, **_in(state))
        for state in RunState
    ]
    waiting = _waiting(where, slug, since, source__exact=source)
    return StateRow(slug, NAMES.get(source, source), counts, waiting)


def _waiting(where: Where, slug: str | None, since: datetime | None, **asked: Any) -> Figure | None:
    """Since when the oldest queued run waits; None where none does."""
    if since is None:
        return None
    asked |= _in(RunState.QUEUED)
    return where.measured(since, "moment", "oldest", Run, slug, **asked)


def _listed(where: Where, slugs: dict[int, str]) -> tuple[list[RunRow], bool]:
    """The runs that somebody may want to act on: live ones, then those that ended badly."""
    runs = Run.objects.filter(scope_id__in=where.scopes)
    rank = Case(
        When(state__in=LIVE_STATES, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    wanted = runs.filter(state__in=LIVE_STATES) | runs.filter(needing())
    found = list(wanted.annotate(rank=rank).order_by("rank", "-pk")[: MAX_LISTED + 1])
    rows = [
        RunRow(
            run,
            slugs[run.scope_id],
            NAMES.get(run.source, run.source),
            where.rows(Run, slugs[run.scope_id], id__exact=run.pk),
            run.state in LIVE_STATES and not run.is_cancel_requested,
            run.state in RETRIABLE,
        )
        for run in found[:MAX_LISTED]
    ]
    return rows, len(found) > MAX_LISTED


def _costs(where: Where, slugs: dict[int, str]) -> list[CostRow]:
    with connection.cursor() as cursor:
        cursor.execute(_RECORDED, [where.scopes])
        rows = cursor.fetchall()
    recorded: defaultdict[tuple[int, str], dict[str, Decimal]] = defaultdict(dict)
    for scope, source, key, amount in rows:
        recorded[scope, source][key] = amount
    used = {key for amounts in recorded.values() for key in amounts if key.startswith("seconds_")}
    keys = [*(key for key in PHASES if key in used), *sorted(used - PHASES.keys())]
    return [
        _cost(where, slugs[scope], source, recorded[scope, source], keys)
        for scope, source in sorted(recorded, key=lambda pair: (slugs[pair[0]], pair[1]))
        if scope in where.shown
    ]


def _cost(
    where: Where, slug: str, source: str, amounts: dict[str, Decimal], phases: list[str]
) -> CostRow:
    def figure(key: str, unit: str) -> Figure | None:
        if key not in amounts:
            return None
        asked = {"source__exact": source}
        return where.measured(amounts[key], unit, f"metrics.{key}", Run, slug, **asked)

    return CostRow(
        slug,
        NAMES.get(source, source),
        figure("bytes_read", "bytes"),
        figure("cache_hits", ""),
        [
            (number, PHASES.get(key, key[8:].replace("_", " ")), seconds)
            for number, key in enumerate(phases)
            if (seconds := figure(key, "seconds")) is not None
        ],
    )
