"""Shows segments, candidates and memories as results: text, standing, verdict, evidence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from codememory.change_results import HUNKS_DIFFER
from codememory.checkout import Checkout
from codememory.models import (
    Candidate,
    CandidateState,
    EntryKind,
    EvidenceLink,
    EvidenceSegment,
    Memory,
    MemoryState,
)
from codememory.narrowing import applies_to
from codememory.paths import shown_path
from codememory.serving import serves_links, serves_segment
from codememory.verdict_of import MovedTexts, judge_stored_segment
from codememory.verdicts import Verdict, aggregate

SNIPPET_CHARACTERS = 600
TITLE_CHARACTERS = 120

CANDIDATE_STANDING = {
    CandidateState.PENDING: "provisional",
    CandidateState.DEFERRED: "provisional",
    CandidateState.PROMOTED: "reviewed",
    CandidateState.REJECTED: "archived",
    CandidateState.SUPERSEDED: "superseded",
}
MEMORY_STANDING = {
    MemoryState.ACTIVE: "reviewed",
    MemoryState.SUPERSEDED: "superseded",
    MemoryState.ARCHIVED: "archived",
}


def _excerpt(content: bytes) -> str:
    text = content.decode("utf-8", "backslashreplace").strip()
    return text if len(text) <= SNIPPET_CHARACTERS else text[:SNIPPET_CHARACTERS] + " …"


def text_results(
    checkout: Checkout, wanted: Collection[tuple[str, int]]
) -> dict[tuple[str, int], dict[str, Any]]:
    """The results of segments, candidates and memories by kind and id, read together.

    What is not stored or served any more is left out.
    """
    ids = {kind: [pk for of, pk in wanted if of == kind] for kind in _SHOW}
    found = {kind: _SHOW[kind](checkout, pks) for kind, pks in ids.items() if pks}
    return {(kind, pk): one for kind, of_kind in found.items() for pk, one in of_kind.items()}


def section_results(checkout: Checkout, ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """The results of document segments by id."""
    rows = EvidenceSegment.objects.filter(scope_id=checkout.scope_id)
    segments = rows.select_related("revision__path").in_bulk(ids)
    served = [segment for segment in segments.values() if serves_segment(checkout, segment)]
    moved = MovedTexts(checkout, served)
    return {segment.pk: _section(checkout, segment, moved) for segment in served}


def _section(checkout: Checkout, segment: EvidenceSegment, moved: MovedTexts) -> dict[str, Any]:
    path = shown_path(bytes(segment.revision.path.raw))
    heading = " > ".join(segment.heading_path)
    return {
        "kind": "section",
        "id": f"S{segment.pk}",
        "commit": None,
        "commits": [],
        "old_path": None,
        "new_path": path,
        "title": f"{path} > {heading}" if heading else path,
        "snippet": _excerpt(bytes(segment.content)),
        "lines": [segment.first_line, segment.last_line],
        "is_instruction_file": segment.revision.is_instruction_file,
        "standing": "observed",
        "evidence_ids": [f"S{segment.pk}"],
        **_verdict_fields(judge_stored_segment(checkout, segment, moved)),
    }


def _verdict_fields(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.verdict.value,
        "verdict_method": verdict.method.value,
        "verdict_path": shown_path(verdict.path),
    }


def claim_verdict(
    checkout: Checkout, links: Sequence[EvidenceLink], moved: MovedTexts | None = None
) -> dict[str, Any]:
    """Judge a claim by its evidence: whether what was said still stands where it was said."""
    verdicts = [judge_stored_segment(checkout, link.segment, moved) for link in links]
    if not verdicts:
        return {"verdict": "UNKNOWN", "verdict_method": "SOURCE_UNAVAILABLE", "verdict_path": None}
    whole = aggregate(verdicts)
    lead = next((verdict for verdict in verdicts if verdict.verdict == whole.verdict), None)
    if lead is not None:
        return _verdict_fields(lead)
    fields = _verdict_fields(verdicts[0])
    return {**fields, "verdict": whole.verdict.value, "verdict_method": HUNKS_DIFFER}


def _claim(
    checkout: Checkout,
    claim: Candidate | Memory,
    links: Sequence[EvidenceLink],
    moved: MovedTexts,
) -> dict[str, Any]:
    paths = dict.fromkeys(shown_path(bytes(link.segment.revision.path.raw)) for link in links)
    said = _with_terms(claim)
    return {
        "commit": None,
        "commits": [],
        "old_path": None,
        "new_path": next(iter(paths), None),
        "title": said if len(said) < TITLE_CHARACTERS else said[: TITLE_CHARACTERS - 1] + "…",
        "snippet": said,
        "type": claim.type,
        "modality": claim.modality,
        "confidence": claim.confidence,
        "evidence_ids": [f"S{link.segment_id}" for link in links],
        **claim_verdict(checkout, links, moved),
    }


def _with_terms(claim: Candidate | Memory) -> str:
    """A claim's words; a memory that does not hold everywhere or always says so before them."""
    if not isinstance(claim, Memory):
        return claim.statement
    terms = [f"depends on context: {claim.context}"] if claim.context else []
    if claim.narrow_kind:
        terms.insert(0, f"only in {claim.narrow_kind.lower()} {claim.narrow_to}")
    return f"({'; '.join(terms)}) {claim.statement}" if terms else claim.statement


