"""Merging: a candidate's evidence joins another candidate or an active memory, and can leave again.

Nothing is merged by likeness alone: a person says that two say the same.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, QuerySet

from codememory.candidates import shown_digest
from codememory.models import (
    Actor,
    Candidate,
    CandidateState,
    DecisionAction,
    EvidenceLink,
    Memory,
    MemoryState,
    ReviewDecision,
)
from review.decisions import OPEN_STATES, lock_candidate, record_decision, write_decision
from review.outcomes import Changed, Decided, Outcome, Refused, Shown, TargetChanged, Unsure
from review.promoting import is_plan, why_ask_again, why_not_promotable

Target = Candidate | Memory
MOST_DIGITS = 18  # of a number that a column holds


def name_of(target: Target) -> str:
    return f"{'M' if isinstance(target, Memory) else 'C'}{target.pk}"


def find_target(scope_id: int, name: str) -> Target | None:
    """Return the candidate or memory of a name as C5 or M3; None where there is none."""
    letter, number = name[:1].upper(), name[1:]
    if not number.isascii() or not number.isdigit() or len(number) > MOST_DIGITS:
        return None
    same = {"scope_id": scope_id, "pk": int(number)}
    if letter == "C":
        return Candidate.objects.filter(**same).first()
    return Memory.objects.filter(**same).first() if letter == "M" else None


def digest_of(target: Target) -> str:
    """What of a target was in view, as a form sends it back: its words, state and evidence."""
    if isinstance(target, Candidate):
        return f"{target.version}.{shown_digest(target).hex()}"
    links = EvidenceLink.objects.filter(scope_id=target.scope_id, memory=target)
    return f"{target.state}.{links.count()}"


def why_not_mergeable(candidate: Candidate, target: Target) -> str | None:
    """Say why a candidate's evidence cannot join the target; None when it can."""
    name = name_of(target)
    if isinstance(target, Candidate) and target.pk == candidate.pk:
        return f"{name} is this very candidate."
    if isinstance(target, Candidate) and target.state not in OPEN_STATES:
        return f"{name} is {target.state.lower()}: merge into an open candidate or a memory."
    if isinstance(target, Memory) and target.state != MemoryState.ACTIVE:
        return f"{name} is {target.state.lower()}: merge into an active memory."
    if is_plan(candidate) != is_plan(target):
        return "A plan is no evidence of a rule, nor a rule of a plan: they stay apart."
    if why_not_promotable(candidate) and candidate.modality != target.modality:
        said = candidate.modality.lower()
        return f"What was said as {said} is no evidence of {name}, which was not."
    return None


@transaction.atomic
def merge_candidate(
    candidate: Candidate,
    shown: Shown,
    *,
    into: str,
    target_shown: str,
    actor: Actor,
    is_sure: bool = False,
) -> Outcome:
    """Let the candidate's evidence join the one named; both say so, and undoing takes it out."""
    current = lock_candidate(candidate, OPEN_STATES, shown)
    if current is None:
        return Changed()
    target = find_target(current.scope_id, into)
    if target is None:
        return Refused(f"There is no {into[:20] or 'such candidate or memory'} in this project.")
    if refusal := why_not_mergeable(current, target):
        return Refused(refusal)
    target = _lock(target)  # only collecting changes it meanwhile: decisions wait for each other
    if digest_of(target) != target_shown:
        return TargetChanged(target)
    if not is_sure and (why := why_ask_again(current)):
        return Unsure(why)
    decision = write_decision(current, DecisionAction.MERGE, shown, actor, merged_into=target)
    joined = join_evidence(decision)
    _is_news(target)
    record_decision(decision, into=name_of(target), joined=joined)
    return Decided(decision)


def join_evidence(decision: ReviewDecision) -> int:
    """Cite the merged candidate's evidence for its target too; returns how much was new there."""
    same = {"scope_id": decision.scope_id}
    target = target_of(decision)
    to = {"memory": target} if isinstance(target, Memory) else {"candidate": target}
    there = set(EvidenceLink.objects.filter(**same, **to).values_list("segment_id", "byte_start"))
    own = EvidenceLink.objects.filter(**same, candidate_id=decision.candidate_id)
    new = [
        EvidenceLink(
            **same,
            **to,
            segment_id=link.segment_id,
            byte_start=link.byte_start,
            byte_end=link.byte_end,
            joined_by=decision,
        )
        for link in own.order_by("pk")
        if (link.segment_id, link.byte_start) not in there
    ]
    EvidenceLink.objects.bulk_create(new)
    return len(new)


def part_evidence(decision: ReviewDecision) -> None:
    """Take what a merge brought out of its target again; what another merge brings too stays."""
    EvidenceLink.objects.filter(scope_id=decision.scope_id, joined_by=decision).delete()
    target = target_of(decision)
    for other in merges_into(target).exclude(pk=decision.pk):
        join_evidence(other)
    _is_news(target)


def target_of(decision: ReviewDecision) -> Target:
    target: Target = decision.merged_into or decision.merged_into_memory
    return target


def merges_into(target: Target) -> QuerySet[ReviewDecision]:
    """Return the merges into a candidate or memory that were not taken back, oldest first."""
    merges = ReviewDecision.objects.filter(scope_id=target.scope_id, action=DecisionAction.MERGE)
    undone = ReviewDecision.objects.filter(
        scope_id=target.scope_id, action=DecisionAction.UNDO, undoes__action=DecisionAction.MERGE
    )
    if isinstance(target, Memory):
        merges = merges.filter(merged_into=None, merged_into_memory=target)
    else:
        merges = merges.filter(merged_into=target)
    return merges.exclude(pk__in=undone.values("undoes")).order_by("pk")


def why_not_partable(decision: ReviewDecision) -> str | None:
    """Say why a merge cannot be taken back now; None when it can."""
    target = target_of(decision)
    name = name_of(target)
    if isinstance(target, Memory) and target.state != MemoryState.ACTIVE:
        return f"{name} is {target.state.lower()} since: take back what ended it, then this merge."
    if isinstance(target, Candidate) and target.state not in OPEN_STATES:
        return f"{name} is {CandidateState(target.state).lower()} since: take that back first."
    return None


def _lock(target: Target) -> Target:
    same = {"scope_id": target.scope_id, "pk": target.pk}
    if isinstance(target, Memory):
        return Memory.objects.select_for_update().get(**same)
    return Candidate.objects.select_for_update().get(**same)


def _is_news(target: Target) -> None:
    """A reviewer who has the target open is told that its evidence changed."""
    if isinstance(target, Candidate):
        Candidate.objects.filter(scope_id=target.scope_id, pk=target.pk).update(
            version=F("version") + 1
        )
