"""What a reviewer decides on one candidate. No other code decides.

Each action is one transaction: the candidate's state by compare-and-swap, the decision, the memory
with its evidence and search entry, and the audit row. Views call it with a signed-in actor.
"""

from __future__ import annotations

import unicodedata
import uuid

from django.db import transaction

from codememory.models import (
    PLAN_MODALITIES,
    PROMOTABLE_MODALITIES,
    PROMOTABLE_TYPES,
    Actor,
    Candidate,
    CandidateState,
    DecisionAction,
    Memory,
    MemoryState,
    ReviewDecision,
)
from review.decisions import (
    OPEN_STATES,
    RESULT,
    lock_candidate,
    record_decision,
    standing_decision,
    write_decision,
)
from review.memories import end_memory, memory_of, move_candidate, remember, restore_memory
from review.outcomes import Changed, Decided, Outcome, Refused, Shown, Unsure
from review.rivals import rivals_of

MAX_REASON = 500
BLANK = "\u115f\u1160\u3164\uffa0\u2800"  # letters and signs that are drawn as nothing
PLAN_IS_NO_RULE = "{} is kept as a plan, never as a rule that holds: promote it as a plan."
NO_REASON = "Say in a few words why, then reject again."
# Flags of words that somebody may have written so that an agent obeys them.
LOOK_TWICE = {
    "INSTRUCTION_LIKE": "It addresses an AI.",
    "UNTRUSTED_INSTRUCTIONS": "Its file instructs agents.",
}


def why_not_promotable(candidate: Candidate) -> str | None:
    """Say why a candidate can never become a memory; None when it can."""
    if candidate.modality not in PROMOTABLE_MODALITIES:
        return f"{_with_article(candidate.modality)} is never promoted as a rule."
    if candidate.type not in PROMOTABLE_TYPES:
        return f"Knowledge of the type {candidate.get_type_display().lower()} is no rule."
    return None


def is_plan(claim: Candidate | Memory) -> bool:
    """Whether it was said as a plan or a proposal, which nobody has to have built."""
    return claim.modality in PLAN_MODALITIES


def why_ask_again(candidate: Candidate) -> str | None:
    """Say why one key is not enough to make it a memory; None when it is."""
    why = [said for flag, said in LOOK_TWICE.items() if flag in candidate.flags]
    return " ".join(why) or None


@transaction.atomic
def promote_candidate(
    candidate: Candidate,
    shown: Shown,
    *,
    actor: Actor,
    is_sure: bool = False,
    batch: uuid.UUID | None = None,
) -> Outcome:
    """Make the candidate an active memory that cites the same evidence."""
    current = lock_candidate(candidate, OPEN_STATES, shown, batch)
    if current is None:
        return Changed()
    if refusal := why_not_promotable(current):
        return Refused(refusal)
    if is_plan(current):
        return Refused(PLAN_IS_NO_RULE.format(_with_article(current.modality)))
    if not is_sure and (why := why_ask_again(current)):
        return Unsure(why)
    decision = write_decision(current, DecisionAction.PROMOTE, shown, actor, batch=batch)
    record_decision(decision, memory=remember(current, decision).pk)
    return Decided(decision)


@transaction.atomic
def promote_as_plan(
    candidate: Candidate,
    shown: Shown,
    *,
    actor: Actor,
    is_sure: bool = False,
    batch: uuid.UUID | None = None,
) -> Outcome:
    """Keep a plan or proposal as such: an active memory that nothing calls implemented."""
    current = lock_candidate(candidate, OPEN_STATES, shown, batch)
    if current is None:
        return Changed()
    if refusal := why_not_promotable(current):
        return Refused(refusal)
    if not is_plan(current):
        return Refused(f"{_with_article(current.modality)} is no plan: promote it as it is.")
    if not is_sure and (why := why_ask_again(current)):
        return Unsure(why)
    decision = write_decision(current, DecisionAction.PROMOTE_AS_PLAN, shown, actor, batch=batch)
    record_decision(decision, memory=remember(current, decision).pk)
    return Decided(decision)


@transaction.atomic
def reject_candidate(
    candidate: Candidate,
    shown: Shown,
    *,
    reason: str,
    actor: Actor,
    batch: uuid.UUID | None = None,
) -> Outcome:
    """Turn the candidate down, with the reviewer's reason."""
    reason = one_line(reason)
    if not reason:
        return Refused(NO_REASON)
    current = lock_candidate(candidate, OPEN_STATES, shown)
    if current is None:
        return Changed()
    decision = write_decision(
        current, DecisionAction.REJECT, shown, actor, reason=reason, batch=batch
    )
    record_decision(decision)
    return Decided(decision)


