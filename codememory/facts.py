"""Reads facts out of stored history in fenced batches: symbols first, then what was undone.

Each phase has its own position in the database, apart from any run: a run goes on where the last
one stopped, and reads all anew only when the rules or what may be read have changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import connection
from django.db.models import Max

from codememory import runs
from codememory.facts_progress import add_metrics, position_of, set_position
from codememory.models import (
    CodeFacts,
    ContentChange,
    FactsPhase,
    FactsProgress,
    FileChange,
    GitCommit,
    PathOrigin,
    Reversal,
    Run,
    SourceKind,
    SymbolChange,
    SymbolMove,
)
from codememory.owned_rows import select_steps
from codememory.path_origins import find_origins, store_origins
from codememory.policies import reading_generations
from codememory.rejected_changes import rejected_batches
from codememory.reversal_rows import store_reversals
from codememory.reversals import REVERSALS_REVISION, ReversalFinder, batch_end, without_sweeps
from codememory.runs import Claim
from codememory.similar_copies import CopyFinder
from codememory.stored_gaps import store_gaps
from collectors.objects import ObjectReader
from collectors.policy import Policy
from collectors.symbols import EXTRACTOR_REVISION
from collectors.values import Gap, GapReason

# Details of gaps; how many files of one commit follow.
SWEPT = "reversals not sought in"
COPIED = "sources that are only similar not sought of"

MANY = 2_000  # file changes that reversals are sought in at once; fewer leave statistics alone

# What each phase works off, what it leaves, and the revision of its rules.
_SOURCES: dict[FactsPhase, Any] = {
    FactsPhase.SYMBOLS: ContentChange,
    FactsPhase.REVERSALS: FileChange,
}
_REVISIONS = {FactsPhase.SYMBOLS: EXTRACTOR_REVISION, FactsPhase.REVERSALS: REVERSALS_REVISION}
_LEFT: dict[FactsPhase, tuple[Any, ...]] = {
    FactsPhase.SYMBOLS: (SymbolMove, SymbolChange, CodeFacts),
    FactsPhase.REVERSALS: (Reversal,),
}


def facts_batches(claim: Claim, run: Run, reader: ObjectReader, policy: Policy) -> Iterator[None]:
    """Read what is new and rests on symbols; yield after each committed batch."""
    yield from _reversal_batches(
        claim, run, CopyFinder(run.scope_id, reader, policy.max_blob_bytes)
    )
    yield from rejected_batches(claim, run, reader, policy)


def are_facts_complete(scope_id: int, generation: int) -> bool:
    """Whether every phase has read all that is stored, by the rules and the policy of now."""
    readable = reading_generations(scope_id, generation)
    for phase, source in _SOURCES.items():
        last = source.objects.filter(scope_id=scope_id).aggregate(last=Max("pk"))["last"]
        progress = FactsProgress.objects.filter(scope_id=scope_id, phase=phase).first()
        if last is None and progress is None:
            continue
        if progress is None or not _is_valid(progress, readable):
            return False
        if progress.after_id < (last or 0):
            return False
    return True


def _is_valid(progress: FactsProgress, readable: list[int]) -> bool:
    phase = FactsPhase(progress.phase)
    return progress.revision == _REVISIONS[phase] and progress.policy_generation in readable


def begin_phases(claim: Claim, run: Run) -> None:
    """Take up each phase where it stands; what was read by other rules is dropped first."""
    readable = reading_generations(run.scope_id, run.policy_generation)
    stored = FactsProgress.objects.filter(scope_id=run.scope_id)
    stale = [FactsPhase(row.phase) for row in stored if not _is_valid(row, readable)]
    known = {row.phase for row in stored}
    if FactsPhase.SYMBOLS in stale:  # reversals rest on symbols
        stale = list(FactsPhase)
    if not stale and known == set(FactsPhase.values):
        return
    with runs.fenced(claim) as row:
        for phase in FactsPhase:
            if phase in stale:
                for model in _LEFT[phase]:
                    model.objects.filter(scope_id=run.scope_id).delete()
                FactsProgress.objects.filter(scope_id=run.scope_id, phase=phase).delete()
            if FactsPhase.REVERSALS in stale:  # what a person settled stays
                PathOrigin.objects.filter(scope_id=run.scope_id, settled_at=None).delete()
            FactsProgress.objects.get_or_create(
                scope_id=run.scope_id,
                phase=phase,
                defaults={
                    "revision": _REVISIONS[phase],
                    "policy_generation": run.policy_generation,
                },
            )
        row.phase = "facts"


def _refresh_statistics() -> None:
    """Let the planner know what was written since it last looked: else it walks whole tables."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT gin_clean_pending_list('code_facts_hunk_keys')")
        for model in (FileChange, ContentChange, CodeFacts, SymbolChange):
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def _budget_gaps(commits: Mapping[int, int], what: str) -> list[Gap]:
    oids = dict(GitCommit.objects.filter(pk__in=list(commits)).values_list("pk", "oid"))
    return [
        Gap(GapReason.BUDGET, commit_oid=oids[pk], detail=f"{what} {size} files")
        for pk, size in sorted(commits.items())
    ]


def _reversal_batches(claim: Claim, run: Run, copies: CopyFinder) -> Iterator[None]:
    scope_id = run.scope_id
    finder = ReversalFinder(scope_id)
    after = position_of(scope_id, FactsPhase.REVERSALS)
    if FileChange.objects.filter(scope_id=scope_id, pk__gt=after)[MANY:].exists():
        _refresh_statistics()
    while (end := batch_end(scope_id, after)) is not None:
        started = time.monotonic()
        steps = select_steps(scope_id, "f.id > %s AND f.id <= %s", after, end)
        steps, sweeps = without_sweeps(steps)
        found = finder.find(steps)
        origins, unsought = find_origins(scope_id, steps, copies)
        gaps = [*_budget_gaps(sweeps, SWEPT), *_budget_gaps(unsought, COPIED)]
        found_at = time.monotonic()
        with runs.fenced(claim) as row:
            store_gaps(scope_id, run.pk, SourceKind.GIT, gaps, {})
            counts = {
                "reversals": store_reversals(scope_id, found),
                "path_origins": store_origins(origins),
            }
            set_position(scope_id, FactsPhase.REVERSALS, end)
            row.phase = FactsPhase.REVERSALS.value
            seconds = {
                "seconds_reversals": found_at - started,
                "seconds_reversal_rows": time.monotonic() - found_at,
            }
            row.metrics = add_metrics(row.metrics, counts, seconds)
        after = end
        yield
