"""Coverage of each project and source: reachable, processed, gaps by reason, frontier and head.

Counted from committed rows alone: no repository is opened, HEAD is the one the last run found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, F, Func, IntegerField, Min
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from codememory.models import (
    LIVE_STATES,
    Candidate,
    CandidateState,
    FileChange,
    GapRecord,
    GitCommit,
    Policy,
    Project,
    RefSnapshot,
    Run,
    RunState,
    SourceKind,
    Worktree,
    WorktreeDocument,
)
from review.coverage.figures import Figure, Where
from review.coverage.proposed import Proposed
from review.coverage.source_words import MEANINGS, NAMES, UNITS


@dataclass(slots=True)
class Cell:
    """One source of one worktree; figures are None where nothing was counted yet."""

    source: str
    name: str
    unit: str
    state: str
    is_bad: bool = False
    processed: Figure | None = None
    reachable: Figure | None = None
    gaps: Figure | None = None
    unread: Figure | None = None
    frontier: str | None = None
    frontier_at: datetime | None = None
    frontier_href: str = ""

    @property
    def share(self) -> float | None:
        """How much of what is reachable was processed, in percent; never rounded up to 100."""
        if self.processed is None or self.reachable is None:
            return None
        done, whole = int(str(self.processed.value)), int(str(self.reachable.value))
        if done >= whole:
            return 100.0
        return min(99.9, round(100 * done / whole, 1))

    @property
    def gap_share(self) -> float:
        """How long the bar of gaps is, in percent of what is reachable: seen even when few."""
        if self.gaps is None or not self.gaps.value:
            return 0.0
        whole = int(str(self.reachable.value)) if self.reachable else 0
        return min(8.0, max(1.5, 100 * int(str(self.gaps.value)) / whole)) if whole else 1.5


@dataclass(slots=True)
class ProjectRow:
    """A worktree of a project with its sources; what is left to review stands at its first one."""

    project: Project
    worktree: Worktree
    is_first: bool
    head: str | None
    branch: str | None
    worktree_href: str
    cells: list[Cell]
    left: Figure | None = None
    oldest: Figure | None = None


@dataclass(slots=True)
class GapRow:
    """A reason with what it means and how many rows give it."""

    source: str
    reason: str
    meaning: str
    what: str
    figure: Figure
    first: Figure | None


@dataclass(slots=True)
class Sources:
    rows: list[ProjectRow]
    gap_rows: list[GapRow]
    reachable: Figure | None
    share: float | None
    gaps: Figure
    columns: list[str] = field(default_factory=list)


def sources_of(where: Where, proposed: Proposed) -> Sources:
    """Count the coverage of the projects; eight queries, however many there are."""
    scopes = where.scopes
    worktrees = list(Worktree.objects.filter(scope_id__in=scopes).order_by("scope_id", "pk"))
    facts = _facts(scopes)
    projects = {project.scope_id: project for project in where.projects}
    left = _left(where, proposed)
    rows, seen = [], set()
    for worktree in sorted(worktrees, key=lambda each: (projects[each.scope_id].slug, each.pk)):
        if worktree.scope_id not in where.shown:
            continue
        is_first = worktree.scope_id not in seen
        seen.add(worktree.scope_id)
        row = _row(where, projects[worktree.scope_id], worktree, is_first, facts)
        if is_first:
            row.left, row.oldest = left[worktree.scope_id]
        rows.append(row)
    reachable = sum(snapshot.reachable for snapshot in facts.snapshots.values())
    processed = sum(_processed(snapshot) for snapshot in facts.snapshots.values())
    total = where.measured(reachable, "", "reachable", RefSnapshot, latest="yes")
    return Sources(
        rows,
        _gap_rows(where, facts),
        total if facts.snapshots else None,
        _share(processed, reachable) if facts.snapshots else None,
        where.count(sum(facts.gap_totals.values()), GapRecord),
        [NAMES.get(kind, kind.label) for kind in SourceKind],
    )


@dataclass(slots=True)
class _Facts:
    """Rows of all projects, by scope, worktree and source."""

    policies: dict[int, Policy]
    snapshots: dict[tuple[int, int], RefSnapshot]
    latest: dict[tuple[int, int, str], Run]
    listed: dict[tuple[int, int], Run]
    documents: dict[tuple[int, int], int]
    gaps: dict[tuple[int, int, str], int]
    gap_totals: dict[tuple[str, str], int]
    gap_first: dict[tuple[str, str], datetime]
    unread: dict[tuple[int, str], int]


def _facts(scopes: list[int]) -> _Facts:
    policies = Policy.objects.filter(scope_id__in=scopes).order_by("scope_id", "-generation")
    runs = Run.objects.filter(scope_id__in=scopes).order_by(
        "scope_id", "worktree_id", "source", "-pk"
    )
    listing = runs.filter(source=SourceKind.DOCUMENTS, metrics__has_key="documents_removed")
    documents = WorktreeDocument.objects.filter(scope_id__in=scopes)
    documents_by = documents.values_list("scope_id", "worktree_id").annotate(n=Count("pk"))
    unread = FileChange.objects.filter(scope_id__in=scopes, content_change=None)
    facts = _Facts(
        {row.scope_id: row for row in policies.distinct("scope_id")},
        {(row.scope_id, row.worktree_id): row for row in latest_snapshots(scopes)},
        {
            (run.scope_id, run.worktree_id, run.source): run
            for run in runs.distinct("scope_id", "worktree_id", "source")
        },
        {
            (run.scope_id, run.worktree_id): run
            for run in listing.distinct("scope_id", "worktree_id", "source").annotate(
                listed=Cast(KT("cursor__position"), IntegerField())
            )
        },
        {(scope, worktree): n for scope, worktree, n in documents_by},
        Counter(),
        Counter(),
        {},
        {
            (scope, path_class): number
            for scope, path_class, number in unread.values_list("scope_id", "path_class")
            .annotate(Count("pk"))
            .order_by()
        },
    )
    gaps = GapRecord.objects.filter(scope_id__in=scopes)
    by_reason = gaps.values_list("scope_id", "run__worktree_id", "source", "reason").order_by()
    for scope, worktree, source, reason, number, first in by_reason.annotate(
        Count("pk"), Min("created_at")
    ):
        facts.gaps[scope, worktree, source] += number
        facts.gap_totals[source, reason] += number
        facts.gap_first[source, reason] = min(first, facts.gap_first.get((source, reason), first))
    return facts


def latest_snapshots(scopes: Iterable[int]) -> Iterable[RefSnapshot]:
    """The newest snapshot of each worktree, with how many stored commits it does not reach."""
    return (
        RefSnapshot.objects.filter(scope_id__in=list(scopes))
        .order_by("scope_id", "worktree_id", "-captured_at", "-pk")
        .distinct("scope_id", "worktree_id")
        .annotate(missing=Func(F("unreachable"), function="cardinality"))
        .defer("unreachable")
    )


def _processed(snapshot: RefSnapshot) -> int:
    missing: int = getattr(snapshot, "missing", 0)
    return snapshot.stored_commits - missing


def _share(done: int, whole: int) -> float:
    return 100.0 if done >= whole else min(99.9, round(100 * done / whole, 1))


def _row(
    where: Where, project: Project, worktree: Worktree, is_first: bool, facts: _Facts
) -> ProjectRow:
    cells = [_cell(where, project, worktree, kind, is_first, facts) for kind in SourceKind.values]
    runs = [
        run
        for kind in SourceKind.values
        if (run := facts.latest.get((project.scope_id, worktree.pk, kind))) and run.head_oid
    ]
    # A run that only waits has read no HEAD yet: then the newest that was read.
    snapshot = facts.snapshots.get((project.scope_id, worktree.pk))
    newest = max(runs, key=lambda run: run.pk, default=snapshot)
    return ProjectRow(
        project,
        worktree,
        is_first,
        newest.head_oid if newest else None,
        newest.branch_label if newest else None,
        where.rows(Worktree, project.slug, id__exact=worktree.pk),
        cells,
    )


def _cell(
    where: Where,
    project: Project,
    worktree: Worktree,
    kind: str,
    is_first: bool,
    facts: _Facts,
) -> Cell:
    key = (project.scope_id, worktree.pk)
    run = facts.latest.get((*key, kind))
    cell = Cell(kind, NAMES.get(kind, kind), UNITS.get(kind, "items"), "")
    cell.state, cell.is_bad = _state(facts.policies.get(project.scope_id), kind, run)
    if run is None:
        return cell
    slug = project.slug
    cell.gaps = where.count(
        facts.gaps.get((*key, kind), 0), GapRecord, slug, source__exact=kind, worktree=worktree.pk
    )
    if kind == SourceKind.GIT:
        _fill_history(cell, where, slug, facts.snapshots.get(key))
        if cell.processed is None:
            _fill_progress(cell, where, slug, run)
        unread = sum(n for (scope, _), n in facts.unread.items() if scope == project.scope_id)
        if unread and is_first:
            cell.unread = where.count(unread, FileChange, slug, content_change__isnull=True)
    elif kind == SourceKind.DOCUMENTS:
        stored = facts.documents.get(key, 0)
        _fill_documents(cell, where, slug, worktree, facts.listed.get(key), stored)
    else:
        _fill_progress(cell, where, slug, run)
    return cell


def _state(policy: Policy | None, kind: str, run: Run | None) -> tuple[str, bool]:
    """Say in words how a source stands, and whether that is bad."""
    if run is not None and run.state in LIVE_STATES:
        return ("collecting" if run.state == RunState.RUNNING else "waiting"), False
    if run is not None and run.state in {RunState.FAILED, RunState.POISONED}:
        return run.state.lower(), True
    if policy is not None and kind in policy.archived:
        return "archived", False
    if policy is None or kind not in policy.sources:
        return ("disabled" if run else "not opted in"), False
    if run is None:
        return "not collected yet", False
    return ("cancelled" if run.state == RunState.CANCELLED else "read"), False


def _fill_progress(cell: Cell, where: Where, slug: str, run: Run) -> None:
    """Nothing is finished yet: show how far the run is, of what it listed."""
    if run.total is None:
        return
    cell.processed = where.measured(run.done, "", "done", Run, slug, id__exact=run.pk)
    cell.reachable = where.measured(run.total, "", "total", Run, slug, id__exact=run.pk)


def _fill_history(cell: Cell, where: Where, slug: str, snapshot: RefSnapshot | None) -> None:
    if snapshot is None:
        return
    cell.processed = where.count(_processed(snapshot), GitCommit, slug, reached_by=snapshot.pk)
    cell.reachable = where.measured(
        snapshot.reachable, "", "reachable", RefSnapshot, slug, id__exact=snapshot.pk
    )
    cell.frontier, cell.frontier_at = snapshot.head_oid, snapshot.captured_at
    cell.frontier_href = where.rows(RefSnapshot, slug, id__exact=snapshot.pk)


def _fill_documents(
    cell: Cell, where: Where, slug: str, worktree: Worktree, listed: Run | None, stored: int
) -> None:
    cell.processed = where.count(stored, WorktreeDocument, slug, worktree=worktree.pk)
    if listed is None:
        return
    number: int = getattr(listed, "listed", 0)
    cell.reachable = where.measured(number, "", "listed", Run, slug, id__exact=listed.pk)
    cell.frontier, cell.frontier_at = listed.head_oid, listed.ended_at or listed.started_at
    cell.frontier_href = where.rows(Run, slug, id__exact=listed.pk)


def _left(where: Where, proposed: Proposed) -> dict[int, tuple[Figure, Figure | None]]:
    """What is left to review in each project, and since when."""
    asked = {"state__exact": CandidateState.PENDING.value}
    number: Counter[int] = Counter()
    oldest: dict[int, datetime] = {}
    for group in proposed.pending:
        number[group.scope] += group.number
        oldest[group.scope] = min(group.oldest, oldest.get(group.scope, group.oldest))
    return {
        scope: (
            where.count(number[scope], Candidate, slug, **asked),
            where.measured(oldest[scope], "moment", "oldest", Candidate, slug, **asked)
            if scope in oldest
            else None,
        )
        for scope, slug in ((project.scope_id, project.slug) for project in where.projects)
    }


def _gap_rows(where: Where, facts: _Facts) -> list[GapRow]:
    """The reasons, the most frequent first; a path that is never read has rows of its own kind."""
    rows = [
        GapRow(
            NAMES.get(source, source),
            reason,
            MEANINGS.get(reason, ""),
            "gaps",
            where.count(number, GapRecord, source__exact=source, reason=reason),
            where.measured(
                facts.gap_first[source, reason],
                "moment",
                "oldest",
                GapRecord,
                source__exact=source,
                reason=reason,
            ),
        )
        for (source, reason), number in facts.gap_totals.items()
    ]
    unread: defaultdict[str, int] = defaultdict(int)
    for (_, path_class), number in facts.unread.items():
        unread[path_class] += number
    rows += [
        GapRow(
            NAMES["git"],
            path_class,
            MEANINGS.get(path_class, ""),
            "file changes",
            where.count(
                number, FileChange, path_class__exact=path_class, content_change__isnull=True
            ),
            None,
        )
        for path_class, number in unread.items()
    ]
    return sorted(rows, key=lambda row: (-int(str(row.figure.value)), row.reason, row.what))
