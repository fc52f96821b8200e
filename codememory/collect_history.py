"""Collects the Git history of a worktree in fenced batches: one page of commits each.

A run keeps the HEAD and the policy it started with. Its cursor is the position in the
topological listing of that HEAD and the commit found there, so a rerun continues exactly.
"""

from __future__ import annotations

import hashlib
import time
from array import array
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path as FilePath

from django.conf import settings
from django.db import connection
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from codememory import runs
from codememory.analysis import analysed_pages
from codememory.disk_budget import require_disk_budget
from codememory.errors import RefusedProjectError, SourceUnreadableError
from codememory.facts import are_facts_complete, begin_phases, facts_batches
from codememory.facts_progress import add_metrics
from codememory.ingest_history import known_pairs, prepare_page, store_page
from codememory.models import (
    ContentChange,
    FileChange,
    GapRecord,
    GitCommit,
    LogicalChange,
    Path,
    RefSnapshot,
    Run,
    RunState,
    SearchTerm,
)
from codememory.policies import read_policy, reading_generations
from codememory.projects import open_root
from codememory.runs import Claim
from codememory.search.entries import settle_index
from codememory.stored_contents import has_unread
from codememory.stored_gaps import store_gaps
from codememory.symbol_batches import SymbolBatches
from collectors.git import ObjectReader, Repository, Shadow, ignored_overlays
from collectors.history import HistoryPage, Known, begin_page
from collectors.ignoring import ignores_of, with_ignores
from collectors.pair_work import Pair
from collectors.policy import Policy
from collectors.values import ContentClass, Gap, GapReason

PAGE_COMMITS = 100
CHUNK = 2_000
LOST_TRIED = 200  # lost objects that a run looks at again
LONG_RUN = 400  # commits; shorter ones leave statistics to the server
GROWING = (GitCommit, Path, ContentChange, LogicalChange, FileChange, SearchTerm)
OLD_HEADS = 20  # how many earlier HEADs may shorten the listing


def scratch_folder() -> FilePath:
    """Return where shadow directories are made (never inside a subject)."""
    folder = FilePath(settings.CODEMEMORY_HOME) / "scratch"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def history_batches(claim: Claim) -> Generator[None]:
    """Yield after each committed batch; end when the run is done."""
    run = Run.objects.select_related("worktree").get(pk=claim.run_id)
    policy = read_policy(run.scope_id, run.policy_generation)
    require_disk_budget(claim, run.source, policy)
    try:
        repository = open_root(FilePath(run.worktree.root))
    except RefusedProjectError as error:
        raise SourceUnreadableError(error.reason, error.hint) from error
    key = policy.redaction_key
    with Shadow(repository, scratch_folder(), key) as shadow, shadow.objects() as reader:
        if "position" not in run.cursor and not _begin(claim, run, shadow, reader):
            return
        _require_head(str(run.head_oid), reader)
        policy = with_ignores(policy, ignores_of(str(run.head_oid), reader))
        yield
        begin_phases(claim, run)
        is_beside = (run.total or 0) - run.cursor["position"] > PAGE_COMMITS
        with SymbolBatches(claim, run, reader, policy, is_beside=is_beside) as symbols:
            for _ in _pages(claim, run, repository, shadow, reader, policy):
                yield
                if symbols.go_on():
                    yield
            yield from symbols.rest()
        yield from facts_batches(claim, run, reader, policy)
        _finish(claim, run, shadow)


def _require_head(head: str, reader: ObjectReader) -> None:
    if reader.sizes([head])[head] is None:
        raise SourceUnreadableError("HEAD_GONE", f"commit {head} is not there; collect again")


