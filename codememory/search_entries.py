"""What of segments, candidates and memories goes into the index; called in their transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from codememory.models import (
    Candidate,
    EntryKind,
    EvidenceLink,
    EvidenceSegment,
    Memory,
    SourceRevision,
)
from codememory.search.change_fields import text_impacts, text_neighbours
from codememory.search.entries import NewEntry, remove_entries, write_entries
from collectors.values import Statement


def write_section_entries(scope_id: int, revision: SourceRevision) -> int:
    """Index the segments of a document revision; returns how many rows that changed."""
    segments = EvidenceSegment.objects.filter(scope_id=scope_id, revision=revision)
    entries = []
    for segment in segments.select_related("revision__path"):
        texts = section_texts(segment)
        impacts, neighbours = text_impacts(texts), text_neighbours(texts)
        entries.append(NewEntry(EntryKind.SECTION, segment.pk, impacts, neighbours=neighbours))
    return write_entries(scope_id, entries)


def section_texts(segment: EvidenceSegment) -> dict[str, str]:
    """A segment by the fields it is indexed by. The path of its revision must be loaded."""
    return {
        "heading": "\n".join(segment.heading_path),
        "body": bytes(segment.content).decode("utf-8", "replace"),
        "path": bytes(segment.revision.path.raw).decode("utf-8", "backslashreplace"),
    }


def remove_section_entries(scope_id: int, revision_ids: Collection[int]) -> int:
    """Take the segments of these revisions out of the index; the evidence itself stays."""
    segments = EvidenceSegment.objects.filter(scope_id=scope_id, revision_id__in=revision_ids)
    return remove_entries(scope_id, EntryKind.SECTION, list(segments.values_list("pk", flat=True)))


def claim_texts(statement: str, link: EvidenceLink | None) -> dict[str, str]:
    """A claim by the fields it is indexed by: `link` is its first citation, with the segment."""
    texts = {"body": statement}
    if link is not None:
        texts["heading"] = "\n".join(link.segment.heading_path)
    return texts


def write_candidate_entries(scope_id: int, new: Mapping[int, Statement]) -> int:
    """Index candidates that were just proposed."""
    links = EvidenceLink.objects.filter(scope_id=scope_id, candidate_id__in=list(new))
    link_of = {link.candidate_id: link for link in links.select_related("segment")}
    candidates = Candidate.objects.filter(scope_id=scope_id, pk__in=list(new))
    entries = [
        _claim_entry(
            EntryKind.CANDIDATE,
            candidate,
            claim_texts(candidate.statement, link_of.get(candidate.pk)),
        )
        for candidate in candidates
    ]
    return write_entries(scope_id, entries)


def _claim_entry(kind: EntryKind, claim: Candidate | Memory, texts: dict[str, str]) -> NewEntry:
    said = (claim.type, claim.layer, claim.confidence)
    impacts, neighbours = text_impacts(texts), text_neighbours(texts)
    return NewEntry(kind, claim.pk, impacts, *said, neighbours=neighbours)


def write_memory_entry(memory: Memory) -> None:
    """Index an active memory; call inside the transaction that promoted it."""
    link = memory.evidence_links.select_related("segment").order_by("pk").first()
    texts = claim_texts(memory.statement, link)
    write_entries(memory.scope_id, [_claim_entry(EntryKind.MEMORY, memory, texts)])


def remove_memory_entry(memory: Memory) -> None:
    """Take a memory that is no longer active out of the index."""
    remove_entries(memory.scope_id, EntryKind.MEMORY, [memory.pk])
