"""Settles where a file came from: one source or none, by a person, written into the audit trail."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from codememory import audit
from codememory.checkout import Checkout
from codememory.models import Actor, FileChange, OriginState, PathOrigin, Project
from codememory.paths import shown_path
from codememory.serving import serves_change
from review.explorer.titles import path_of

SETTLED = (OriginState.ACCEPTED, OriginState.REFUSED)
DOUBTFUL = (OriginState.OPEN, *SETTLED)
SOURCES = 40  # of a file that are shown


@dataclass(frozen=True, slots=True)
class Source:
    """A path that a file may have come from."""

    origin: PathOrigin
    path: str

    @property
    def is_chosen(self) -> bool:
        return self.origin.state == OriginState.ACCEPTED


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file that a commit shows as new, with all it may have come from."""

    row: FileChange
    path: str
    sources: list[Source]
    is_shown: bool  # its content may be looked at

    @property
    def seen(self) -> str:
        return _digest(source.origin for source in self.sources)

    @property
    def is_open(self) -> bool:
        return any(source.origin.state == OriginState.OPEN for source in self.sources)

    @property
    def chosen(self) -> Source | None:
        return next((source for source in self.sources if source.is_chosen), None)

    @property
    def settled(self) -> PathOrigin | None:
        """The row that says who chose and when."""
        return next((s.origin for s in self.sources if s.origin.settled_at is not None), None)


@dataclass(frozen=True, slots=True)
class Settled:
    """What was recorded, in words."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Somebody chose since it was shown: nothing was recorded."""


def arrivals(project: Project, *, is_settled: bool, after: int | None, limit: int) -> list[Arrival]:
    """Return files by their row: the oldest open ones first, of settled ones the newest first."""
    states = SETTLED if is_settled else (OriginState.OPEN,)
    rows = PathOrigin.objects.filter(scope_id=project.scope_id, state__in=states)
    if after is not None:
        beyond = Q(file_change_id__lt=after) if is_settled else Q(file_change_id__gt=after)
        rows = rows.filter(beyond)
    order = "-file_change_id" if is_settled else "file_change_id"
    ids = rows.order_by(order).values_list("file_change_id", flat=True).distinct()[:limit]
    return _arrivals(project, list(ids))


def find_arrival(project: Project, number: int) -> Arrival | None:
    """Return one file with its doubtful origins, whatever their state."""
    return next(iter(_arrivals(project, [number])), None)


def count_arrivals(project: Project) -> dict[str, int]:
    """Count files, not sources: those open, those settled."""
    rows = PathOrigin.objects.filter(scope_id=project.scope_id)
    return rows.aggregate(
        open=Count("file_change_id", Q(state=OriginState.OPEN), distinct=True),
        settled=Count("file_change_id", Q(state__in=SETTLED), distinct=True),
    )


def _arrivals(project: Project, ids: Sequence[int]) -> list[Arrival]:
    checkout = Checkout(project)  # its policy alone is asked
    rows = FileChange.objects.filter(scope_id=project.scope_id).select_related(
        "commit", "old_path", "new_path"
    )
    found = rows.in_bulk(ids)
    sources: dict[int, list[Source]] = defaultdict(list)
    origins = _doubtful(project).filter(file_change_id__in=ids)
    for origin in origins.select_related("source", "settled_by__user").order_by("pk"):
        path = shown_path(bytes(origin.source.raw)) or ""
        sources[origin.file_change_id].append(Source(origin, path))
    return [
        Arrival(found[pk], path_of(found[pk]), sources[pk], serves_change(checkout, found[pk]))
        for pk in ids
        if pk in found and sources[pk]
    ]


def _doubtful(project: Project) -> QuerySet[PathOrigin]:
    return PathOrigin.objects.filter(scope_id=project.scope_id, state__in=DOUBTFUL)


def _digest(origins: Iterable[PathOrigin]) -> str:
    """Names the state in which somebody sees the choices."""
    parts = [f"{one.pk} {one.state} {one.settled_at}" for one in origins]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def settle(
    project: Project, number: int, choice: str, seen: str, actor: Actor
) -> Settled | Moved | None:
    """Record a choice: the number of an origin, "none", or "open" to take a choice back.

    `seen` names what was in view. None: there is no such file or origin. The caller has made sure
    that the actor may decide.
    """
    with transaction.atomic():
        # Locked in one order: of two reviewers the second sees what the first one did.
        locked = _doubtful(project).filter(file_change_id=number).order_by("pk")
        origins = list(locked.select_for_update().only("pk", "state", "settled_at", "source_id"))
        if not origins:
            return None
        if _digest(origins) != seen:
            return Moved()
        chosen = next((one for one in origins if str(one.pk) == choice), None)
        if chosen is None and choice not in {"none", "open"}:
            return None
        before = next((o.source_id for o in origins if o.state == OriginState.ACCEPTED), None)
        _write(project, number, chosen, is_open=choice == "open", actor=actor)
        audit.record(
            "origin.settle" if choice != "open" else "origin.reopen",
            scope=project.scope,
            actor=actor,
            subject=f"F{number}",
            sources=len(origins),
            chosen=f"origin {chosen.pk}" if chosen else choice,
            **({"chosen_before": f"path {before}"} if before else {}),
        )
    arrival = find_arrival(project, number)
    return Settled(_sentence(arrival, choice)) if arrival else None


def _write(
    project: Project, number: int, chosen: PathOrigin | None, *, is_open: bool, actor: Actor
) -> None:
    rows = _doubtful(project).filter(file_change_id=number)
    if is_open:
        rows.update(state=OriginState.OPEN, settled_by=None, settled_at=None)
        return
    now = timezone.now()
    rows.update(state=OriginState.REFUSED, settled_by=actor, settled_at=now)
    if chosen is not None:
        rows.filter(pk=chosen.pk).update(state=OriginState.ACCEPTED)


def _sentence(arrival: Arrival, choice: str) -> str:
    if choice == "open":
        return f"The origin of {arrival.path} is open again."
    if arrival.chosen is None:
        return f"{arrival.path} came from none of the {len(arrival.sources)} files."
    return f"{arrival.path} came from {arrival.chosen.path}."
