"""What a reviewer decides: promote, reject, undo. The only code that makes a memory active.

Each action is one transaction: the candidate's state by compare-and-swap, the decision, the memory
with its evidence and search entry, and the audit row. Views call it with a signed-in actor.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import F

from codememory import audit
from codememory.candidates import shown_digest
from codememory.models import (
    PROMOTABLE_MODALITIES,
    PROMOTABLE_TYPES,
    Actor,
    Candidate,
    CandidateState,
    DecisionAction,
    EvidenceLink,
    Memory,
    MemoryState,
    ReviewDecision,
)
from codememory.search_entries import remove_memory_entry, write_memory_entry

MAX_REASON = 500
UNDOABLE = {
    CandidateState.PROMOTED: DecisionAction.PROMOTE,
    CandidateState.REJECTED: DecisionAction.REJECT,
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What the reviewer had in view: the candidate's version and the digest of what was shown."""

    version: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Decided:
    decision: ReviewDecision


@dataclass(frozen=True, slots=True)
class Changed:
    """Somebody or something changed the candidate since it was shown. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A rule forbids the decision; `reason` is a sentence for the reviewer. Nothing was written."""

    reason: str


Outcome = Decided | Changed | Refused


def why_not_promotable(candidate: Candidate) -> str | None:
    """Say why a candidate can never become a memory; None when it can."""
    if candidate.modality not in PROMOTABLE_MODALITIES:
        return f"{_with_article(candidate.modality)} is never promoted as a rule."
    if candidate.type not in PROMOTABLE_TYPES:
        return f"Knowledge of the type {candidate.get_type_display().lower()} is no rule."
    return None


@transaction.atomic
def promote_candidate(candidate: Candidate, shown: Shown, *, actor: Actor) -> Outcome:
    """Make the candidate an active memory that cites the same evidence."""
    current = _lock(candidate, CandidateState.PENDING, shown)
    if current is None:
        return Changed()
    if refusal := why_not_promotable(current):
        return Refused(refusal)
    decision = _decide(current, DecisionAction.PROMOTE, CandidateState.PROMOTED, shown, actor)
    memory = Memory.objects.create(
        scope_id=current.scope_id,
        candidate=current,
        decision=decision,
        type=current.type,
        modality=current.modality,
        statement=current.statement,
        subject=current.subject,
        layer=current.layer,
        confidence=current.confidence,
    )
    cited = EvidenceLink.objects.filter(scope_id=current.scope_id, candidate=current)
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
    _record(decision, memory=memory.pk)
    return Decided(decision)


@transaction.atomic
def reject_candidate(candidate: Candidate, shown: Shown, *, reason: str, actor: Actor) -> Outcome:
    """Turn the candidate down, with the reviewer's reason."""
    reason = " ".join(reason.split())[:MAX_REASON]
    if not reason:
        return Refused("Say in a few words why, then reject again.")
    current = _lock(candidate, CandidateState.PENDING, shown)
    if current is None:
        return Changed()
    decision = _decide(
        current, DecisionAction.REJECT, CandidateState.REJECTED, shown, actor, reason=reason
    )
    _record(decision)
    return Decided(decision)


@transaction.atomic
def undo_decision(candidate: Candidate, shown: Shown, *, actor: Actor) -> Outcome:
    """Take the candidate's standing decision back: it is pending again, its memory archived."""
    state = CandidateState(candidate.state)
    if state not in UNDOABLE:
        return Changed()
    current = _lock(candidate, state, shown)
    if current is None:
        return Changed()
    undone = (
        ReviewDecision.objects.filter(
            scope_id=current.scope_id, candidate=current, action=UNDOABLE[state]
        )
        .order_by("-id")
        .first()
    )
    memory = Memory.objects.filter(scope_id=current.scope_id, decision=undone).first()
    if memory and memory.state != MemoryState.ACTIVE:
        return Refused(f"M{memory.pk} is {memory.state.lower()}: this cannot be taken back here.")
    decision = _decide(
        current, DecisionAction.UNDO, CandidateState.PENDING, shown, actor, undoes=undone
    )
    if memory:
        _archive(memory, decision)
    _record(decision, undoes=undone.pk if undone else None, memory=memory.pk if memory else None)
    return Decided(decision)


def _lock(candidate: Candidate, state: CandidateState, shown: Shown) -> Candidate | None:
    """Lock the row if it is still exactly what was shown."""
    current = (
        Candidate.objects.select_for_update()
        .filter(scope_id=candidate.scope_id, pk=candidate.pk, state=state, version=shown.version)
        .first()
    )
    return current if current and bytes(shown_digest(current)) == shown.digest else None


def _decide(
    candidate: Candidate,
    action: DecisionAction,
    state: CandidateState,
    shown: Shown,
    actor: Actor,
    *,
    reason: str = "",
    undoes: ReviewDecision | None = None,
) -> ReviewDecision:
    """Move the locked candidate on and write the decision; a check refuses actors but a person."""
    Candidate.objects.filter(scope_id=candidate.scope_id, pk=candidate.pk).update(
        state=state, version=F("version") + 1
    )
    return ReviewDecision.objects.create(
        scope_id=candidate.scope_id,
        candidate=candidate,
        action=action,
        actor=actor,
        actor_kind=actor.kind,
        reason=reason,
        candidate_version=shown.version,
        shown_digest=shown.digest,
        undoes=undoes,
    )


def _archive(memory: Memory, decision: ReviewDecision) -> None:
    Memory.objects.filter(scope_id=memory.scope_id, pk=memory.pk, state=MemoryState.ACTIVE).update(
        state=MemoryState.ARCHIVED, ended_by=decision
    )
    remove_memory_entry(memory)


def _record(decision: ReviewDecision, **facts: object) -> None:
    audit.record(
        f"candidate.{decision.action.lower()}",
        scope=decision.scope,
        actor=decision.actor,
        subject=f"C{decision.candidate_id}",
        decision=decision.pk,
        **{name: fact for name, fact in facts.items() if fact is not None},
    )


def _with_article(modality: str) -> str:
    word = modality.lower()
    return f"{'An' if word[0] in 'aeiou' else 'A'} {word}"
