"""Shows segments, candidates and memories as results: text, standing, verdict, evidence."""

from __future__ import annotations

from typing import Any

from codememory.change_results import HUNKS_DIFFER
from codememory.checkout import Checkout
from codememory.models import (
    Candidate,
    CandidateState,
    EvidenceLink,
    EvidenceSegment,
    Memory,
    MemoryState,
)
from codememory.narrowing import applies_to
from codememory.paths import shown_path
from codememory.serving import serves_links, serves_segment
from codememory.verdict_of import judge_stored_segment
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


def section_result(checkout: Checkout, segment_id: int) -> dict[str, Any] | None:
    """Return the result of one document segment; None when it is not stored or served any more."""
    segment = (
        EvidenceSegment.objects.filter(scope_id=checkout.scope_id, pk=segment_id)
        .select_related("revision", "revision__path")
        .first()
    )
    if segment is None or not serves_segment(checkout, segment):
        return None
    verdict = judge_stored_segment(checkout, segment)
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
        **_verdict_fields(verdict),
    }


def _verdict_fields(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.verdict.value,
        "verdict_method": verdict.method.value,
        "verdict_path": shown_path(verdict.path),
    }


def claim_verdict(checkout: Checkout, links: list[EvidenceLink]) -> dict[str, Any]:
    """Judge a claim by its evidence: whether what was said still stands where it was said."""
    verdicts = [judge_stored_segment(checkout, link.segment) for link in links]
    if not verdicts:
        return {"verdict": "UNKNOWN", "verdict_method": "SOURCE_UNAVAILABLE", "verdict_path": None}
    whole = aggregate(verdicts)
    lead = next((verdict for verdict in verdicts if verdict.verdict == whole.verdict), None)
    if lead is not None:
        return _verdict_fields(lead)
    fields = _verdict_fields(verdicts[0])
    return {**fields, "verdict": whole.verdict.value, "verdict_method": HUNKS_DIFFER}


def _claim(
    checkout: Checkout, claim: Candidate | Memory, links: list[EvidenceLink]
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
        **claim_verdict(checkout, links),
    }


def _with_terms(claim: Candidate | Memory) -> str:
    """A claim's words; a memory that does not hold everywhere or always says so before them."""
    if not isinstance(claim, Memory):
        return claim.statement
    terms = [f"depends on context: {claim.context}"] if claim.context else []
    if claim.narrow_kind:
        terms.insert(0, f"only in {claim.narrow_kind.lower()} {claim.narrow_to}")
    return f"({'; '.join(terms)}) {claim.statement}" if terms else claim.statement


def _links(scope_id: int, **claim: int) -> list[EvidenceLink]:
    rows = EvidenceLink.objects.filter(scope_id=scope_id, **claim)
    return list(rows.select_related("segment__revision__path").order_by("pk"))


def candidate_result(checkout: Checkout, candidate_id: int) -> dict[str, Any] | None:
    """Return the result of one candidate: provisional until a person decides."""
    row = Candidate.objects.filter(scope_id=checkout.scope_id, pk=candidate_id).first()
    if row is None:
        return None
    links = _links(checkout.scope_id, candidate_id=candidate_id)
    if not serves_links(checkout, links):
        return None
    return {
        "kind": "candidate",
        "id": f"C{row.pk}",
        "standing": CANDIDATE_STANDING[CandidateState(row.state)],
        "flags": row.flags,
        **_claim(checkout, row, links),
    }


def memory_result(checkout: Checkout, memory_id: int) -> dict[str, Any] | None:
    """Return the result of one memory: its own state, and apart from it its evidence's verdict."""
    rows = Memory.objects.filter(scope_id=checkout.scope_id).select_related("candidate")
    row = rows.filter(pk=memory_id).first()
    if row is None:
        return None
    links = _links(checkout.scope_id, memory_id=memory_id)
    if not serves_links(checkout, links):
        return None
    return {
        "kind": "memory",
        "id": f"M{row.pk}",
        "state": row.state,
        "standing": MEMORY_STANDING[MemoryState(row.state)],
        **memory_terms(row),
        **_claim(checkout, row, links),
    }


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
