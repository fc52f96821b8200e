"""Collects the tracked Markdown of a worktree's HEAD in fenced batches of documents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from codememory import runs
from codememory.collect_history import add_metrics, scratch_folder
from codememory.errors import RefusedProjectError, SourceUnreadableError
from codememory.ingest_documents import (
    DOCUMENT_REVISION,
    FoundDocument,
    remove_missing,
    store_documents,
)
from codememory.ingest_history import store_gaps
from codememory.models import Run, RunState, SourceKind, WorktreeDocument
from codememory.policies import read_policy
from codememory.projects import open_root
from codememory.runs import Claim
from collectors.documents import is_document, is_other_text, read_document
from collectors.git import ObjectReader, Shadow, TreeEntry
from collectors.policy import Policy
from collectors.statements import EXTRACTOR_REVISION, find_statements
from collectors.values import Gap, GapReason, PathClass

BATCH_DOCUMENTS = 25
LINK_MODE = 0o120000
RULES = [DOCUMENT_REVISION, EXTRACTOR_REVISION]  # a change of either reads documents again


def document_batches(claim: Claim) -> Iterator[None]:
    """Yield after each committed batch; end when the run is done."""
    run = Run.objects.select_related("worktree").get(pk=claim.run_id)
    policy = read_policy(run.scope_id, run.policy_generation)
    try:
        repository = open_root(Path(run.worktree.root))
    except RefusedProjectError as error:
        raise SourceUnreadableError(error.reason, error.hint) from error
    with Shadow(repository, scratch_folder()) as shadow, shadow.objects() as reader:
        if "position" not in run.cursor and not _begin(claim, run, shadow):
            return
        assert run.head_oid is not None
        eligible, gaps = sort_tree(shadow.tree(run.head_oid), policy)
        yield from _batches(claim, run, repository.object_format, reader, policy, eligible)
        with runs.fenced(claim) as row:
            store_gaps_of_tree(row, gaps)
            removed = remove_missing(row, {entry.path for entry in eligible})
            row.metrics = add_metrics(row.metrics, {"documents_removed": removed})
            row.phase = "done"
            runs.finish_run(row)


def _begin(claim: Claim, run: Run, shadow: Shadow) -> bool:
    """Capture HEAD; False: it has none, or it was collected already, and the run is done."""
    head = shadow.head()
    same = Run.objects.filter(
        scope_id=run.scope_id,
        worktree_id=run.worktree_id,
        source=SourceKind.DOCUMENTS,
        state=RunState.DONE,
        policy_generation=run.policy_generation,
    ).order_by("-pk")
    before = same.first()
    is_done = before is not None and before.head_oid == head.oid and _has_same_rules(before)
    with runs.fenced(claim) as row:
        row.head_oid, row.branch_label = head.oid, head.branch
        row.cursor = {
            "position": 0,
            "rules": RULES,
            # Under other rules every document is read again.
            "keep": before is not None and _has_same_rules(before),
        }
        row.phase = "documents"
        if head.oid is None or is_done:
            row.total = row.done = 0
            row.phase = "done"
            if head.oid is None:
                gap = Gap(GapReason.UNBORN_HEAD)
                store_gaps(run.scope_id, run.pk, SourceKind.DOCUMENTS, [gap], {})
            runs.finish_run(row)
            return False
    run.head_oid, run.branch_label, run.cursor = row.head_oid, row.branch_label, row.cursor
    return True


def _has_same_rules(run: Run) -> bool:
    return bool(run.cursor.get("rules") == RULES)


def sort_tree(entries: Iterator[TreeEntry], policy: Policy) -> tuple[list[TreeEntry], list[Gap]]:
    """Tell eligible documents from what is known but not read, with the reason of each."""
    eligible, gaps = [], []
    for entry in entries:
        if not (is_document(entry.path) or is_other_text(entry.path)):
            continue
        path_class, rule = policy.classify(entry.path)
        if path_class is PathClass.PROTECTED:
            gaps.append(Gap(GapReason.PROTECTED, entry.path, entry.oid, detail=rule))
        elif path_class is PathClass.EXCLUDED:
            gaps.append(Gap(GapReason.EXCLUDED, entry.path, entry.oid, detail=rule))
        elif entry.mode == LINK_MODE:
            gaps.append(Gap(GapReason.SYMLINK_NOT_FOLLOWED, entry.path, entry.oid))
        elif not is_document(entry.path):
            gaps.append(Gap(GapReason.UNSUPPORTED_FORMAT, entry.path, entry.oid))
        else:
            eligible.append(entry)
    return eligible, gaps


def store_gaps_of_tree(run: Run, gaps: Sequence[Gap]) -> None:
    """Write the gaps of the whole tree."""
    store_documents(run, "sha1", [], gaps)


def _batches(
    claim: Claim,
    run: Run,
    algorithm: str,
    reader: ObjectReader,
    policy: Policy,
    eligible: Sequence[TreeEntry],
) -> Iterator[None]:
    current = dict(
        WorktreeDocument.objects.filter(
            scope_id=run.scope_id, worktree_id=run.worktree_id
        ).values_list("path__raw", "revision__object_oid")
    )
    stored = {bytes(raw): oid for raw, oid in current.items()} if run.cursor["keep"] else {}
    position = int(run.cursor["position"])
    while position < len(eligible):
        batch = eligible[position : position + BATCH_DOCUMENTS]
        started = time.monotonic()
        changed = [entry for entry in batch if stored.get(entry.path) != entry.oid]
        found, gaps = _read(changed, reader, policy)
        read_at = time.monotonic()
        with runs.fenced(claim) as row:
            position += len(batch)
            row.cursor = {**row.cursor, "position": position}
            row.done, row.total = position, len(eligible)
            counts = store_documents(row, algorithm, found, gaps)
            measured = {
                "bytes_read": sum(f.document.size for f in found),
                "documents_unchanged": len(batch) - len(changed),
                "seconds_read": read_at - started,
                "seconds_store": time.monotonic() - read_at,
            }
            row.metrics = add_metrics(row.metrics, counts, measured)
        yield


def _read(
    entries: Sequence[TreeEntry], reader: ObjectReader, policy: Policy
) -> tuple[list[FoundDocument], list[Gap]]:
    found, gaps = [], []
    for entry in entries:
        content = reader.read(entry.oid, "blob", policy.max_blob_bytes)
        if isinstance(content, Gap):
            gaps.append(Gap(content.reason, entry.path, entry.oid, detail=content.detail))
            continue
        document = read_document(entry.path, entry.oid, content, policy)
        found.append(FoundDocument(document, find_statements(document)))
    return found, gaps
