"""What the pages show: the queue's rows, and a candidate with all that a decision rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F

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
from codememory.verdict_of import MovedTexts, judge_stored_segment
from codememory.verdicts import VerdictKind, aggregate
from review.actions import is_plan, why_not_promotable, why_not_undoable
from review.comparisons import Comparison, comparison_of
from review.decisions import OPEN_STATES, standing_decision
from review.differences import Part, word_difference
from review.references import Piece, piece_of
from review.rivals import Rival, has_rival_subject, rivals_of
from review.second_reviewers import asks_for_two, endorsement_in, who_can

MAX_PIECES = 12  # pieces of evidence on a page; the rest is counted

STANDING = {
    CandidateState.PENDING: "provisional",
    CandidateState.PROMOTED: "reviewed",
    CandidateState.REJECTED: "rejected",
    CandidateState.DEFERRED: "deferred",
    CandidateState.SUPERSEDED: "superseded",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate in the queue, with where it was said and the verdict of its evidence."""

    candidate: Candidate
    path: str
    more_sources: int
    verdict: str
    has_conflict: bool


@dataclass(frozen=True, slots=True)
class ShownRival:
    """A rival beside the candidate, with the words in which they differ."""

    rival: Rival
    parts: list[Part]
    may_end: bool  # a plan ends no rule


@dataclass(frozen=True, slots=True)
class Sheet:
    """A candidate with everything a decision on it rests on."""

    candidate: Candidate
    pieces: list[Piece]
    links: list[EvidenceLink]
    rivals: list[ShownRival]
    comparison: Comparison | None
    shown: str
    standing: str
    obstacle: str | None
    decision: ReviewDecision | None
    memory: Memory | None
    undo_obstacle: str | None
    asks_for_two: bool
    second: str  # who can promote what is endorsed, as a sentence

    @property
    def is_open(self) -> bool:
        return self.candidate.state in OPEN_STATES

    @property
    def is_deferred(self) -> bool:
        return self.candidate.state == CandidateState.DEFERRED

    @property
    def is_plan(self) -> bool:
        return is_plan(self.candidate)

    @property
    def warns_of_file(self) -> bool:
        return "UNTRUSTED_INSTRUCTIONS" in self.candidate.flags

    @property
    def addresses_ai(self) -> bool:
        return "INSTRUCTION_LIKE" in self.candidate.flags

    @property
    def said(self) -> str:
        """As what it is shown, for the form: what the rules make of it later can be told apart."""
        return said_as(self.candidate)

    @property
    def endorsed(self) -> ReviewDecision | None:
        """The first of two reviewers' promotion, where the second is still to come."""
        return endorsement_in(self.decision) if self.is_open else None

    @property
    def reworded(self) -> list[Part]:
        """How the words of the memory, or of what is endorsed, differ from the candidate's."""
        words = self.memory.statement if self.memory else None
        if self.endorsed:
            words = self.endorsed.wording
        if words is None or words == self.candidate.statement:
            return []
        return word_difference(self.candidate.statement, words)

    @property
    def can_undo(self) -> bool:
        return self.decision is not None and self.undo_obstacle is None

    @property
    def seen(self) -> str:
        """All evidence there is, for the form: what came later can be told apart."""
        return "-".join(seen_key(link) for link in self.links)

    @property
    def more_pieces(self) -> int:
        return len(self.links) - len(self.pieces)

    @property
    def rival_numbers(self) -> str:
        return "-".join(str(shown.rival.memory.pk) for shown in self.rivals)

    @property
    def ended(self) -> ShownRival | None:
        """The memory that superseding would end, unless nothing may be promoted at all."""
        if self.obstacle:
            return None
        return next((shown for shown in self.rivals if shown.may_end), None)

    @property
    def is_replacement(self) -> bool:
        return self.ended is not None and self.ended.rival.is_replaced

    @property
    def conflicts(self) -> int:
        return sum(shown.rival.is_same_subject for shown in self.rivals)


def rows_of(project: Project, candidates: Sequence[Candidate]) -> list[Row]:
    """Return the queue's rows for a page of candidates; three queries and one open checkout."""
    links: defaultdict[int | None, list[EvidenceLink]] = defaultdict(list)
    for link in (
        EvidenceLink.objects.filter(scope_id=project.scope_id, candidate__in=candidates)
        .select_related("segment__revision__path")
        .order_by("byte_start", "segment_id")
    ):
        links[link.candidate_id].append(link)
    shown = Candidate.objects.filter(scope_id=project.scope_id, pk__in=[c.pk for c in candidates])
    conflicting = set(shown.filter(has_rival_subject()).values_list("pk", flat=True))
    with Checkout(project) as checkout:
        moved = MovedTexts(checkout, [link.segment for each in links.values() for link in each])
        return [
            _row(checkout, moved, candidate, links[candidate.pk], candidate.pk in conflicting)
            for candidate in candidates
        ]


