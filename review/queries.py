"""What the pages show: the queue's rows, a candidate's evidence and history, the last act."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from codememory.candidates import shown_digest
from codememory.checkout import Checkout
from codememory.models import (
    Candidate,
    CandidateState,
    DecisionAction,
    EvidenceLink,
    Memory,
    MemoryState,
    Project,
    ReviewDecision,
)
from codememory.paths import shown_path
from codememory.verdict_of import judge_stored_segment
from codememory.verdicts import VerdictKind
from review.actions import UNDOABLE, why_not_promotable
from review.references import Piece, piece_of

STANDING = {
    CandidateState.PENDING: "provisional",
    CandidateState.PROMOTED: "reviewed",
    CandidateState.REJECTED: "rejected",
    CandidateState.DEFERRED: "deferred",
    CandidateState.SUPERSEDED: "superseded",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate in the queue, with where it was said and the verdict of its first evidence."""

    candidate: Candidate
    path: str
    more_sources: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A candidate with everything a decision on it rests on."""

    candidate: Candidate
    pieces: list[Piece]
    shown: str
    standing: str
    obstacle: str | None
    decision: ReviewDecision | None
    memory: Memory | None

    @property
    def is_open(self) -> bool:
        return self.candidate.state == CandidateState.PENDING

    @property
    def can_undo(self) -> bool:
        return self.candidate.state in UNDOABLE


@dataclass(frozen=True, slots=True)
class LastAct:
    """The reviewer's last decision in this session, and whether it can still be taken back."""

    decision: ReviewDecision
    candidate: Candidate
    can_undo: bool
    shown: str


def rows_of(project: Project, candidates: Sequence[Candidate]) -> list[Row]:
    """Return the queue's rows for a page of candidates; one query and one open checkout."""
    links: defaultdict[int | None, list[EvidenceLink]] = defaultdict(list)
    for link in (
        EvidenceLink.objects.filter(scope_id=project.scope_id, candidate__in=candidates)
        .select_related("segment__revision__path")
        .order_by("byte_start", "segment_id")
    ):
        links[link.candidate_id].append(link)
    with Checkout(project) as checkout:
        return [_row(checkout, candidate, links[candidate.pk]) for candidate in candidates]


def sheet_of(project: Project, candidate: Candidate) -> Sheet:
    """Return what a decision on the candidate rests on."""
    links = (
        EvidenceLink.objects.filter(scope_id=project.scope_id, candidate=candidate)
        .select_related("segment__revision__path")
        .order_by("byte_start", "segment_id")
    )
    decision = latest_decision(project, candidate)
    memories = Memory.objects.filter(
        scope_id=project.scope_id, candidate=candidate, state=MemoryState.ACTIVE
    )
    return Sheet(
        candidate,
        [piece_of(project, link) for link in links],
        shown_digest(candidate).hex(),
        STANDING[CandidateState(candidate.state)],
        why_not_promotable(candidate),
        decision,
        memories.first(),
    )


def history_of(project: Project, candidate: Candidate) -> list[ReviewDecision]:
    """Return the decisions on a candidate, the first one first."""
    return list(
        ReviewDecision.objects.filter(scope_id=project.scope_id, candidate=candidate)
        .select_related("actor")
        .order_by("id")
    )


def latest_decision(project: Project, candidate: Candidate) -> ReviewDecision | None:
    return (
        ReviewDecision.objects.filter(scope_id=project.scope_id, candidate=candidate)
        .select_related("actor")
        .order_by("-id")
        .first()
    )


def last_act(project: Project, decision_id: int | None) -> LastAct | None:
    """Return the decision that this session made last in the project."""
    if decision_id is None:
        return None
    decision = (
        ReviewDecision.objects.filter(scope_id=project.scope_id, pk=decision_id)
        .select_related("candidate")
        .first()
    )
    if decision is None:
        return None
    candidate: Candidate = decision.candidate
    latest = latest_decision(project, candidate)
    can_undo = (
        decision.action != DecisionAction.UNDO
        and candidate.state in UNDOABLE
        and latest is not None
        and latest.pk == decision.pk
    )
    return LastAct(decision, candidate, can_undo, shown_digest(candidate).hex())


def count_pending(project: Project) -> int:
    return Candidate.objects.filter(scope_id=project.scope_id, state=CandidateState.PENDING).count()


def _row(checkout: Checkout, candidate: Candidate, links: list[EvidenceLink]) -> Row:
    if not links:
        return Row(candidate, "", 0, VerdictKind.UNKNOWN)
    segment = links[0].segment
    path = shown_path(bytes(segment.revision.path.raw)) or ""
    is_readable = checkout.refused is None
    verdict = judge_stored_segment(checkout, segment).verdict if is_readable else None
    return Row(candidate, path, len(links) - 1, verdict or VerdictKind.UNKNOWN)
