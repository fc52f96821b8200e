"""One row in full, by its id: a change, document, candidate or memory with what belongs to it.

What is absent, malformed or another project's is None, and the three are never told apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db.models import Q

from codememory.change_results import change_results
from codememory.checkout import Checkout
from codememory.claim_results import claim_verdict
from codememory.listing import candidate_row, change_row, document_row, memory_row
from codememory.models import (
    Candidate,
    DocumentSection,
    EvidenceLink,
    EvidenceSegment,
    FileChange,
    GitCommit,
    LogicalChange,
    Memory,
    Project,
    ReviewDecision,
    SectionChange,
    SourceRevision,
    WorktreeDocument,
)
from codememory.paths import shown_path
from codememory.serving import serves_links, serves_revision
from codememory.verdict_of import judge_file_change
from codememory.verdicts import aggregate

MOST_PARTS = 200  # of each list inside an item: hunks, files, segments, ...
HUNKS_JUDGED = 40  # of one file change
LETTERS = {"changes": "LF", "documents": "D", "candidates": "C", "memories": "M"}
_ID = re.compile(r"([A-Z])([1-9][0-9]{0,17})")

Part = TypeVar("Part")


@dataclass(slots=True)
class _Parts:
    """Cuts the lists of one item to a length, and remembers what was left out."""

    most: int
    omitted: dict[str, int] = field(default_factory=dict)

    def cut(self, name: str, parts: Iterable[Part]) -> list[Part]:
        whole = list(parts)
        if len(whole) > self.most:
            self.omitted[name] = len(whole) - self.most
        return whole[: self.most]


def find_item(
    project: Project, kind: str, item_id: str, *, most: int = MOST_PARTS
) -> dict[str, Any] | None:
    """Return one item of a kind of LETTERS; `most` bounds each list in it (see `omitted`)."""
    match = _ID.fullmatch(item_id)
    if match is None or match[1] not in LETTERS[kind]:
        return None
    parts = _Parts(most)
    with Checkout(project) as checkout:
        found = SHOW[match[1]](checkout, int(match[2]), parts)
        if found is None:
            return None
        return {**found, "judged_head": checkout.head.oid, "omitted": parts.omitted}


# Changes


def _logical_change(checkout: Checkout, number: int, parts: _Parts) -> dict[str, Any] | None:
    result = change_results(checkout, [number], {}).get(number)
    if result is None:
        return None
    change = LogicalChange.objects.get(scope_id=checkout.scope_id, pk=number)
    rows = _file_changes(checkout).filter(logical_change_id=number)
    # As the commit shows it that the result names; the others show the same content.
    rows = rows.filter(commit__oid=result["commit"]).order_by("parent_index", "pk")
    commit = GitCommit.objects.get(scope_id=checkout.scope_id, oid=result["commit"])
    return {
        **result,
        "commits": parts.cut("commits", result["commits"]),
        "added_lines": change.added_lines,
        "removed_lines": change.removed_lines,
        "file_count": change.files,
        "files": parts.cut("files", [change_row(row) for row in rows]),
        "commit_facts": _commit_facts(commit),
    }


def _file_change(checkout: Checkout, number: int, parts: _Parts) -> dict[str, Any] | None:
    row = _file_changes(checkout).filter(pk=number).first()
    if row is None:
        return None
    hunks = row.content_change.hunks() if row.content_change else []
    numbers = list(row.hunk_numbers or range(1, len(hunks) + 1))
    verdicts = judge_file_change(checkout, row, numbers[:HUNKS_JUDGED] or None)
    whole = aggregate(verdicts)
    shown = change_row(row)
    return {
        **shown,
        "evidence_ids": parts.cut("evidence_ids", shown["evidence_ids"]),
        "standing": "observed",
        "rationale": "UNKNOWN",
        "verdict": whole.verdict.value,
        "verdict_counts": {kind.value: count for kind, count in whole.counts.items()},
        "hunks_judged": len(verdicts) if hunks else 0,
        "hunks": parts.cut("hunks", [_hunk(row, number) for number in numbers]),
        "commit_facts": _commit_facts(row.commit),
    }


def _file_changes(checkout: Checkout) -> Any:
    rows = FileChange.objects.filter(scope_id=checkout.scope_id)
    return rows.select_related("commit", "old_path", "new_path", "content_change")


def _hunk(row: FileChange, number: int) -> dict[str, Any]:
    assert row.content_change is not None
    hunk = row.content_change.hunks()[number - 1]
    sides = [("A", hunk.new_lines), ("B", hunk.old_lines)]
    return {
        "number": number,
        "old_lines": [hunk.old_line, hunk.old_lines],  # where it begins, how many
        "new_lines": [hunk.new_line, hunk.new_lines],
        "evidence_ids": [f"{side}{row.content_change_id}.{number}" for side, n in sides if n],
    }


def _commit_facts(commit: GitCommit) -> dict[str, Any]:
    """Attributed metadata: what the commit says of itself, which decides and explains nothing."""
    return {
        "oid": commit.oid,
        "parents": commit.parent_oids,
        "author_name": _text(commit.author_name),
        "author_time": commit.author_time,
        "committer_time": commit.committer_time,
        "message": _text(commit.message),
        "is_message_truncated": commit.is_message_truncated,
    }


def _text(raw: bytes | memoryview) -> str:
    return bytes(raw).decode("utf-8", "backslashreplace")


# Documents


def _document(checkout: Checkout, number: int, parts: _Parts) -> dict[str, Any] | None:
    revision = (
        SourceRevision.objects.filter(scope_id=checkout.scope_id, pk=number)
        .select_related("path")
        .first()
    )
    if revision is None or not serves_revision(checkout, revision):
        return None
    same = {"scope_id": checkout.scope_id, "revision_id": revision.pk}
    sections = DocumentSection.objects.filter(**same).order_by("byte_start", "level")
    segments = EvidenceSegment.objects.filter(**same).order_by("byte_start", "pk")
    is_there = checkout.content(revision.object_oid) is not None
    return {
        **document_row(revision),
        "source_kind": revision.kind,
        "algorithm": revision.object_algorithm,
        "sha256": bytes(revision.sha256).hex(),
        "encoding": revision.encoding,
        "captured_at": revision.captured_at.isoformat(),
        "head_at_capture": revision.head_oid,
        "branch_label": revision.branch_label,
        "extractor_revision": revision.extractor_revision,
        "policy_generation": revision.policy_generation,
        "is_current": WorktreeDocument.objects.filter(**same).exists(),
        "availability": "AVAILABLE" if is_there else "SOURCE_UNAVAILABLE",
        "section_changes": parts.cut("section_changes", _section_changes(revision)),
        "sections": parts.cut("sections", [_section(row) for row in sections]),
        "segments": parts.cut("segments", [_segment(row) for row in segments]),
    }


def _section_changes(revision: SourceRevision) -> list[dict[str, Any]]:
    """What commits did to its sections: how it came to be, then what became of it."""
    rows = SectionChange.objects.filter(scope_id=revision.scope_id).filter(
        Q(new_revision_id=revision.pk) | Q(old_revision_id=revision.pk)
    )
    return [
        {
            "kind": row.kind,
            "commit": row.commit.oid,
            "old_document": f"D{row.old_revision_id}" if row.old_revision_id else None,
            "new_document": f"D{row.new_revision_id}" if row.new_revision_id else None,
            "old_heading_path": row.old_heading_path,
            "new_heading_path": row.new_heading_path,
        }
        for row in rows.select_related("commit").order_by("commit_id", "pk")
    ]


def _section(row: DocumentSection) -> dict[str, Any]:
    return {
        "heading_path": row.heading_path,
        "level": row.level,
        "line_range": [row.first_line, row.last_line],
        "byte_range": [row.byte_start, row.byte_end],
        "sha256": bytes(row.sha256).hex(),
    }


def _segment(row: EvidenceSegment) -> dict[str, Any]:
    return {
        "id": f"S{row.pk}",
        "kind": row.kind,
        "line_range": [row.first_line, row.last_line],
        "byte_range": [row.byte_start, row.byte_end],
        "sha256": bytes(row.sha256).hex(),
        "is_truncated": row.is_truncated,
    }


# Claims


def _candidate(checkout: Checkout, number: int, parts: _Parts) -> dict[str, Any] | None:
    row = Candidate.objects.filter(scope_id=checkout.scope_id, pk=number).first()
    if row is None or not serves_links(checkout, _cited(checkout, candidate_id=row.pk)):
        return None
    memories = Memory.objects.filter(scope_id=checkout.scope_id, candidate_id=row.pk)
    return {
        **candidate_row(row),
        "rule": row.rule,
        "rule_revision": row.rule_revision,
        # The older text that it took the place of, and the commit in which it did.
        "replaces": f"S{row.replaces_id}" if row.replaces_id else None,
        "replaced_in_commit": row.replaced_in_commit,
        "memories": [f"M{pk}" for pk in memories.order_by("pk").values_list("pk", flat=True)],
        **_claim_parts(checkout, row, parts, candidate_id=row.pk),
    }


def _memory(checkout: Checkout, number: int, parts: _Parts) -> dict[str, Any] | None:
    row = Memory.objects.filter(scope_id=checkout.scope_id, pk=number).first()
    if row is None or not serves_links(checkout, _cited(checkout, memory_id=row.pk)):
        return None
    return {
        **memory_row(row),
        "candidate": f"C{row.candidate_id}",
        **_claim_parts(checkout, row, parts, memory_id=row.pk),
    }


def _cited(checkout: Checkout, **by: int) -> list[EvidenceLink]:
    """The evidence of a claim."""
    rows = EvidenceLink.objects.filter(scope_id=checkout.scope_id, **by).order_by("pk")
    return list(rows.select_related("segment__revision__path"))


def _claim_parts(
    checkout: Checkout, claim: Candidate | Memory, parts: _Parts, **cited_by: int
) -> dict[str, Any]:
    """What both kinds of claims have: their evidence, its verdict, and what was decided."""
    links = _cited(checkout, **cited_by)
    candidate_id = claim.candidate_id if isinstance(claim, Memory) else claim.pk
    decisions = ReviewDecision.objects.filter(
        scope_id=checkout.scope_id, candidate_id=candidate_id
    ).order_by("pk")
    return {
        "subject": claim.subject,
        "layer": claim.layer,
        "created_at": claim.created_at.isoformat(),
        "evidence_ids": parts.cut("evidence_ids", [f"S{link.segment_id}" for link in links]),
        "evidence": parts.cut("evidence", [_citation(link) for link in links]),
        "decisions": parts.cut("decisions", [_decision(row) for row in decisions]),
        **claim_verdict(checkout, links),
    }


def _citation(link: EvidenceLink) -> dict[str, Any]:
    segment = link.segment
    return {
        "evidence_id": f"S{segment.pk}",
        "document": f"D{segment.revision_id}",
        "path": shown_path(bytes(segment.revision.path.raw)),
        "heading_path": segment.heading_path,
        "line_range": [segment.first_line, segment.last_line],
        "byte_range": [link.byte_start, link.byte_end],  # of the very sentence
    }


def _decision(row: ReviewDecision) -> dict[str, Any]:
    """What a person decided and why; who it was is the console's to show."""
    return {
        "action": row.action,
        "reason": row.reason,
        "decided_at": row.created_at.isoformat(),
        "supersedes": f"M{row.supersedes_id}" if row.supersedes_id else None,
        "merged_into": _merged_into(row),
    }


def _merged_into(row: ReviewDecision) -> str | None:
    if row.merged_into_memory_id:
        return f"M{row.merged_into_memory_id}"
    return f"C{row.merged_into_id}" if row.merged_into_id else None


SHOW: dict[str, Callable[[Checkout, int, _Parts], dict[str, Any] | None]] = {
    "L": _logical_change,
    "F": _file_change,
    "D": _document,
    "C": _candidate,
    "M": _memory,
}
