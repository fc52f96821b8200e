"""Several candidates decided on together: the preview of exactly what happens, all of it or
nothing of it, and one undo for the whole.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.db import transaction
from django.db.models import QuerySet

from codememory.candidates import shown_digest
from codememory.models import (
    Actor,
    Candidate,
    CandidateTraits,
    DecisionAction,
    Project,
    ReviewDecision,
)
from review import actions
from review.claims import claims_of
from review.decisions import OPEN_STATES, lock_decisions, standing_decision
from review.outcomes import (
    BatchDecided,
    BatchOutcome,
    BatchStopped,
    BatchUndone,
    Changed,
    Decided,
    Outcome,
    Refused,
    Shown,
    Unsure,
)
from review.rivals import Rival, rivals_of
from review.second_reviewers import asks_for_two

MAX_BATCH = 50
ALONE = {
    "INSTRUCTION_LIKE": "it addresses an AI: read it on its own page",
    "UNTRUSTED_INSTRUCTIONS": "its file instructs agents: read it on its own page",
}

TAKES_TWO = "it takes two reviewers: each decides on its own page"


class BatchAction(StrEnum):
    PROMOTE = "promote"
    REJECT = "reject"
    DEFER = "defer"


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate in the preview: what becomes of it, and what was shown of it."""

    candidate: Candidate
    effect: DecisionAction
    rivals: list[Rival]
    twins: list[Candidate]  # others of this batch that speak of the same subject
    digest: str
    near: int = 0  # how many others of this batch say nearly the same

    @property
    def pick(self) -> str:
        """What the confirming form sends for it."""
        rivals = "-".join(str(rival.memory.pk) for rival in self.rivals)
        return f"{self.candidate.pk}.{self.candidate.version}.{self.digest}.{rivals}"


@dataclass(frozen=True, slots=True)
class Preview:
    action: BatchAction
    lines: list[Line]
    left_out: list[tuple[Candidate, str]]
    beyond: int = 0  # selected, and too many for one preview
    takes_two: bool = False  # each needs a second reviewer, so none can be promoted with others

    @property
    def counts(self) -> dict[str, int]:
        return Counter(str(line.effect) for line in self.lines)


def preview(project: Project, action: BatchAction, numbers: Sequence[int], actor: Actor) -> Preview:
    """Say what the action of this person would do with the project's candidates of these numbers.

    What somebody else has claimed is left out, and so is all beyond MAX_BATCH.
    """
    takes_two = action == BatchAction.PROMOTE and asks_for_two(project.scope_id)
    claims = claims_of(project, None, numbers[:MAX_BATCH])
    found = Candidate.objects.filter(
        scope_id=project.scope_id, pk__in=list(numbers)[:MAX_BATCH]
    ).order_by("pk")
    lines: list[Line] = []
    left_out: list[tuple[Candidate, str]] = []
    for candidate in found:
        rivals = rivals_of(candidate) if action == BatchAction.PROMOTE else []
        claim = claims.get(candidate.pk)
        if claim and claim.actor != actor.pk and candidate.state in OPEN_STATES:
            left_out.append((candidate, claim.refusal.rstrip(".")))
        elif reason := _why_left_out(candidate, action, rivals):
            left_out.append((candidate, reason))
        elif takes_two:
            left_out.append((candidate, TAKES_TWO))
        else:
            lines.append(_line(candidate, action, rivals))
    if action == BatchAction.PROMOTE:
        lines = _with_near(project, lines)
        for line in lines:
            subject = line.candidate.subject
            line.twins.extend(
                other.candidate
                for other in lines
                if subject and other is not line and other.candidate.subject == subject
            )
    return Preview(action, lines, left_out, max(0, len(numbers) - MAX_BATCH), takes_two)


@transaction.atomic
def decide_together(
    action: BatchAction,
    picks: Sequence[tuple[Candidate, Shown]],
    *,
    reason: str,
    actor: Actor,
) -> BatchOutcome:
    """Decide on all of them, or on none if one changed or may not be decided on so."""
    batch = uuid.uuid4()
    outcomes = [
        (candidate, _decide(action, candidate, shown, reason, actor, batch))
        for candidate, shown in sorted(picks, key=lambda pick: pick[0].pk)
    ]
    changed = [candidate for candidate, outcome in outcomes if isinstance(outcome, Changed)]
    refused = [(each, o.reason) for each, o in outcomes if isinstance(o, Refused | Unsure)]
    if changed or refused:
        transaction.set_rollback(True)
        return BatchStopped(changed, refused)
    return BatchDecided(batch, [o.decision for _, o in outcomes if isinstance(o, Decided)])


