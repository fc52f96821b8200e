"""Candidates and memories that say nearly the same, found by the search that agents use.

Likeness proposes; only a person merges.
"""

from __future__ import annotations

from dataclasses import dataclass

from codememory.claim_results import CANDIDATE_STANDING, MEMORY_STANDING
from codememory.models import (
    Candidate,
    CandidateState,
    EntryKind,
    Memory,
    MemoryState,
    Project,
)
from codememory.search.query import search
from review.differences import Part, word_difference
from review.merging import Target, digest_of, find_target, name_of, why_not_mergeable
from review.rivals import likeness

ASKED = 40  # of the search, before likeness is measured
MOST = 6
LEAST_ALIKE = 0.4
KINDS = [EntryKind.CANDIDATE.value, EntryKind.MEMORY.value]


@dataclass(frozen=True, slots=True)
class Similar:
    """Another claim beside a candidate: how alike (0 to 1), the words in which they differ."""

    target: Target
    likeness: float
    parts: list[Part]
    obstacle: str | None
    seen: str

    @property
    def name(self) -> str:
        return name_of(self.target)

    @property
    def candidate_id(self) -> int:
        target = self.target
        return int(target.candidate_id if isinstance(target, Memory) else target.pk)

    @property
    def standing(self) -> str:
        if isinstance(self.target, Memory):
            return MEMORY_STANDING[MemoryState(self.target.state)]
        if self.target.state == CandidateState.REJECTED:
            return "rejected"
        return CANDIDATE_STANDING[CandidateState(self.target.state)]

    @property
    def value(self) -> str:
        """What the merging form sends for it."""
        return f"{self.name}|{self.seen}"


def similar_to(project: Project, candidate: Candidate, also: str = "") -> list[Similar]:
    """Return claims that are alike, the most alike first; `also` (C5, M3) is there in any case."""
    found = {(kind, pk): score for kind, pk, score in _alike(project, candidate)}
    best = sorted(found, key=lambda key: (-found[key], key))[:MOST]
    targets = [target for kind, pk in best if (target := _load(project, kind, pk))]
    asked = find_target(project.scope_id, also) if also else None
    if asked and asked not in targets and asked != candidate:
        targets.insert(0, asked)
    return [_beside(candidate, target) for target in targets]


def _alike(project: Project, candidate: Candidate) -> list[tuple[str, int, float]]:
    page = search([project.scope_id], candidate.statement, KINDS, None, ASKED, None)
    ids = {kind: [hit.target_id for hit in page.hits if hit.kind == kind] for kind in KINDS}
    same = {"scope_id": project.scope_id}
    # A promoted candidate is there as its memory.
    claims = Candidate.objects.filter(**same, pk__in=ids[EntryKind.CANDIDATE])
    claims = claims.exclude(pk=candidate.pk).exclude(state=CandidateState.PROMOTED)
    kept = Memory.objects.filter(**same, pk__in=ids[EntryKind.MEMORY]).exclude(candidate=candidate)
    told = [(EntryKind.CANDIDATE.value, *row) for row in claims.values_list("pk", "statement")]
    told += [(EntryKind.MEMORY.value, *row) for row in kept.values_list("pk", "statement")]
    measured = [(kind, pk, likeness(words, candidate.statement)) for kind, pk, words in told]
    return [one for one in measured if one[2] >= LEAST_ALIKE]


def _load(project: Project, kind: str, number: int) -> Target | None:
    return find_target(project.scope_id, f"{'M' if kind == EntryKind.MEMORY else 'C'}{number}")


def _beside(candidate: Candidate, target: Target) -> Similar:
    return Similar(
        target,
        likeness(target.statement, candidate.statement),
        word_difference(target.statement, candidate.statement),
        why_not_mergeable(candidate, target),
        digest_of(target),
    )
