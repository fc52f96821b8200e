"""Candidates made memories: as they are or on other terms, as plans, or over a memory they end.

Where the project asks for two people, the first one's promotion is an endorsement and the same by
another person makes the memory. `review.actions` hands these on to the views.
"""

from __future__ import annotations

import uuid
from functools import partial

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
    lock_candidate,
    record_decision,
    standing_decision,
    write_decision,
)
from review.memories import end_memory, move_candidate, remember
from review.outcomes import Changed, Decided, Outcome, Refused, Shown, Unsure
from review.rivals import rivals_of
from review.second_reviewers import ASKS, asks_for_two, endorsement_in, who_can
from review.terms import AS_IT_IS, Terms, settle_terms, terms_of
from review.words import with_article

PLAN_IS_NO_RULE = "{} is kept as a plan, never as a rule that holds: promote it as a plan."
RULE_IS_NO_PLAN = "{} is no plan: promote it as it is."
# Flags of words that somebody may have written so that an agent obeys them.
LOOK_TWICE = {
    "INSTRUCTION_LIKE": "It addresses an AI.",
    "UNTRUSTED_INSTRUCTIONS": "Its file instructs agents.",
}


def why_not_promotable(candidate: Candidate) -> str | None:
    """Say why a candidate can never become a memory; None when it can."""
    if candidate.modality not in PROMOTABLE_MODALITIES:
        return f"{with_article(candidate.modality)} is never promoted as a rule."
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
    terms: Terms = AS_IT_IS,
    is_sure: bool = False,
    batch: uuid.UUID | None = None,
    as_plan: bool = False,
) -> Outcome:
    """Make the candidate an active memory that cites the same evidence.

    With `as_plan` a plan or proposal is kept as such: nothing calls it implemented.
    """
    current = lock_candidate(candidate, OPEN_STATES, shown, batch)
    if current is None:
        return Changed()
    if is_plan(current) != as_plan and why_not_promotable(current) is None:
        other = PLAN_IS_NO_RULE if is_plan(current) else RULE_IS_NO_PLAN
        return Refused(other.format(with_article(current.modality)))
    action = DecisionAction.PROMOTE_AS_PLAN if as_plan else DecisionAction.PROMOTE
    return _admit(current, action, shown, actor, terms, is_sure, batch=batch)


promote_as_plan = partial(promote_candidate, as_plan=True)


@transaction.atomic
def supersede_memory(
    candidate: Candidate,
    shown: Shown,
    *,
    memory_id: int,
    actor: Actor,
    terms: Terms = AS_IT_IS,
    is_sure: bool = False,
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
    return _admit(current, DecisionAction.SUPERSEDE, shown, actor, terms, is_sure, rival=rival)


@transaction.atomic
def confirm_endorsement(
    candidate: Candidate, shown: Shown, *, endorsement_id: int, actor: Actor, is_sure: bool = False
) -> Outcome:
    """Promote what another person endorsed, on the terms that they endorsed."""
    current = lock_candidate(candidate, OPEN_STATES, shown)
    endorsed = endorsement_in(standing_decision(current)) if current else None
    if current is None or endorsed is None or endorsed.pk != endorsement_id:
        return Changed()
    action = DecisionAction(endorsed.endorsed_action)
    if endorsed.supersedes and endorsed.supersedes.state != MemoryState.ACTIVE:
        gone = endorsed.supersedes
        return Refused(f"M{gone.pk}, which it was to replace, is {gone.state.lower()} by now.")
    rival, terms = endorsed.supersedes, terms_of(endorsed)
    return _admit(current, action, shown, actor, terms, is_sure, rival=rival)


def _admit(
    current: Candidate,
    action: DecisionAction,
    shown: Shown,
    actor: Actor,
    asked: Terms,
    is_sure: bool,
    *,
    rival: Memory | None = None,
    batch: uuid.UUID | None = None,
) -> Outcome:
    """Make the memory of a locked candidate, or endorse it; the last word of every promotion."""
    if refusal := why_not_promotable(current):
        return Refused(refusal)
    terms = settle_terms(current, asked)
    if isinstance(terms, str):
        return Refused(terms)
    if not is_sure and (why := why_ask_again(current)):
        return Unsure(why)
    endorsed = endorsement_in(standing_decision(current))
    if endorsed and not _is_same(endorsed, action, terms, rival, shown):
        endorsed = None
    if asks_for_two(current.scope_id):
        if batch is not None:
            return Refused(f"{ASKS} Promote it on its own page.")
        if endorsed and endorsed.actor_id == actor.pk:
            return Refused(f"You endorsed it. {who_can(current.scope_id, actor)}")
        if endorsed is None:
            return _endorse(current, action, shown, actor, terms, rival)
    confirms = endorsed if endorsed and endorsed.actor_id != actor.pk else None
    decision = write_decision(
        current, action, shown, actor,
        terms=terms, supersedes=rival, confirms=confirms, batch=batch,
    )  # fmt: skip
    memory = remember(current, decision)
    if rival:
        end_memory(rival, MemoryState.SUPERSEDED, decision)
        move_candidate(rival.candidate, CandidateState.PROMOTED, CandidateState.SUPERSEDED)
    record_decision(
        decision,
        memory=memory.pk,
        ended=rival.pk if rival else None,
        confirms=confirms.pk if confirms else None,
        **_facts(terms),
    )
    return Decided(decision)


def _endorse(
    current: Candidate,
    action: DecisionAction,
    shown: Shown,
    actor: Actor,
    terms: Terms,
    rival: Memory | None,
) -> Decided:
    decision = write_decision(
        current, DecisionAction.ENDORSE, shown, actor,
        terms=terms, supersedes=rival, endorsed_action=action, state=CandidateState(current.state),
    )  # fmt: skip
    record_decision(decision, for_action=action.value, **_facts(terms))
    return Decided(decision)


def _is_same(
    endorsed: ReviewDecision,
    action: DecisionAction,
    terms: Terms,
    rival: Memory | None,
    shown: Shown,
) -> bool:
    """Whether a promotion is what was endorsed: the same act, terms and evidence."""
    return (
        endorsed.endorsed_action == action
        and terms_of(endorsed) == terms
        and endorsed.supersedes_id == (rival.pk if rival else None)
        and bytes(endorsed.shown_digest) == shown.digest
    )


def _facts(terms: Terms) -> dict[str, object]:
    """The terms in the audit trail, without their words."""
    return {
        "edited": True if terms.wording is not None else None,
        "narrowed": terms.narrow_kind.lower() or None,
        "context": True if terms.context else None,
    }
