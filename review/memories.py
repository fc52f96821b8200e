"""Memories made, ended and restored: the only code that makes one active.

Only `review.actions` calls it, with the decision that does so.
"""

from __future__ import annotations

from django.db.models import F

from codememory.models import (
    Candidate,
    CandidateState,
    EvidenceLink,
    Memory,
    MemoryState,
    ReviewDecision,
)
from codememory.search_entries import remove_memory_entry, write_memory_entry


def remember(candidate: Candidate, decision: ReviewDecision) -> Memory:
    """Make the memory that a promoting decision is for, with the candidate's evidence."""
    memory = Memory.objects.create(
        scope_id=candidate.scope_id,
        candidate=candidate,
        decision=decision,
        decision_action=decision.action,
        type=candidate.type,
        modality=candidate.modality,
        statement=candidate.statement if decision.wording is None else decision.wording,
        subject=candidate.subject,
        layer=candidate.layer,
        confidence=candidate.confidence,
        narrow_kind=decision.narrow_kind,
        narrow_to=decision.narrow_to,
        context=decision.context,
    )
    cited = EvidenceLink.objects.filter(scope_id=candidate.scope_id, candidate=candidate)
    EvidenceLink.objects.bulk_create(
        EvidenceLink(
            scope_id=link.scope_id,
            memory=memory,
            segment_id=link.segment_id,
            byte_start=link.byte_start,
            byte_end=link.byte_end,
        )
        for link in cited
    )
    write_memory_entry(memory)
    return memory


def memory_of(decision: ReviewDecision) -> Memory | None:
    return Memory.objects.filter(scope_id=decision.scope_id, decision=decision).first()


def end_memory(memory: Memory, state: MemoryState, decision: ReviewDecision) -> None:
    Memory.objects.filter(scope_id=memory.scope_id, pk=memory.pk, state=MemoryState.ACTIVE).update(
        state=state, ended_by=decision
    )
    remove_memory_entry(memory)


def restore_memory(memory: Memory) -> None:
    Memory.objects.filter(
        scope_id=memory.scope_id, pk=memory.pk, state=MemoryState.SUPERSEDED
    ).update(state=MemoryState.ACTIVE, ended_by=None)
    write_memory_entry(memory)


def move_candidate(candidate: Candidate, old: CandidateState, new: CandidateState) -> None:
    """Let the candidate of a memory that ended or came back say so."""
    Candidate.objects.filter(scope_id=candidate.scope_id, pk=candidate.pk, state=old).update(
        state=new, version=F("version") + 1
    )
