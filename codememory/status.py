"""What a project knows and what it does not: counted from committed rows, per source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.models import Count, Q, QuerySet

from codememory.checkout import Checkout
from codememory.facts import COPIED, SWEPT
from codememory.models import (
    Candidate,
    EvidenceSegment,
    FileChange,
    GapRecord,
    GitCommit,
    LogicalChange,
    Memory,
    MemoryState,
    Observation,
    Project,
    Run,
    RunState,
    SourceKind,
    SourceRevision,
    Worktree,
    WorktreeDocument,
)
from collectors.repository import Head, Repository, open_repository, read_head


def project_status(project: Project) -> dict[str, Any]:
    """Return worktrees, sources with their coverage, totals and runs of a project."""
    with Checkout(project) as checkout:
        sources = {
            "git": git_coverage(checkout),
            "documents": document_coverage(checkout),
        }
    return {
        "project": project.slug,
        "worktrees": [
            {"root": worktree.root, "head": head.oid, "branch": head.branch}
            for worktree, head in _heads(checkout)
        ],
        "sources": sources,
        "totals": totals(project.scope_id),
        "runs": run_counts(project.scope_id),
    }


def _heads(checkout: Checkout) -> list[tuple[Worktree, Head]]:
    """The worktrees of a project, each with its own HEAD."""
    found = []
    for worktree in Worktree.objects.filter(scope_id=checkout.scope_id).order_by("pk"):
        if worktree.pk == checkout.worktree.pk:
            found.append((worktree, checkout.head))
            continue
        opened = open_repository(Path(worktree.root))
        head = read_head(opened) if isinstance(opened, Repository) else Head(None, None)
        found.append((worktree, head))
    return found


def totals(scope_id: int) -> dict[str, int]:
    """Count the rows of a scope by what they are."""
    counted: dict[str, Any] = {
        "revisions": SourceRevision.objects,
        "segments": EvidenceSegment.objects,
        "commits": GitCommit.objects,
        "file_changes": FileChange.objects,
        "logical_changes": LogicalChange.objects,
        "observations": Observation.objects,
        "candidates": Candidate.objects,
        "memories": Memory.objects.filter(state=MemoryState.ACTIVE),
    }
    return {name: rows.filter(scope_id=scope_id).count() for name, rows in counted.items()}


def run_counts(scope_id: int) -> dict[str, int]:
    """Count runs by the states that need watching."""
    rows = Run.objects.filter(scope_id=scope_id).values_list("state").annotate(n=Count("pk"))
    counts = dict(rows)
    states = (RunState.QUEUED, RunState.RUNNING, RunState.FAILED, RunState.POISONED)
    return {state.value.lower(): counts.get(state, 0) for state in states}


def gap_counts(scope_id: int, source: str) -> list[dict[str, Any]]:
    """Count a source's gaps by reason, the most frequent first."""
    rows = (
        GapRecord.objects.filter(scope_id=scope_id, source=source)
        .values("reason")
        .annotate(count=Count("pk"))
    )
    counts = {row["reason"]: row["count"] for row in rows}
    if source == SourceKind.GIT:
        # A path that is never read leaves its rows behind, not a gap record for each of them.
        unread = FileChange.objects.filter(scope_id=scope_id, content_change=None)
        for reason, count in unread.values_list("path_class").annotate(n=Count("pk")):
            counts[reason] = counts.get(reason, 0) + count
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"reason": reason, "count": count} for reason, count in ranked]


def _runs(checkout: Checkout, source: str) -> QuerySet[Run]:
    """A source's runs on the worktree, the newest first."""
    runs = Run.objects.filter(scope_id=checkout.scope_id, source=source)
    return runs.filter(worktree_id=checkout.worktree.pk).order_by("-pk")


