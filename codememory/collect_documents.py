"""Collects the tracked Markdown of a worktree's HEAD, then its history, in fenced batches.

The history of documents is read from the stored file changes: a run whose project has a live run of
its Git history waits for it. A later run reads what an earlier one could not.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.db.models.functions import Now

from codememory import runs
from codememory.collect_history import scratch_folder
from codememory.disk_budget import require_disk_budget
from codememory.document_history import history_batches
from codememory.document_replacements import replacement_batches
from codememory.document_versions import count_changes, document_paths
from codememory.errors import RefusedProjectError, SourceUnreadableError
from codememory.facts_progress import add_metrics
from codememory.ingest_documents import (
    DOCUMENT_REVISION,
    FoundDocument,
    forget_gaps,
    remove_missing,
    store_documents,
)
from codememory.models import (
    LIVE_STATES,
    RefSnapshot,
    Run,
    RunState,
    SectionChange,
    SourceKind,
    WorktreeDocument,
)
from codememory.policies import read_policy
from codememory.projects import open_root
from codememory.runs import Claim
from codememory.search.entries import settle_index
from codememory.stored_gaps import store_gaps
from collectors.document_reader import DocumentReader
from collectors.documents import is_document, is_other_text
from collectors.git import ObjectReader, Shadow, TreeEntry
from collectors.ignoring import IGNORE_FILE, Eligibility, read_ignores
from collectors.parse_pool import ParsePool
from collectors.policy import Policy
from collectors.sections import SECTIONS_REVISION
from collectors.statements import EXTRACTOR_REVISION
from collectors.trees import SUBMODULE
from collectors.values import Gap, GapReason

BATCH_DOCUMENTS = 25
BATCH_SECONDS = 10.0  # slow documents make a batch shorter: a slice has to end in its time
MAX_EARLIER = 500  # documents that a new HEAD changed, whose text before is looked up
LINK_MODE = 0o120000
RULES = [DOCUMENT_REVISION, EXTRACTOR_REVISION]  # a change of either reads documents again
# While nobody works on the history that a run waits for, it looks so often and goes on without.
WAIT, MAX_WAITS = timedelta(seconds=0.5), 20


@dataclass(slots=True)
class _Source:
    """What a slice reads: the sorted tree of HEAD, under the policy and its ignore file."""

    reader: ObjectReader
    documents: DocumentReader
    algorithm: str
    policy: Policy
    eligibility: Eligibility
    eligible: list[TreeEntry]
    gaps: list[Gap]


def document_batches(claim: Claim) -> Iterator[None]:
    """Yield after each committed batch; end when the run is done or waits."""
    run = Run.objects.select_related("worktree").get(pk=claim.run_id)
    if run.cursor.get("phase") == "history" and _waits(claim, run):
        return
    policy = read_policy(run.scope_id, run.policy_generation)
    require_disk_budget(claim, run.source, policy)
    try:
        repository = open_root(Path(run.worktree.root))
    except RefusedProjectError as error:
        raise SourceUnreadableError(error.reason, error.hint) from error
    with (
        Shadow(repository, scratch_folder(), policy.redaction_key) as shadow,
        shadow.objects() as reader,
        ParsePool() as pool,
    ):
        if "phase" not in run.cursor and not _begin(claim, run, shadow):
            return
        documents = DocumentReader(pool, policy)
        source = _open_source(run, shadow, reader, documents, policy)
        if run.cursor["phase"] == "documents":
            yield from _head_batches(claim, run, shadow, source)
            _end_head(claim, run, source)
            yield
            if _waits(claim, run):
                return
        _begin_history(claim, run, source)
        yield from history_batches(
            claim, run, reader, documents, source.eligibility, source.algorithm
        )
        yield from replacement_batches(claim, run, reader, documents, policy)
        _finish(claim, run)


def _open_source(
    run: Run,
    shadow: Shadow,
    reader: ObjectReader,
    documents: DocumentReader,
    policy: Policy,
) -> _Source:
    tree_gaps: list[Gap] = []
    tree = [e for e in shadow.tree(str(run.head_oid), tree_gaps) if _is_of_interest(e.path)]
    ignores = read_ignores(tree, reader)
    eligibility = Eligibility(policy, ignores)
    eligible, gaps = sort_tree(tree, eligibility)
    gaps += tree_gaps
    if ignores.gap is not None:
        gaps.append(ignores.gap)
    algorithm = shadow.repository.object_format
    return _Source(reader, documents, algorithm, policy, eligibility, eligible, gaps)


def _is_of_interest(path: bytes) -> bool:
    return path == IGNORE_FILE or is_document(path) or is_other_text(path)


def _begin(claim: Claim, run: Run, shadow: Shadow) -> bool:
    """Capture HEAD; False: there is none, and the run is done."""
    head = shadow.head()
    before = (
        Run.objects.filter(
            scope_id=run.scope_id,
            worktree_id=run.worktree_id,
            source=SourceKind.DOCUMENTS,
            state=RunState.DONE,
            policy_generation=run.policy_generation,
        )
        .order_by("-pk")
        .first()
    )
    # Under other rules every document is read again.
    keep = before is not None and before.cursor.get("rules") == RULES
    is_read = keep and before is not None and before.head_oid == head.oid
    with runs.fenced(claim) as row:
        row.head_oid, row.branch_label = head.oid, head.branch
        row.phase = "history" if is_read else "documents"
        row.cursor = {
            "phase": row.phase,
            "position": 0,
            "rules": RULES,
            "keep": keep,
            "earlier_head": before.head_oid if keep and before is not None else None,
        }
        row.total = row.done = 0
        if head.oid is None:
            row.phase = "done"
            store_gaps(run.scope_id, run.pk, SourceKind.DOCUMENTS, [Gap(GapReason.UNBORN_HEAD)], {})
            runs.finish_run(row)
    run.head_oid, run.branch_label, run.cursor = row.head_oid, row.branch_label, row.cursor
    return head.oid is not None


def _waits(claim: Claim, run: Run) -> bool:
    """Give the run back to the queue while the history it needs is being read."""
    history = Run.objects.filter(
        scope_id=run.scope_id,
        worktree_id=run.worktree_id,
        source=SourceKind.GIT,
        state__in=LIVE_STATES,
    ).first()
    if history is None:
        return False
    fence, times = run.cursor.get("waited", (0, 0))
    others = Run.objects.filter(state=RunState.RUNNING).exclude(pk=run.pk)
    times = 0 if history.fence != fence or others.exists() else times + 1
    if times > MAX_WAITS:
        return False
    with runs.fenced(claim) as row:
        row.cursor = {**row.cursor, "waited": (history.fence, times)}
        row.phase = "waiting for history"
    with transaction.atomic():
        Run.objects.filter(pk=run.pk, fence=claim.fence).update(not_before=Now() + WAIT)
        runs.yield_run(claim)
    return True


def sort_tree(
    entries: Iterable[TreeEntry], eligibility: Eligibility
) -> tuple[list[TreeEntry], list[Gap]]:
    """Tell eligible documents from what is known but not read, with the reason of each."""
    eligible, gaps = [], []
    for entry in entries:
        if not (is_document(entry.path) or is_other_text(entry.path)):
            continue
        if (why := eligibility.left_out(entry.path)) is not None:
            gaps.append(Gap(why[0], entry.path, entry.oid, detail=why[1]))
        elif entry.gap is not None:
            gaps.append(Gap(entry.gap, entry.path, entry.oid))
        elif entry.mode == SUBMODULE:
            gaps.append(Gap(GapReason.SUBMODULE_NOT_READ, entry.path, entry.oid))
        elif entry.mode == LINK_MODE:
            gaps.append(Gap(GapReason.SYMLINK_NOT_FOLLOWED, entry.path, entry.oid))
        elif not is_document(entry.path):
            gaps.append(Gap(GapReason.UNSUPPORTED_FORMAT, entry.path, entry.oid))
        else:
            eligible.append(entry)
    return eligible, gaps


def _head_batches(claim: Claim, run: Run, shadow: Shadow, source: _Source) -> Iterator[None]:
    current = WorktreeDocument.objects.filter(scope_id=run.scope_id, worktree_id=run.worktree_id)
    oids = current.values_list("path__raw", "revision__object_oid")
    stored = {bytes(raw): oid for raw, oid in oids} if run.cursor["keep"] else {}
    earlier = _earlier_keys(run, shadow, source)
    position = int(run.cursor["position"])
    while position < len(source.eligible):
        batch = source.eligible[position : position + BATCH_DOCUMENTS]
        started = time.monotonic()
        found, gaps, count, unchanged = _read(batch, stored, source)
        read_at = time.monotonic()
        with runs.fenced(claim) as row:
            position += count
            row.cursor = {**row.cursor, "position": position}
            row.done, row.total = position, len(source.eligible)
            counts = store_documents(row, source.algorithm, found, gaps, earlier)
            measured = {
                "bytes_read": sum(f.document.size for f in found),
                "documents_unchanged": unchanged,
                "seconds_read": read_at - started,
                "seconds_store": time.monotonic() - read_at,
            }
            row.metrics = add_metrics(row.metrics, counts, measured)
        yield


def _earlier_keys(run: Run, shadow: Shadow, source: _Source) -> set[int]:
    """The sentences of what the last collected HEAD had and this one has no more as it was.

    Read from Git and not from our rows, so that an interrupted run finds the same again.
    """
    head = run.cursor["earlier_head"]
    if head is None or source.reader.sizes([head])[head] is None:
        return set()
    tree = [entry for entry in shadow.tree(head) if _is_of_interest(entry.path)]
    oids = {entry.path: entry.oid for entry in source.eligible}
    eligible, _ = sort_tree(tree, Eligibility(source.policy, read_ignores(tree, source.reader)))
    gone = [entry for entry in eligible if oids.get(entry.path) != entry.oid]
    found: set[int] = set()
    for entry in gone[:MAX_EARLIER]:
        content = source.reader.read(entry.oid, "blob", source.policy.max_document_bytes)
        if not isinstance(content, Gap):
            found |= source.documents.with_keys(entry.path, entry.oid, content).keys
    return found


def _read(
    entries: Sequence[TreeEntry], stored: Mapping[bytes, str | None], source: _Source
) -> tuple[list[FoundDocument], list[Gap], int, int]:
    """Read what is not stored as it is; also returns how many were done, and were unchanged."""
    found: list[FoundDocument] = []
    gaps: list[Gap] = []
    unchanged = 0
    until = time.monotonic() + BATCH_SECONDS
    for number, entry in enumerate(entries):
        if time.monotonic() > until:
            return found, gaps, number, unchanged
        if stored.get(entry.path) == entry.oid:
            unchanged += 1
            continue
        content = source.reader.read(entry.oid, "blob", source.policy.max_document_bytes)
        if isinstance(content, Gap):
            gaps.append(Gap(content.reason, entry.path, entry.oid, detail=content.detail))
            continue
        reading = source.documents.with_statements(entry.path, entry.oid, content)
        found.append(FoundDocument(reading.document, reading.statements))
    return found, gaps, len(entries), unchanged


def _end_head(claim: Claim, run: Run, source: _Source) -> None:
    with runs.fenced(claim) as row:
        store_documents(row, source.algorithm, [], source.gaps)
        oids = {entry.path: entry.oid for entry in source.eligible}
        removed = remove_missing(row, oids)
        forget_gaps(row, oids, source.gaps)
        row.metrics = add_metrics(row.metrics, {"documents_removed": removed})
        row.cursor = {**row.cursor, "phase": "history"}
        row.phase = "history"
    run.cursor = row.cursor


def _begin_history(claim: Claim, run: Run, source: _Source) -> None:
    """Go on where the last run of the project ended; under other rules from the start."""
    if "history" in run.cursor:
        return
    rules = [run.policy_generation, *RULES, SECTIONS_REVISION, source.eligibility.ignores.oid]
    last = (
        Run.objects.filter(
            scope_id=run.scope_id, source=SourceKind.DOCUMENTS, cursor__has_key="history"
        )
        .order_by("-pk")
        .first()
    )
    is_same = last is not None and last.cursor["history"]["rules"] == rules
    after = last.cursor["history"]["after"] if last is not None and is_same else 0
    paths = document_paths(run.scope_id, source.eligibility)
    with runs.fenced(claim) as row:
        if not is_same:
            SectionChange.objects.filter(scope_id=run.scope_id).delete()
        row.cursor = {**row.cursor, "history": {"after": after, "rules": rules}}
        row.total = row.done + count_changes(run.scope_id, paths, after)
        row.phase = "history"
    run.cursor = row.cursor


def _finish(claim: Claim, run: Run) -> None:
    """End the run, and keep whether all of HEAD's history was there to be read."""
    snapshot = RefSnapshot.objects.filter(
        scope_id=run.scope_id, worktree_id=run.worktree_id, head_oid=run.head_oid
    )
    settle_index()
    with runs.fenced(claim) as row:
        history = {**row.cursor["history"], "is_whole": snapshot.exists()}
        row.cursor = {**row.cursor, "history": history}
        row.phase = "done"
        runs.finish_run(row)