def _begin(claim: Claim, run: Run, shadow: Shadow, reader: ObjectReader) -> bool:
    """Capture HEAD and what has to be listed; False: there is nothing to do, the run is done."""
    head = shadow.head()
    boundary = shadow.shallow_boundary() if head.oid else []
    snapshots = RefSnapshot.objects.filter(
        scope_id=run.scope_id,
        policy_generation__in=reading_generations(run.scope_id, run.policy_generation),
        boundary_digest=boundary_digest(boundary),
    )
    done = snapshots.filter(
        worktree_id=run.worktree_id,
        head_oid=head.oid,
        stored_commits=GitCommit.objects.filter(scope_id=run.scope_id).count(),
    )
    is_healed = bool(head.oid) and _is_healed(run.scope_id, reader)
    is_read = are_facts_complete(run.scope_id, run.policy_generation)
    if head.oid is None or (done.exists() and is_read and not is_healed):
        with runs.fenced(claim) as row:
            row.head_oid, row.branch_label, row.phase = head.oid, head.branch, "done"
            row.total = row.done = 0
            if head.oid is None:
                replace_head_gaps(run, [Gap(GapReason.UNBORN_HEAD)])
            runs.finish_run(row)
        return False
    _require_head(head.oid, reader)
    ignores = ignores_of(head.oid, reader).oid
    is_whole = bool(boundary) or is_healed or ignores != _last_ignores(run)
    exclude = [] if is_whole else _known_heads(snapshots, reader)
    total = shadow.count(head.oid, exclude)
    with runs.fenced(claim) as row:
        row.head_oid, row.branch_label, row.phase = head.oid, head.branch, "history"
        row.cursor = {"position": 0, "oid": None, "exclude": exclude, "ignores": ignores}
        row.total, row.done = total, 0
        overlays = ignored_overlays(shadow.repository)
        row.metrics |= {f"ignored_{name}": count for name, count in overlays.items()}
        replace_head_gaps(
            run, [Gap(GapReason.SHALLOW_BOUNDARY, commit_oid=oid) for oid in boundary]
        )
    run.head_oid, run.cursor, run.total = row.head_oid, row.cursor, row.total
    return True


def _last_ignores(run: Run) -> str:
    """The object id of the ignore file under which the project's history was read last."""
    last = Run.objects.filter(
        scope_id=run.scope_id, source=run.source, state=RunState.DONE, cursor__has_key="ignores"
    ).order_by("-pk")
    return str(last[0].cursor["ignores"]) if last else ""


def boundary_digest(boundary: Iterable[str]) -> bytes:
    """SHA-256 of the commits at which a clone is cut off; empty for a whole one."""
    oids = sorted(boundary)
    return hashlib.sha256("\n".join(oids).encode()).digest() if oids else b""


def replace_head_gaps(run: Run, gaps: Sequence[Gap]) -> None:
    """Write the gaps that speak of HEAD as a whole in the place of those of earlier HEADs."""
    reasons = [GapReason.UNBORN_HEAD.value, GapReason.SHALLOW_BOUNDARY.value]
    old = GapRecord.objects.filter(scope_id=run.scope_id, source="git", reason__in=reasons)
    old.delete()
    store_gaps(run.scope_id, run.pk, "git", gaps, {})


def _is_healed(scope_id: int, reader: ObjectReader) -> bool:
    """Tell whether an object that was missing or corrupt can be read now."""
    lost = GapRecord.objects.filter(
        scope_id=scope_id,
        source="git",
        reason__in=[GapReason.MISSING_OBJECT.value, GapReason.OBJECT_CORRUPT.value],
        object_oid__isnull=False,
    )
    oids = {str(oid) for oid in lost.values_list("object_oid", flat=True)[:LOST_TRIED]}
    return any(reader.is_readable(oid) for oid in oids)


def _known_heads(snapshots: QuerySet[RefSnapshot], reader: ObjectReader) -> list[str]:
    """Return earlier finished HEADs that still exist: what they reach is stored already."""
    heads = list(snapshots.order_by("-pk").values_list("head_oid", flat=True)[:OLD_HEADS])
    sizes = reader.sizes(heads)
    return [oid for oid in dict.fromkeys(heads) if sizes.get(oid) is not None]