@transaction.atomic
def undo_batch(project: Project, batch: uuid.UUID, *, actor: Actor) -> BatchUndone:
    """Take back what still stands of a batch; what was decided on since is left and named."""
    lock_decisions(project.scope_id)
    undoing = uuid.uuid4()
    undone: list[ReviewDecision] = []
    left: list[tuple[Candidate, str]] = []
    for decision in decisions_of(project, batch).order_by("-id"):
        current = Candidate.objects.select_for_update().get(
            scope_id=project.scope_id, pk=decision.candidate_id
        )
        standing = standing_decision(current)
        if standing is None or standing.pk != decision.pk:
            left.append((current, "it was taken back or decided on since"))
            continue
        shown = Shown(current.version, shown_digest(current))
        match actions.take_back(current, standing, shown, actor=actor, batch=undoing):
            case Decided(taken_back):
                undone.append(taken_back)
            case Refused(reason):
                left.append((current, reason))
    return BatchUndone(undone, left)


def decisions_of(project: Project, batch: uuid.UUID) -> QuerySet[ReviewDecision]:
    """Return what was decided together."""
    return ReviewDecision.objects.filter(scope_id=project.scope_id, batch=batch)


def _with_near(project: Project, lines: Sequence[Line]) -> list[Line]:
    """Count for each line the others that are its near-duplicates: they may disagree."""
    numbers = [line.candidate.pk for line in lines]
    traits = CandidateTraits.objects.filter(scope_id=project.scope_id, candidate__in=numbers)
    keys = dict(traits.exclude(similar_key=None).values_list("candidate_id", "similar_key"))
    sizes = Counter(keys.values())
    return [
        replace(line, near=sizes[key] - 1) if (key := keys.get(line.candidate.pk)) else line
        for line in lines
    ]


def _why_left_out(candidate: Candidate, action: BatchAction, rivals: Sequence[Rival]) -> str | None:
    if candidate.state not in OPEN_STATES:
        return f"it is {candidate.state.lower()} already"
    if action == BatchAction.DEFER and candidate.state == OPEN_STATES[1]:
        return "it is deferred already"
    if action != BatchAction.PROMOTE:
        return None
    if obstacle := actions.why_not_promotable(candidate):
        return obstacle[0].lower() + obstacle[1:].rstrip(".")
    return _why_alone(candidate, rivals)


def _why_alone(candidate: Candidate, rivals: Sequence[Rival]) -> str | None:
    """Say why it becomes a memory on its own page only, where its evidence is in view."""
    if flag := next((flag for flag in ALONE if flag in candidate.flags), None):
        return ALONE[flag]
    replaced = next((rival.memory for rival in rivals if rival.is_replaced), None)
    return f"it would replace M{replaced.pk}: decide on its own page" if replaced else None


def _line(candidate: Candidate, action: BatchAction, rivals: list[Rival]) -> Line:
    effect = DecisionAction[action.name]
    if action == BatchAction.PROMOTE and actions.is_plan(candidate):
        effect = DecisionAction.PROMOTE_AS_PLAN
    return Line(candidate, effect, rivals, [], shown_digest(candidate).hex())


def _decide(
    action: BatchAction,
    candidate: Candidate,
    shown: Shown,
    reason: str,
    actor: Actor,
    batch: uuid.UUID,
) -> Outcome:
    if action != BatchAction.PROMOTE:
        shown = Shown(shown.version, shown.digest)  # nothing is made that could have rivals
    if action == BatchAction.REJECT:
        return actions.reject_candidate(candidate, shown, reason=reason, actor=actor, batch=batch)
    if action == BatchAction.DEFER:
        return actions.defer_candidate(candidate, shown, reason=reason, actor=actor, batch=batch)
    if why := _why_alone(candidate, rivals_of(candidate)):
        return Refused(f"{why[0].upper()}{why[1:]}.")
    promote = actions.promote_as_plan if actions.is_plan(candidate) else actions.promote_candidate
    return promote(candidate, shown, actor=actor, batch=batch)
