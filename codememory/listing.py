"""Lists rows of one kind, newest last, with a keyset cursor: the `list` command, REST and MCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from codememory.checkout import Checkout
from codememory.claim_results import CANDIDATE_STANDING, MEMORY_STANDING, memory_terms
from codememory.cursors import cursor_after, row_of
from codememory.models import (
    Candidate,
    CandidateState,
    EvidenceSegment,
    FileChange,
    GapRecord,
    Memory,
    MemoryState,
    Project,
    SourceRevision,
    WorktreeDocument,
)
from codememory.path_filter import at_or_below, of_paths
from codememory.paths import raw_path, shown_path
from codememory.serving import serves_links, serves_segment
from collectors.values import GapReason

KINDS = ("documents", "changes", "segments", "candidates", "memories", "gaps")
MAX_LIMIT = 500
CLAIM_FILTERS: tuple[str, ...] = (
    "state",
    "type",
    "modality",
)  # each with the values it keeps; none: all
GAP_FILTERS: tuple[str, ...] = ("reason",)
GAP_REASONS = tuple(reason.value for reason in GapReason)


def document_row(revision: SourceRevision) -> dict[str, Any]:
    return {
        "id": f"D{revision.pk}",
        "path": shown_path(bytes(revision.path.raw)),
        "object_id": revision.object_oid,
        "size": revision.size,
        "is_instruction_file": revision.is_instruction_file,
    }


def change_row(row: FileChange) -> dict[str, Any]:
    content = row.content_change
    return {
        "id": f"F{row.pk}",
        "commit": row.commit.oid,
        "parent_index": row.parent_index,
        "kind": row.kind,
        "old_path": shown_path(bytes(row.old_path.raw)) if row.old_path else None,
        "new_path": shown_path(bytes(row.new_path.raw)) if row.new_path else None,
        "similarity": row.similarity,
        "path_class": row.path_class,
        "content_class": content.content_class if content else None,
        "logical_change": f"L{row.logical_change_id}" if row.logical_change_id else None,
        "evidence_ids": evidence_ids(row),
    }


def evidence_ids(row: FileChange, most: int = 50) -> list[str]:
    """Return the evidence ids of a file change's hunks: the after side, else the before side."""
    if row.content_change is None:
        return []
    hunks = row.content_change.hunks()
    numbers = row.hunk_numbers or range(1, len(hunks) + 1)
    return [
        f"{'A' if hunks[number - 1].new_lines else 'B'}{row.content_change_id}.{number}"
        for number in list(numbers)[:most]
    ]


def segment_row(row: EvidenceSegment) -> dict[str, Any]:
    return {
        "id": f"S{row.pk}",
        "document": f"D{row.revision_id}",
        "path": shown_path(bytes(row.revision.path.raw)),
        "kind": row.kind,
        "heading_path": row.heading_path,
        "line_range": [row.first_line, row.last_line],
        "byte_range": [row.byte_start, row.byte_end],
        "sha256": bytes(row.sha256).hex(),
        "is_truncated": row.is_truncated,
    }


def candidate_row(row: Candidate) -> dict[str, Any]:
    return {
        "id": f"C{row.pk}",
        "state": row.state,
        "standing": CANDIDATE_STANDING[CandidateState(row.state)],
        **_claim_fields(row),
        "flags": row.flags,
    }


def memory_row(row: Memory) -> dict[str, Any]:
    return {
        "id": f"M{row.pk}",
        "state": row.state,
        "standing": MEMORY_STANDING[MemoryState(row.state)],
        **_claim_fields(row),
        **memory_terms(row),
    }


def gap_row(row: GapRecord) -> dict[str, Any]:
    """What was not read and why: names and numbers alone, none of its content."""
    return {
        "id": f"G{row.pk}",
        "reason": row.reason,
        "source": row.source,
        "path": shown_path(bytes(row.path.raw)) if row.path else None,
        "object_id": row.object_oid,
        "commit": row.commit_oid,
        "detail": row.detail,
    }


def _claim_fields(row: Candidate | Memory) -> dict[str, Any]:
    return {
        "type": row.type,
        "modality": row.modality,
        "statement": row.statement,
        "confidence": row.confidence,
        "evidence_ids": [f"S{link.segment_id}" for link in row.evidence_links.all()],
    }