def sheet_of(project: Project, candidate: Candidate) -> Sheet:
    """Return what a decision on the candidate rests on."""
    links = evidence_of(project, candidate)
    decision = standing_decision(candidate)
    endorsed = endorsement_in(decision)
    pieces = [piece_of(project, link) for link in links[:MAX_PIECES]]
    rivals = rivals_of(candidate)
    return Sheet(
        candidate,
        pieces,
        links,
        [
            ShownRival(
                rival,
                word_difference(rival.memory.statement, candidate.statement),
                may_end=is_plan(rival.memory) or not is_plan(candidate),
            )
            for rival in rivals
        ],
        comparison_of(project, candidate, pieces, rivals),
        shown_digest(candidate).hex(),
        STANDING[CandidateState(candidate.state)],
        why_not_promotable(candidate),
        decision,
        latest_memory(project, candidate),
        why_not_undoable(candidate, decision) if decision else None,
        asks_for_two(project.scope_id),
        who_can(project.scope_id, endorsed.actor) if endorsed else "",
    )


def evidence_of(project: Project, candidate: Candidate) -> list[EvidenceLink]:
    """Return what the candidate cites, its own first, and what was merged into its memory."""
    links = EvidenceLink.objects.filter(scope_id=project.scope_id).select_related(
        "segment__revision__path", "joined_by"
    )
    own = links.filter(candidate=candidate)
    found = list(own.order_by(F("joined_by").asc(nulls_first=True), "byte_start", "segment_id"))
    memory = Memory.objects.filter(
        scope_id=project.scope_id, candidate=candidate, state=MemoryState.ACTIVE
    ).first()
    if memory:
        joined = links.filter(memory=memory, joined_by__isnull=False)
        found += joined.order_by("joined_by", "byte_start", "segment_id")
    return found


def said_as(candidate: Candidate) -> str:
    flags = "-".join(candidate.flags)
    return f"{candidate.type}.{candidate.modality}.{flags}.{candidate.replaces_id or ''}"


def seen_key(link: EvidenceLink) -> str:
    return f"{link.segment_id}.{link.byte_start}"


def history_of(project: Project, candidate: Candidate) -> list[ReviewDecision]:
    """Return the decisions on a candidate, and those that ended its memory or brought evidence."""
    decisions = ReviewDecision.objects.filter(scope_id=project.scope_id)
    own = list(decisions.filter(candidate=candidate).values_list("pk", flat=True))
    memories = Memory.objects.filter(scope_id=project.scope_id, decision_id__in=own)
    numbers = list(memories.values_list("pk", flat=True))
    # One look into an index each: asked at once, all decisions of the project would be read.
    ending = decisions.filter(supersedes_id__in=numbers).exclude(action=DecisionAction.ENDORSE)
    merges = decisions.filter(action=DecisionAction.MERGE)
    joining = [
        *merges.filter(merged_into=candidate).values_list("pk", flat=True),
        *merges.filter(merged_into=None, merged_into_memory_id__in=numbers).values_list(
            "pk", flat=True
        ),
    ]
    parting = decisions.filter(undoes_id__in=joining).values_list("pk", flat=True)
    wanted = {*own, *ending.values_list("pk", flat=True), *joining, *parting}
    joined = ("actor", "supersedes", "undoes", "confirms__actor", "merged_into_memory")
    return list(decisions.filter(pk__in=wanted).select_related(*joined).order_by("id"))


def latest_decision(project: Project, candidate: Candidate) -> ReviewDecision | None:
    decisions = history_of(project, candidate)
    return decisions[-1] if decisions else None


def latest_memory(project: Project, candidate: Candidate) -> Memory | None:
    """Return the memory that the candidate became last, whatever came of it."""
    return (
        Memory.objects.filter(scope_id=project.scope_id, candidate=candidate)
        .select_related("ended_by")
        .order_by("-id")
        .first()
    )


def count_pending(project: Project) -> int:
    return Candidate.objects.filter(scope_id=project.scope_id, state=CandidateState.PENDING).count()


def _row(
    checkout: Checkout,
    moved: MovedTexts,
    candidate: Candidate,
    links: list[EvidenceLink],
    has_conflict: bool,
) -> Row:
    if not links:
        return Row(candidate, "", 0, VerdictKind.UNKNOWN, has_conflict)
    path = shown_path(bytes(links[0].segment.revision.path.raw)) or ""
    if checkout.refused is not None:
        return Row(candidate, path, len(links) - 1, VerdictKind.UNKNOWN, has_conflict)
    verdicts = [judge_stored_segment(checkout, link.segment, moved) for link in links]
    return Row(candidate, path, len(links) - 1, aggregate(verdicts).verdict, has_conflict)
