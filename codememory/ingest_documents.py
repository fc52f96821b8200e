"""Writes documents as rows: revision, sections, segments, search entries and candidates, inside
the caller's fenced transaction. A document whose content is stored already changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from codememory import search_entries
from codememory.bulk import insert_rows, text_array
from codememory.candidates import propose
from codememory.ingest_history import store_gaps, store_paths
from codememory.models import (
    DocumentSection,
    EvidenceSegment,
    Run,
    SourceKind,
    SourceRevision,
    WorktreeDocument,
)
from collectors.values import Document, Gap, Segment, Statement

DOCUMENT_REVISION = 1  # of the rules that cut documents into sections and segments


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document of HEAD with the statements found in it."""

    document: Document
    statements: Sequence[Statement]


def store_documents(
    run: Run, algorithm: str, found: Sequence[FoundDocument], gaps: Sequence[Gap]
) -> dict[str, int]:
    """Write a batch of documents and gaps; returns how many rows of each kind are new."""
    scope_id = run.scope_id
    raw = {f.document.path for f in found} | {gap.path for gap in gaps if gap.path is not None}
    raw |= {gap.path for f in found for gap in f.document.gaps if gap.path is not None}
    paths = store_paths(scope_id, raw)
    counts = {"revisions": 0, "segments": 0, "candidates": 0}
    for each in found:
        revision, is_new = _store_revision(run, algorithm, each.document, paths)
        counts["revisions"] += is_new
        segments = _store_structure(revision, each.document)
        counts["segments"] += len(segments) if is_new else 0
        _make_current(run, revision)
        new = propose(scope_id, _with_segments(each, segments))
        search_entries.write_candidate_entries(scope_id, new)
        counts["candidates"] += len(new)
    all_gaps = [*gaps, *(gap for each in found for gap in each.document.gaps)]
    counts["gaps"] = store_gaps(scope_id, run.pk, SourceKind.DOCUMENTS, all_gaps, paths)
    return counts


def _store_revision(
    run: Run, algorithm: str, document: Document, paths: dict[bytes, int]
) -> tuple[SourceRevision, bool]:
    return SourceRevision.objects.get_or_create(
        scope_id=run.scope_id,
        kind=SourceKind.DOCUMENTS,
        path_id=paths[document.path],
        sha256=document.sha256,
        defaults={
            "worktree_id": run.worktree_id,
            "object_oid": document.oid,
            "object_algorithm": algorithm,
            "size": document.size,
            "encoding": document.encoding,
            "head_oid": run.head_oid,
            "branch_label": run.branch_label,
            "policy_generation": run.policy_generation,
            "extractor_revision": DOCUMENT_REVISION,
            "is_instruction_file": document.is_instruction_file,
        },
    )


def _store_structure(revision: SourceRevision, document: Document) -> dict[tuple[int, int], int]:
    """Write sections and segments; returns the segment ids by byte range."""
    scope_id, revision_id = revision.scope_id, revision.pk
    insert_rows(
        DocumentSection,
        [
            "scope", "revision", "heading_path", "level", "ordinal", "byte_start", "byte_end",
            "first_line", "last_line", "sha256",
        ],
        [
            (
                scope_id, revision_id, text_array(s.heading_path), s.level, s.ordinal, s.start,
                s.end, s.first_line, s.last_line, s.sha256,
            )
            for s in document.sections
        ],
    )  # fmt: skip
    insert_rows(
        EvidenceSegment,
        [
            "scope", "revision", "kind", "byte_start", "byte_end", "first_line", "last_line",
            "sha256", "content", "heading_path", "redactions", "is_truncated",
        ],
        [
            (
                scope_id, revision_id, s.kind, s.start, s.end, s.first_line, s.last_line,
                s.sha256, s.content, text_array(s.heading_path), redactions_json(s), s.is_truncated,
            )
            for s in document.segments
        ],
    )  # fmt: skip
    rows = EvidenceSegment.objects.filter(scope_id=scope_id, revision_id=revision_id)
    return {(start, end): pk for pk, start, end in rows.values_list("id", "byte_start", "byte_end")}


def redactions_json(segment: Segment) -> str:
    """The redactions of a segment as JSON: kinds are fixed words, so no escaping is needed."""
    return (
        "["
        + ",".join(
            f'{{"kind":"{r.kind}","start":{r.start},"end":{r.end}}}' for r in segment.redactions
        )
        + "]"
    )


def _with_segments(
    each: FoundDocument, segments: dict[tuple[int, int], int]
) -> list[tuple[Statement, int]]:
    """Pair each statement with the segment that holds its bytes."""
    found = []
    for statement in each.statements:
        for (start, end), segment_id in segments.items():
            if start <= statement.start and statement.end <= end:
                found.append((statement, segment_id))
                break
    return found


def _make_current(run: Run, revision: SourceRevision) -> None:
    """Point the worktree at this revision; the one it replaces leaves the index if unused."""
    current = WorktreeDocument.objects.filter(
        scope_id=run.scope_id, worktree_id=run.worktree_id, path_id=revision.path_id
    ).first()
    if current is None:
        WorktreeDocument.objects.create(
            scope_id=run.scope_id,
            worktree_id=run.worktree_id,
            path_id=revision.path_id,
            revision=revision,
        )
    elif current.revision_id != revision.pk:
        replaced = current.revision_id
        current.revision = revision
        current.save(update_fields=["revision"])
        _forget_unused(run.scope_id, [replaced])
    search_entries.write_section_entries(run.scope_id, revision)


def _forget_unused(scope_id: int, revision_ids: Collection[int]) -> None:
    """Remove search entries of revisions that no worktree has any more; evidence stays."""
    used = WorktreeDocument.objects.filter(scope_id=scope_id, revision_id__in=revision_ids)
    unused = set(revision_ids) - set(used.values_list("revision_id", flat=True))
    search_entries.remove_section_entries(scope_id, unused)


def remove_missing(run: Run, present: Collection[bytes]) -> int:
    """Drop from the worktree what HEAD no longer has; its evidence and candidates stay."""
    rows = WorktreeDocument.objects.filter(
        scope_id=run.scope_id, worktree_id=run.worktree_id
    ).select_related("path")
    gone = [row for row in rows if bytes(row.path.raw) not in present]
    revisions = {row.revision_id for row in gone}
    WorktreeDocument.objects.filter(pk__in=[row.pk for row in gone]).delete()
    _forget_unused(run.scope_id, revisions)
    return len(gone)
