"""The last thing that this session decided in a project: said above every page, with its undo."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass

from django.http import HttpRequest

from codememory.candidates import shown_digest
from codememory.models import Candidate, DecisionAction, Memory, Project, ReviewDecision
from review.actions import why_not_undoable
from review.batches import decisions_of
from review.decisions import standing_decision


@dataclass(frozen=True, slots=True)
class LastDecision:
    """A decision on one candidate, and whether it can still be taken back."""

    decision: ReviewDecision
    candidate: Candidate
    memory: Memory | None
    can_undo: bool
    shown: str
    is_batch: bool = False


@dataclass(frozen=True, slots=True)
class LastBatch:
    """Decisions made together, by what they did."""

    batch: uuid.UUID
    counts: dict[str, int]
    reason: str
    can_undo: bool
    is_batch: bool = True

    @property
    def total(self) -> int:
        return sum(self.counts.values())


LastAct = LastDecision | LastBatch


def remember_decision(request: HttpRequest, project: Project, decision: ReviewDecision) -> None:
    request.session[_key(project)] = {"decision": decision.pk}


def remember_batch(request: HttpRequest, project: Project, batch: uuid.UUID) -> None:
    request.session[_key(project)] = {"batch": str(batch)}


def last_act(request: HttpRequest, project: Project) -> LastAct | None:
    """Return what this session did last in the project."""
    kept = request.session.get(_key(project))
    if not isinstance(kept, dict):
        return None
    if "batch" in kept:
        return _batch(project, uuid.UUID(kept["batch"]))
    return _decision(project, kept["decision"])


def _key(project: Project) -> str:
    return f"last-act-{project.pk}"


def _decision(project: Project, number: int) -> LastDecision | None:
    decision = (
        ReviewDecision.objects.filter(scope_id=project.scope_id, pk=number)
        .select_related("candidate", "supersedes", "undoes")
        .first()
    )
    if decision is None:
        return None
    candidate: Candidate = decision.candidate
    memory = Memory.objects.filter(scope_id=project.scope_id, decision=decision).first()
    can_undo = _still_stands(decision)
    return LastDecision(decision, candidate, memory, can_undo, shown_digest(candidate).hex())


def _batch(project: Project, batch: uuid.UUID) -> LastBatch | None:
    decisions = list(decisions_of(project, batch).select_related("candidate").order_by("id"))
    if not decisions:
        return None
    counts = Counter(decision.action for decision in decisions)
    can_undo = any(_still_stands(decision) for decision in decisions)
    return LastBatch(batch, dict(counts), decisions[0].reason, can_undo)


def _still_stands(decision: ReviewDecision) -> bool:
    if decision.action == DecisionAction.UNDO:
        return False
    standing = standing_decision(decision.candidate)
    return (
        standing is not None
        and standing.pk == decision.pk
        and why_not_undoable(decision.candidate, standing) is None
    )