def _served_links(
    checkout: Checkout, claim: str, ids: Collection[int]
) -> tuple[dict[int, list[EvidenceLink]], MovedTexts]:
    """The evidence of each claim that may be shown, and what is asked of all of it together."""
    rows = EvidenceLink.objects.filter(scope_id=checkout.scope_id, **{f"{claim}__in": list(ids)})
    of_claim: dict[int, list[EvidenceLink]] = {pk: [] for pk in ids}
    for link in rows.select_related("segment__revision__path").order_by("pk"):
        of_claim[getattr(link, claim)].append(link)
    served = {pk: links for pk, links in of_claim.items() if serves_links(checkout, links)}
    segments = [link.segment for links in served.values() for link in links]
    return served, MovedTexts(checkout, segments)


def candidate_results(checkout: Checkout, ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """The results of candidates by id: provisional until a person decides."""
    rows = Candidate.objects.filter(scope_id=checkout.scope_id).in_bulk(ids)
    served, moved = _served_links(checkout, "candidate_id", rows)
    return {
        pk: {
            "kind": "candidate",
            "id": f"C{pk}",
            "standing": CANDIDATE_STANDING[CandidateState(rows[pk].state)],
            "flags": rows[pk].flags,
            **_claim(checkout, rows[pk], links, moved),
        }
        for pk, links in served.items()
    }


def memory_results(checkout: Checkout, ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """The results of memories by id: the own state of each, and its evidence's verdict."""
    memories = Memory.objects.filter(scope_id=checkout.scope_id).select_related("candidate")
    rows = memories.in_bulk(ids)
    served, moved = _served_links(checkout, "memory_id", rows)
    return {
        pk: {
            "kind": "memory",
            "id": f"M{pk}",
            "state": rows[pk].state,
            "standing": MEMORY_STANDING[MemoryState(rows[pk].state)],
            **memory_terms(rows[pk]),
            **_claim(checkout, rows[pk], links, moved),
        }
        for pk, links in served.items()
    }


def candidate_result(checkout: Checkout, candidate_id: int) -> dict[str, Any] | None:
    """The result of one candidate; None when it is not stored or served any more."""
    return candidate_results(checkout, [candidate_id]).get(candidate_id)


def memory_result(checkout: Checkout, memory_id: int) -> dict[str, Any] | None:
    """The result of one memory; None when it is not stored or served any more."""
    return memory_results(checkout, [memory_id]).get(memory_id)


def memory_terms(row: Memory) -> dict[str, Any]:
    """Where a memory holds, on what it depends, and the evidence's own words where it has others.

    Each is null where there is nothing to say: it holds everywhere, always, in those words.
    """
    is_edited = row.statement != row.candidate.statement
    return {
        "applies_to": applies_to(row),
        "depends_on_context": row.context or None,
        "edited_from": row.candidate.statement if is_edited else None,
    }


_SHOW = {
    EntryKind.SECTION.value: section_results,
    EntryKind.CANDIDATE.value: candidate_results,
    EntryKind.MEMORY.value: memory_results,
}
