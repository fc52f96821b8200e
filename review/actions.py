"""What a reviewer decides on one candidate. No other code decides.

Each action is one transaction: the candidate's state by compare-and-swap, the decision, the memory
with its evidence and search entry, and the audit row. Views call it with a signed-in actor.
Promotions are in `review.promoting`, merging is in `review.merging`.
"""

from __future__ import annotations

import uuid

from django.db import transaction

from codememory.models import (
    Actor,
    Candidate,
    CandidateState,
    DecisionAction,
    MemoryState,
    ReviewDecision,
)
from review import merging, promoting
from review.claims import respected
from review.decisions import (
    OPEN_STATES,
    RESULT,
    lock_candidate,
    record_decision,
    standing_decision,
    write_decision,
)
from review.memories import end_memory, memory_of, move_candidate, restore_memory
from review.merging import merges_into, part_evidence, why_not_partable
from review.outcomes import Changed, Decided, Outcome, Refused, Shown
from review.promoting import PLAN_IS_NO_RULE, is_plan, why_not_promotable
from review.words import MAX_REASON, one_line, why_secret

__all__ = [
    "MAX_REASON",
    "NO_REASON",
    "PLAN_IS_NO_RULE",
    "confirm_endorsement",
    "defer_candidate",
    "is_plan",
    "merge_candidate",
    "one_line",
    "promote_as_plan",
    "promote_candidate",
    "reject_candidate",
    "supersede_memory",
    "take_back",
    "undo_decision",
    "why_not_promotable",
    "why_not_undoable",
]
NO_REASON = "Say in a few words why, then reject again."
# What somebody else has claimed waits for them.
promote_candidate = respected(promoting.promote_candidate)
promote_as_plan = respected(promoting.promote_as_plan)
supersede_memory = respected(promoting.supersede_memory)
confirm_endorsement = respected(promoting.confirm_endorsement)
merge_candidate = respected(merging.merge_candidate)


@respected
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
    if refusal := why_secret(reason):
        return Refused(refusal)
    current = lock_candidate(candidate, OPEN_STATES, shown)
    if current is None:
        return Changed()
    decision = write_decision(
        current, DecisionAction.REJECT, shown, actor, reason=reason, batch=batch
    )
    record_decision(decision)
    return Decided(decision)


@respected
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
    if refusal := why_secret(reason):
        return Refused(refusal)
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


@respected
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
    if memory and (merge := merges_into(memory).first()):
        return f"C{merge.candidate_id} was merged into M{memory.pk}: take that back first."
    if standing.action == DecisionAction.MERGE and (why := why_not_partable(standing)):
        return why
    if candidate.state != RESULT.get(DecisionAction(standing.action), standing.candidate_state):
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
    memory = memory_of(standing)
    restored = standing.supersedes if memory else None
    if standing.action == DecisionAction.MERGE:
        part_evidence(standing)
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