@transaction.atomic
def defer_candidate(
    candidate: Candidate,
    shown: Shown,
    *,
    actor: Actor,
    reason: str = "",
    batch: uuid.UUID | None = None,
) -> Outcome:
    """Put the candidate aside, out of the open ones; it can still be decided on from there."""
    current = lock_candidate(candidate, OPEN_STATES, shown)
    if current is None:
        return Changed()
    if current.state == CandidateState.DEFERRED:
        return Refused(f"C{current.pk} is deferred already.")
    decision = write_decision(
        current, DecisionAction.DEFER, shown, actor, reason=one_line(reason), batch=batch
    )
    record_decision(decision)
    return Decided(decision)


@transaction.atomic
def supersede_memory(
    candidate: Candidate, shown: Shown, *, memory_id: int, actor: Actor, is_sure: bool = False
) -> Outcome:
    """Promote the candidate and end the active memory that it replaces."""
    current = lock_candidate(candidate, OPEN_STATES, shown)
    if current is None:
        return Changed()
    if refusal := why_not_promotable(current):
        return Refused(refusal)
    rival = next((r.memory for r in rivals_of(current) if r.memory.pk == memory_id), None)
    if rival is None:
        return Refused(f"M{memory_id} is not what C{current.pk} would replace.")
    if is_plan(current) and not is_plan(rival):
        return Refused(f"A plan ends no rule: M{rival.pk} holds until something else does.")
    if not is_sure and (why := why_ask_again(current)):
        return Unsure(why)
    decision = write_decision(current, DecisionAction.SUPERSEDE, shown, actor, supersedes=rival)
    memory = remember(current, decision)
    end_memory(rival, MemoryState.SUPERSEDED, decision)
    move_candidate(rival.candidate, CandidateState.PROMOTED, CandidateState.SUPERSEDED)
    record_decision(decision, memory=memory.pk, ended=rival.pk)
    return Decided(decision)


@transaction.atomic
def undo_decision(candidate: Candidate, shown: Shown, *, actor: Actor) -> Outcome:
    """Take the candidate's standing decision back: everything is as it was before it."""
    current = lock_candidate(candidate, [CandidateState(candidate.state)], shown)
    standing = standing_decision(current) if current else None
    if current is None or standing is None:
        return Changed()
    return take_back(current, standing, shown, actor=actor)


def why_not_undoable(candidate: Candidate, standing: ReviewDecision) -> str | None:
    """Say why a standing decision cannot be taken back; None when it can."""
    memory = memory_of(standing)
    if memory and memory.state != MemoryState.ACTIVE:
        return (
            f"M{memory.pk} is {memory.state.lower()}: take back what ended it, then this decision."
        )
    if candidate.state != RESULT[DecisionAction(standing.action)]:
        return f"C{candidate.pk} is {candidate.state.lower()} by something else than a decision."
    return None


def take_back(
    current: Candidate,
    standing: ReviewDecision,
    shown: Shown,
    *,
    actor: Actor,
    batch: uuid.UUID | None = None,
) -> Outcome:
    """Compensate the standing decision of a locked candidate; call inside `atomic`."""
    if refusal := why_not_undoable(current, standing):
        return Refused(refusal)
    decision = write_decision(
        current,
        DecisionAction.UNDO,
        shown,
        actor,
        undoes=standing,
        state=CandidateState(standing.candidate_state),
        batch=batch,
    )
    memory, restored = memory_of(standing), standing.supersedes
    if memory:
        end_memory(memory, MemoryState.ARCHIVED, decision)
    if restored:
        restore_memory(restored)
        move_candidate(restored.candidate, CandidateState.SUPERSEDED, CandidateState.PROMOTED)
    record_decision(
        decision,
        undoes=standing.pk,
        memory=memory.pk if memory else None,
        restored=restored.pk if restored else None,
    )
    return Decided(decision)


def one_line(reason: str) -> str:
    """The reason on one line; nothing where no character of it would be seen."""
    line = " ".join(reason.split())
    return line[:MAX_REASON] if any(map(_is_seen, line)) else ""


def _is_seen(character: str) -> bool:
    """Whether it leaves a mark of its own: no space, control, format, filler or lone accent."""
    kind = unicodedata.category(character)
    return kind[0] in "LNPS" and character not in BLANK


def _with_article(modality: str) -> str:
    word = modality.lower()
    return f"{'An' if word[0] in 'aeiou' else 'A'} {word}"
