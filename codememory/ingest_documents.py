"""Writes documents as rows: revision, sections, segments, search entries and candidates, inside
the caller's fenced transaction. A document whose content is stored already changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from codememory import search_entries
from codememory.bulk import insert_rows, text_array
from codememory.candidate_places import follow_places
from codememory.candidates import propose
from codememory.models import (
    DocumentSection,
    EvidenceSegment,
    GapRecord,
    Run,
    SourceKind,
    SourceRevision,
    WorktreeDocument,
)
from codememory.stored_gaps import store_gaps, store_paths
from collectors.documents import OWN_BLOCK, is_instruction_file
from collectors.values import Document, Gap, GapReason, Segment, Statement

DOCUMENT_REVISION = 2  # of the rules that cut documents into sections and segments

_TREE_REASONS = {
    GapReason.EXCLUDED.value,
    GapReason.PROTECTED.value,
    GapReason.SYMLINK_NOT_FOLLOWED.value,
    GapReason.UNSUPPORTED_FORMAT.value,
}


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document of HEAD with the statements found in it."""

    document: Document
    statements: Sequence[Statement]


def store_documents(
    run: Run,
    algorithm: str,
    found: Sequence[FoundDocument],
    gaps: Sequence[Gap],
    earlier: Collection[int] = (),
) -> dict[str, int]:
    """Write a batch of documents and gaps; returns how many rows of each kind are new.

    Sentences whose keys are in `earlier` stood in the documents before and propose nothing new.
    """
    scope_id = run.scope_id
    raw = {f.document.path for f in found} | {gap.path for gap in gaps if gap.path is not None}
    raw |= {gap.path for f in found for gap in f.document.gaps if gap.path is not None}
    paths = store_paths(scope_id, raw)
    counts = {"revisions": 0, "segments": 0, "candidates": 0}
    documents = [(paths[f.document.path], f.document.path, f.document) for f in found]
    ids, counts["revisions"] = store_revisions(run, algorithm, documents)
    rows = SourceRevision.objects.select_related("path").in_bulk(list(ids.values()))
    touched: set[int] = set()
    for each in found:
        document = each.document
        revision = rows[ids[paths[document.path], document.sha256]]
        segments, new_segments = _store_structure(revision, document)
        counts["segments"] += new_segments
        touched |= {revision.pk, _make_current(run, revision)}
        new = propose(scope_id, _with_segments(each, segments), earlier)
        search_entries.write_candidate_entries(scope_id, new)
        counts["candidates"] += len(new)
    follow_places(scope_id, touched)
    all_gaps = [*gaps, *(gap for each in found for gap in each.document.gaps)]
    counts["gaps"] = store_gaps(scope_id, run.pk, SourceKind.DOCUMENTS, all_gaps, paths)
    return counts


def store_revisions(
    run: Run, algorithm: str, documents: Sequence[tuple[int, bytes, Document]]
) -> tuple[dict[tuple[int, bytes], int], int]:
    """Write revisions of documents, given as (path id, path, document), by reference to Git.

    Returns their ids by path id and SHA-256, and how many are new.
    """
    rows = [
        (
            run.scope_id, SourceKind.DOCUMENTS.value, 1, run.worktree_id, path_id, document.oid,
            algorithm, document.sha256, document.size, document.encoding, run.head_oid,
            run.branch_label, run.policy_generation, DOCUMENT_REVISION, is_instruction_file(path),
        )
        for path_id, path, document in documents
    ]  # fmt: skip
    names = [
        "scope", "kind", "schema_revision", "worktree", "path", "object_oid", "object_algorithm",
        "sha256", "size", "encoding", "head_oid", "branch_label", "policy_generation",
        "extractor_revision", "is_instruction_file",
    ]  # fmt: skip
    inserted = insert_rows(SourceRevision, names, rows)
    found = SourceRevision.objects.filter(
        scope_id=run.scope_id,
        kind=SourceKind.DOCUMENTS,
        path_id__in={path_id for path_id, _, _ in documents},
        sha256__in={document.sha256 for _, _, document in documents},
    )
    ids = {
        (path_id, bytes(digest)): pk
        for pk, path_id, digest in found.values_list("pk", "path_id", "sha256")
    }
    return ids, len(inserted)


def _store_structure(
    revision: SourceRevision, document: Document
) -> tuple[dict[tuple[int, int], int], int]:
    """Write sections and segments; returns the segment ids by byte range, and how many are new."""
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
    new = _store_segments(revision, document.segments)
    rows = EvidenceSegment.objects.filter(scope_id=scope_id, revision_id=revision_id)
    ranges = rows.values_list("id", "byte_start", "byte_end")
    return {(start, end): pk for pk, start, end in ranges}, new


def _store_segments(revision: SourceRevision, segments: Sequence[Segment]) -> int:
    rows = [
        (
            revision.scope_id, revision.pk, s.kind, s.start, s.end, s.first_line, s.last_line,
            s.sha256, s.content, text_array(s.heading_path), redactions_json(s), s.is_truncated,
        )
        for s in segments
    ]  # fmt: skip
    names = [
        "scope", "revision", "kind", "byte_start", "byte_end", "first_line", "last_line",
        "sha256", "content", "heading_path", "redactions", "is_truncated",
    ]  # fmt: skip
    return len(insert_rows(EvidenceSegment, names, rows))


def cite_segment(revision: SourceRevision, segment: Segment) -> int:
    """Return the row of a segment of any version, making it: one is kept where it is cited."""
    _store_segments(revision, [segment])
    return EvidenceSegment.objects.get(
        scope_id=revision.scope_id,
        revision=revision,
        byte_start=segment.start,
        byte_end=segment.end,
    ).pk


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


def _make_current(run: Run, revision: SourceRevision) -> int:
    """Point the worktree at this revision; the one it replaces leaves the index if unused.

    Returns the id of that one, or of the revision itself.
    """
    replaced = revision.pk
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
    return replaced


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
    follow_places(run.scope_id, revisions)
    return len(gone)


def forget_gaps(run: Run, oids: Mapping[bytes, str], current: Collection[Gap]) -> int:
    """Remove gaps of the worktree's tree that are none any more; those of history stay.

    `oids` has the documents that are read now, `current` what is not read of the tree.
    """
    known = {(gap.reason.value, gap.path, gap.oid) for gap in current}
    rows = GapRecord.objects.filter(
        scope_id=run.scope_id,
        source=SourceKind.DOCUMENTS,
        commit_oid=None,
        run__worktree_id=run.worktree_id,
    ).select_related("path")
    gone = []
    for row in rows:
        path = bytes(row.path.raw) if row.path is not None else None
        is_document = path is not None and oids.get(path) == row.object_oid
        is_of_tree = row.reason in _TREE_REASONS and not row.detail.startswith(OWN_BLOCK)
        if (row.reason, path, row.object_oid) not in known and (is_of_tree or not is_document):
            gone.append(row.pk)
    return GapRecord.objects.filter(pk__in=gone).delete()[0]