def _rows(
    kind: str, scope_id: int, path: bytes | None, kept: Mapping[str, Sequence[str]]
) -> QuerySet[Any]:
    asked = at_or_below(scope_id, path) if path is not None else None
    if kind == "documents":
        rows = WorktreeDocument.objects.select_related("revision__path")
        rows = rows.filter(scope_id=scope_id)
        return rows if asked is None else rows.filter(path_id__in=asked)
    if kind == "changes":
        found = FileChange.objects.select_related(
            "commit", "old_path", "new_path", "content_change"
        ).filter(scope_id=scope_id)
        return found if asked is None else found.filter(of_paths(asked))
    if kind == "segments":
        segments = EvidenceSegment.objects.select_related("revision", "revision__path")
        segments = segments.filter(scope_id=scope_id)
        return segments if asked is None else segments.filter(revision__path_id__in=asked)
    if kind == "gaps":
        gaps = GapRecord.objects.select_related("path").filter(scope_id=scope_id)
        gaps = gaps if asked is None else gaps.filter(path_id__in=asked)
        return gaps.filter(**_values(kept, GAP_FILTERS))
    model: Any = Candidate if kind == "candidates" else Memory
    claims: QuerySet[Any] = model.objects.filter(scope_id=scope_id).prefetch_related(
        "evidence_links__segment__revision__path"
    )
    if kind == "memories":
        claims = claims.select_related("candidate")  # its own words, where the memory has others
    claims = claims.filter(**_values(kept, CLAIM_FILTERS))
    if asked is not None:
        claims = claims.filter(evidence_links__segment__revision__path_id__in=asked).distinct()
    return claims


def _values(kept: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, Sequence[str]]:
    return {f"{name}__in": kept[name] for name in names if kept.get(name)}


def _served(project: Project, kind: str, rows: QuerySet[Any], most: int) -> list[Any]:
    """The first rows, without those that quote what the policy keeps from being served."""
    if kind not in SERVED:
        return list(rows[:most])
    found: list[Any] = []
    with Checkout(project) as checkout:
        while chunk := list(rows[:most]):
            found += [row for row in chunk if SERVED[kind](checkout, row)]
            if len(found) >= most or len(chunk) < most:
                break
            rows = rows.filter(pk__gt=chunk[-1].pk)
    return found[:most]


def _serves_claim(checkout: Checkout, claim: Candidate | Memory) -> bool:
    return serves_links(checkout, list(claim.evidence_links.all()))


# Kinds whose rows hold words of documents, and whether one of them is served.
SERVED: dict[str, Callable[[Checkout, Any], bool]] = {
    "segments": serves_segment,
    "candidates": _serves_claim,
    "memories": _serves_claim,
}
SHOW: dict[str, Callable[[Any], dict[str, Any]]] = {
    "documents": lambda row: document_row(row.revision),
    "changes": change_row,
    "segments": segment_row,
    "candidates": candidate_row,
    "memories": memory_row,
    "gaps": gap_row,
}


def list_rows(
    project: Project,
    kind: str,
    *,
    path: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
    kept: Mapping[str, Sequence[str]] = {},
) -> dict[str, Any]:
    """Return `{"rows": [...], "next": cursor or null}`. Raises BadCursorError.

    `path` keeps what is about that file or anything below that folder; `kept` narrows candidates
    and memories by CLAIM_FILTERS, gaps by GAP_FILTERS. A cursor is of one such question only.
    """
    limit = max(1, min(limit, MAX_LIMIT))
    rows = _rows(kind, project.scope_id, raw_path(path) if path is not None else None, kept)
    question = (project.pk, kind, path, sorted((k, sorted(v)) for k, v in kept.items() if v))
    if cursor is not None:
        rows = rows.filter(pk__gt=row_of(cursor, *question))
    page = _served(project, kind, rows.order_by("pk"), limit + 1)
    return {
        "rows": [SHOW[kind](row) for row in page[:limit]],
        "next": cursor_after(page[limit - 1].pk, *question) if len(page) > limit else None,
    }