def _pages(
    claim: Claim,
    run: Run,
    repository: Repository,
    shadow: Shadow,
    reader: ObjectReader,
    policy: Policy,
) -> Iterator[None]:
    assert run.head_oid is not None
    listing = shadow.rev_list(run.head_oid, run.cursor["exclude"])
    if not _skip_done(listing, run):
        _restart(claim, shadow.count(run.head_oid))
        raise SourceUnreadableError(
            "HISTORY_CHANGED", "the listing of commits differs; reading it again", retryable=True
        )
    position = int(run.cursor["position"])
    since = min(reading_generations(run.scope_id, run.policy_generation))

    def known(asked: list[Pair]) -> set[Pair]:
        return known_pairs(run.scope_id, asked, since)

    def begin(oids: list[str], is_known: Known) -> HistoryPage:
        return begin_page(shadow, reader, oids, policy, is_known)

    retries = has_unread(run.scope_id)
    for page, terms, seconds in analysed_pages(listing, PAGE_COMMITS, policy, known, begin):
        started = time.monotonic()
        given = (run.scope_id, page, policy, repository.object_format, terms)
        prepared = prepare_page(*given, has_unread=retries)
        retries |= any(c.content_class is ContentClass.UNREAD for c in page.content_changes)
        prepared_at = time.monotonic()
        with runs.fenced(claim) as row:
            counts = store_page(run.scope_id, run.pk, prepared)
            position += page.listed
            row.cursor = {**row.cursor, "position": position, "oid": page.last}
            row.done, row.phase = position, "history"
            seconds["seconds_prepare"] = prepared_at - started
            seconds["seconds_store"] = time.monotonic() - prepared_at
            row.metrics = add_metrics(row.metrics, page.metrics, counts, seconds)
        refresh_statistics(position // PAGE_COMMITS, row.total or 0)
        yield


def refresh_statistics(page: int, total: int) -> None:
    """Let the planner know how tables have grown: after pages 1, 4, 16, ... of a long run.

    Without it the checks of links, planned while the tables were empty, read them whole.
    """
    if total < LONG_RUN or page < 1 or page & (page - 1) or page.bit_length() % 2 == 0:
        return
    with connection.cursor() as cursor:
        for model in GROWING:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def _skip_done(listing: Iterator[str], run: Run) -> bool:
    """Skip what earlier slices stored; False: the listing is no longer the one they worked off."""
    position, oid = run.cursor["position"], run.cursor["oid"]
    last = deque(islice(listing, position), maxlen=1)
    return bool((last[0] if last else None) == oid)


def _restart(claim: Claim, listed: int) -> None:
    """List the whole of the captured HEAD from its start: what is stored already stays."""
    # No progress: a history that never comes out right ends after a few tries.
    with runs.fenced(claim, is_progress=False) as row:
        row.cursor = {**row.cursor, "position": 0, "oid": None, "exclude": []}
        row.total, row.done = listed, 0


def _finish(claim: Claim, run: Run, shadow: Shadow) -> None:
    """Check that every reachable commit has its row, then record the finished HEAD."""
    assert run.head_oid is not None
    found, missing, listed = array("q"), set[str](), 0
    listing = shadow.rev_list(run.head_oid)
    while oids := list(islice(listing, CHUNK)):
        listed += len(oids)
        rows = GitCommit.objects.filter(scope_id=run.scope_id, oid__in=oids)
        stored = dict(rows.values_list("oid", "pk"))
        found.extend(stored.values())
        missing |= set(oids) - stored.keys()
    unreadable = GapRecord.objects.filter(
        scope_id=run.scope_id, source="git", commit_oid__in=missing, object_oid=F("commit_oid")
    )
    if missing - set(unreadable.values_list("commit_oid", flat=True)):
        # An earlier HEAD vouched for commits that are not stored: list everything once more.
        _restart(claim, listed)
        raise SourceUnreadableError(
            "HISTORY_INCOMPLETE", "commits were missing; reading all again", retryable=True
        )
    unreachable = _unreachable(run.scope_id, found)
    settle_index()
    with runs.fenced(claim) as row:
        RefSnapshot.objects.update_or_create(
            scope_id=run.scope_id,
            worktree_id=run.worktree_id,
            head_oid=run.head_oid,
            defaults={
                "branch_label": row.branch_label,
                "reachable": listed,
                "unreachable": unreachable,
                "is_shallow": shadow.is_shallow,
                "boundary_digest": boundary_digest(shadow.shallow_boundary()),
                "policy_generation": run.policy_generation,
                "stored_commits": GitCommit.objects.filter(scope_id=run.scope_id).count(),
                "captured_at": Now(),
            },
        )
        row.phase = "done"
        runs.finish_run(row)


def _unreachable(scope_id: int, found: array[int]) -> list[int]:
    commits = GitCommit.objects.filter(scope_id=scope_id)
    if commits.count() == len(found):
        return []
    reachable = set(found)
    return [pk for pk in commits.values_list("pk", flat=True).iterator() if pk not in reachable]
