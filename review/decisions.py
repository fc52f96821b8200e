"""Decisions as rows: the candidate locked as it was shown, moved on, and the decision written.

Only `review.actions` calls what writes here.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db.models import F

from codememory import audit
from codememory.candidates import shown_digest
from codememory.models import (
    Actor,
    Candidate,
    CandidateState,
    DecisionAction,
    Memory,
    ReviewDecision,
    Scope,
)
from review.outcomes import Shown
from review.rivals import rivals_of
from review.terms import AS_IT_IS, Terms

OPEN_STATES = (CandidateState.PENDING, CandidateState.DEFERRED)
# The state a candidate is in after each decision; what is endorsed stays what it was.
RESULT = {
    DecisionAction.PROMOTE: CandidateState.PROMOTED,
    DecisionAction.PROMOTE_AS_PLAN: CandidateState.PROMOTED,
    DecisionAction.SUPERSEDE: CandidateState.PROMOTED,
    DecisionAction.REJECT: CandidateState.REJECTED,
    DecisionAction.DEFER: CandidateState.DEFERRED,
    DecisionAction.MERGE: CandidateState.SUPERSEDED,
}


def lock_decisions(scope_id: int) -> None:
    """Let decisions of a project happen one after another, so that each sees the ones before.

    Collecting goes on meanwhile: a row that refers to the scope does not wait for this lock.
    """
    Scope.objects.select_for_update(no_key=True).get(pk=scope_id)


def lock_candidate(
    candidate: Candidate,
    states: Collection[CandidateState],
    shown: Shown,
    batch: uuid.UUID | None = None,
) -> Candidate | None:
    """Lock the row if it is still exactly what was shown, beside the very same rivals.

    Memories of the same batch are no news: its preview showed them as what they were.
    """
    lock_decisions(candidate.scope_id)
    current = (
        Candidate.objects.select_for_update()
        .filter(
            scope_id=candidate.scope_id, pk=candidate.pk, state__in=states, version=shown.version
        )
        .first()
    )
    if current is None or bytes(shown_digest(current)) != shown.digest:
        return None
    if shown.rivals is None:
        return current
    rivals = {
        rival.memory.pk
        for rival in rivals_of(current)
        if batch is None or rival.memory.decision.batch != batch
    }
    return current if rivals == shown.rivals else None


def write_decision(
    candidate: Candidate,
    action: DecisionAction,
    shown: Shown,
    actor: Actor,
    *,
    state: CandidateState | None = None,
    reason: str = "",
    undoes: ReviewDecision | None = None,
    supersedes: Memory | None = None,
    terms: Terms = AS_IT_IS,
    endorsed_action: DecisionAction | None = None,
    confirms: ReviewDecision | None = None,
    merged_into: Candidate | Memory | None = None,
    batch: uuid.UUID | None = None,
) -> ReviewDecision:
    """Move the locked candidate on and write the decision; a check refuses actors but a person."""
    Candidate.objects.filter(scope_id=candidate.scope_id, pk=candidate.pk).update(
        state=state or RESULT[action], version=F("version") + 1
    )
    return ReviewDecision.objects.create(
        scope_id=candidate.scope_id,
        candidate=candidate,
        action=action,
        actor=actor,
        actor_kind=actor.kind,
        reason=reason,
        candidate_version=shown.version,
        candidate_state=candidate.state,
        shown_digest=shown.digest,
        undoes=undoes,
        supersedes=supersedes,
        wording=terms.wording,
        narrow_kind=terms.narrow_kind,
        narrow_to=terms.narrow_to,
        context=terms.context,
        endorsed_action=endorsed_action or "",
        confirms=confirms,
        merged_into=merged_into if isinstance(merged_into, Candidate) else None,
        merged_into_memory=merged_into if isinstance(merged_into, Memory) else None,
        batch=batch,
    )


def standing_decision(candidate: Candidate) -> ReviewDecision | None:
    """Return the latest decision on a candidate that was not taken back."""
    decisions = ReviewDecision.objects.filter(scope_id=candidate.scope_id, candidate=candidate)
    undone = decisions.filter(action=DecisionAction.UNDO).values("undoes")
    return (
        decisions.exclude(action=DecisionAction.UNDO)
        .exclude(pk__in=undone)
        .select_related(
            "actor", "supersedes__candidate", "merged_into", "merged_into_memory", "confirms__actor"
        )
        .order_by("-id")
        .first()
    )


def record_decision(decision: ReviewDecision, **facts: object) -> None:
    audit.record(
        f"candidate.{decision.action.lower().replace('_', '-')}",
        scope=decision.scope,
        actor=decision.actor,
        subject=f"C{decision.candidate_id}",
        decision=decision.pk,
        **{name: fact for name, fact in facts.items() if fact is not None},
        **({"batch": str(decision.batch)} if decision.batch else {}),
    )
