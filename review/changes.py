"""What changed about a candidate since a reviewer opened it, for the answer to a stale form."""

from __future__ import annotations

from dataclasses import dataclass

from codememory.models import Candidate, Memory, MemoryState, Project, ReviewDecision
from review.differences import Part, word_difference
from review.forms import ShownForm, numbers_in
from review.merging import Target
from review.queries import MAX_PIECES, evidence_of, history_of, said_as, seen_key
from review.references import Piece, piece_of
from review.rivals import rivals_of


@dataclass(frozen=True, slots=True)
class NewRival:
    memory: Memory
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Said:
    """Something that the rules say of the candidate now, and said otherwise before."""

    what: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between what was in view and what there is now."""

    said: list[Said]

    decisions: list[ReviewDecision]
    new_pieces: list[Piece]
    gone_pieces: list[str]
    new_rivals: list[NewRival]
    gone_rivals: list[Memory]

    @property
    def is_known(self) -> bool:
        return any(
            (
                self.said,
                self.decisions,
                self.new_pieces,
                self.gone_pieces,
                self.new_rivals,
                self.gone_rivals,
            )
        )


def _said_since(candidate: Candidate, before: str) -> list[Said]:
    """What the rules make of the words now; a form that does not tell is older than this page."""
    if not before:
        return []
    names = ("Its type", "How it was said", "Its flags", "What it replaces")
    pairs = zip(names, before.split("."), said_as(candidate).split("."), strict=True)
    return [Said(name, old, new) for name, old, new in pairs if old != new]


def target_changes(target: Target) -> list[ReviewDecision]:
    """Return the latest decisions on what a candidate was to be merged into."""
    candidate = target.candidate if isinstance(target, Memory) else target
    found = ReviewDecision.objects.filter(scope_id=target.scope_id, candidate=candidate)
    into = ReviewDecision.objects.filter(scope_id=target.scope_id, merged_into=candidate)
    return list((found | into).select_related("actor", "confirms__actor").order_by("-id")[:3])


def changes_since(project: Project, candidate: Candidate, form: ShownForm) -> Changes:
    """Compare what a form says was in view with what there is; the form must be valid."""
    version = form.cleaned_data["version"]
    links = {seen_key(link): link for link in evidence_of(project, candidate)}
    seen = form.evidence_seen
    rivals = {rival.memory.pk: rival.memory for rival in rivals_of(candidate)}
    beside = numbers_in(form.cleaned_data["rivals"])
    ended = Memory.objects.filter(scope_id=project.scope_id, pk__in=beside - rivals.keys())
    # A form that names no evidence is older than the page that writes it.
    new = [key for key in links if seen and key not in seen]
    return Changes(
        _said_since(candidate, form.cleaned_data["said"]),
        [d for d in history_of(project, candidate) if d.candidate_version >= version],
        [piece_of(project, links[key]) for key in new[:MAX_PIECES]],
        sorted(f"S{key.partition('.')[0]}" for key in seen - links.keys()),
        [
            NewRival(memory, word_difference(memory.statement, candidate.statement))
            for number, memory in rivals.items()
            if number not in beside
        ],
        list(ended.exclude(state=MemoryState.ACTIVE).select_related("ended_by__actor")),
    )