def _state(checkout: Checkout, run: Run | None, *, is_current: bool, is_partial: bool) -> str:
    """Say what is stored of HEAD first, and only then how the last run went.

    EMPTY, COLLECTING, COMPLETE, PARTIAL, NOT_COLLECTED, BEHIND, or why nothing can be read.
    """
    if checkout.refused is not None:
        return checkout.refused.reason
    if run is not None and run.state in {RunState.QUEUED, RunState.RUNNING}:
        return "COLLECTING"
    if checkout.head.oid is None:
        return "EMPTY"
    if is_current:
        return "PARTIAL" if is_partial else "COMPLETE"
    if run is None:
        return "NOT_COLLECTED"
    return "BEHIND" if run.state == RunState.DONE else str(run.state)


# Gaps that mean: part of the history itself is missing, not only the content of a file.
HISTORY_GAPS = (
    *("SHALLOW_BOUNDARY", "MISSING_OBJECT", "OBJECT_CORRUPT", "UNBORN_HEAD", "INVALID_TREE"),
)


def git_coverage(checkout: Checkout) -> dict[str, Any]:
    """Return head, reachable and processed commits, state and gaps of the Git history.

    Where HEAD cannot be read, what it reaches is not known: `processed` is what is stored then.
    """
    gaps = gap_counts(checkout.scope_id, SourceKind.GIT)
    run = _runs(checkout, SourceKind.GIT).first()
    is_partial = any(gap["reason"] in HISTORY_GAPS for gap in gaps) or _has_cut(checkout.scope_id)
    is_current = checkout.snapshot is not None
    return {
        "state": _state(checkout, run, is_current=is_current, is_partial=is_partial),
        "head": checkout.head.oid,
        **_commits(checkout),
        "gaps": gaps,
    }


def _has_cut(scope_id: int) -> bool:
    """Whether a commit changed more files than are read of one; a content that is cut is whole."""
    rows = GapRecord.objects.filter(scope_id=scope_id, source=SourceKind.GIT, reason="BUDGET")
    cut = rows.filter(commit_oid__isnull=False, object_oid=None)
    return cut.exclude(Q(detail__startswith=SWEPT) | Q(detail__startswith=COPIED)).exists()


def _commits(checkout: Checkout) -> dict[str, int | None]:
    if checkout.refused is not None:
        stored = GitCommit.objects.filter(scope_id=checkout.scope_id).count()
        return {"reachable": None, "processed": stored}
    reachable = checkout.reachable_count()
    return {"reachable": reachable, "processed": reachable - checkout.not_processed()}


def document_coverage(checkout: Checkout) -> dict[str, Any]:
    """Return the same for the documents of HEAD: eligible and stored ones.

    PARTIAL: not all of HEAD's documents could be read, or their history was not collected when
    they were.
    """
    runs = _runs(checkout, SourceKind.DOCUMENTS)
    run, read = runs.first(), _run_of_head(checkout, runs)
    shown = read or run
    stored = WorktreeDocument.objects.filter(
        scope_id=checkout.scope_id, worktree_id=checkout.worktree.pk
    ).count()
    is_whole = read is not None and read.cursor.get("history", {}).get("is_whole", False)
    reachable = None if checkout.refused else checkout.document_count()
    is_partial = not is_whole or (reachable is not None and stored < reachable)
    return {
        "state": _state(checkout, run, is_current=read is not None, is_partial=is_partial),
        "head": shown.head_oid if shown else None,
        "reachable": reachable,
        "processed": stored,
        "gaps": gap_counts(checkout.scope_id, SourceKind.DOCUMENTS),
    }


def _run_of_head(checkout: Checkout, runs: QuerySet[Run]) -> Run | None:
    """Return the finished run that read HEAD, unless a later one began to read another HEAD."""
    same_policy = runs.filter(policy_generation__in=checkout.reading)
    done = same_policy.filter(state=RunState.DONE).first()
    if done is None or done.head_oid != checkout.head.oid:
        return None
    later = runs.filter(pk__gt=done.pk).exclude(head_oid=None)
    return None if later.exclude(head_oid=done.head_oid).exists() else done
