"""Active memories that a candidate stands against: the ones it would replace, or disagrees with.

Found by rule from stored rows alone, so that the page and the action agree on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from django.db.models import Exists, OuterRef, Q, QuerySet

from codememory.models import (
    Candidate,
    EvidenceLink,
    EvidenceSegment,
    Memory,
    MemoryState,
    WorktreeDocument,
)

MAX_RIVALS = 10
_WORD = re.compile(r"\w+")


class Ground(StrEnum):
    """Why a memory is a candidate's rival; the first ones say more."""

    REPLACED_TEXT = "REPLACED_TEXT"  # it cites the text that stood where the candidate's stands
    GONE_FROM_SECTION = "GONE_FROM_SECTION"  # its words left the section in which these are new
    SAME_SUBJECT = "SAME_SUBJECT"


@dataclass(frozen=True, slots=True)
class Rival:
    """An active memory beside a candidate, with every ground that was found."""

    memory: Memory
    grounds: tuple[Ground, ...]
    likeness: float

    @property
    def is_replaced(self) -> bool:
        return self.grounds[0] != Ground.SAME_SUBJECT

    @property
    def is_same_subject(self) -> bool:
        return Ground.SAME_SUBJECT in self.grounds


def has_rival_subject() -> Exists:
    """Whether another candidate's active memory has the very subject of the candidate asked."""
    same = Memory.objects.filter(
        scope_id=OuterRef("scope_id"), subject=OuterRef("subject"), state=MemoryState.ACTIVE
    )
    return Exists(same.exclude(candidate_id=OuterRef("pk")).exclude(subject=""))


def rivals_of(candidate: Candidate) -> list[Rival]:
    """Return the candidate's rivals, those it would replace first, then the most alike."""
    grounds: dict[int, list[Ground]] = {}
    active = _active_beside(candidate)
    links = list(_links(candidate))
    for ground, found in (
        (Ground.REPLACED_TEXT, _citing_replaced(candidate, links, active)),
        (Ground.GONE_FROM_SECTION, _gone_from_section(candidate, links, active)),
        (Ground.SAME_SUBJECT, _same_subject(candidate, active)),
    ):
        for number in found:
            known = grounds.setdefault(number, [])
            if not (known and ground == Ground.GONE_FROM_SECTION):  # the first ground says it
                known.append(ground)
    memories = active.select_related("decision__actor").in_bulk(list(grounds))
    rivals = [
        Rival(memory, tuple(grounds[number]), likeness(memory.statement, candidate.statement))
        for number, memory in memories.items()
    ]
    rivals.sort(key=lambda rival: (not rival.is_replaced, -rival.likeness, rival.memory.pk))
    return rivals[:MAX_RIVALS]


def likeness(one: str, other: str) -> float:
    """How alike two statements are, from 0 to 1, by their words in order."""
    return SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio()


def _active_beside(candidate: Candidate) -> QuerySet[Memory]:
    active = Memory.objects.filter(scope_id=candidate.scope_id, state=MemoryState.ACTIVE)
    return active.exclude(candidate_id=candidate.pk)


def _links(candidate: Candidate) -> QuerySet[EvidenceLink]:
    return EvidenceLink.objects.filter(
        scope_id=candidate.scope_id, candidate=candidate
    ).select_related("segment__revision")


def _same_subject(candidate: Candidate, active: QuerySet[Memory]) -> Iterable[int]:
    if not candidate.subject:
        return []
    same = active.filter(subject=candidate.subject).order_by("pk")
    return same.values_list("pk", flat=True)[:MAX_RIVALS]


def _citing_replaced(
    candidate: Candidate, links: list[EvidenceLink], active: QuerySet[Memory]
) -> Iterable[int]:
    """Memories that cite the text whose place the candidate's took, unless theirs stands on."""
    if candidate.replaces_id is None:
        return
    old: EvidenceSegment = candidate.replaces
    path = old.revision.path_id
    cited = (
        EvidenceLink.objects.filter(
            scope_id=candidate.scope_id,
            memory__in=active,
            segment__revision__path_id=path,
            segment__sha256=old.sha256,
        )
        .select_related("memory")
        .order_by("pk")
    )
    now = [word for link in links for word in _text_words(link.segment.content)]
    for link in cited:
        if not _stands(_words(link.memory.statement), now):
            yield link.memory.pk


def _gone_from_section(
    candidate: Candidate, links: list[EvidenceLink], active: QuerySet[Memory]
) -> Iterable[int]:
    """Memories whose sentence left a section in which the candidate's sentence was not yet."""
    sections = {(link.segment.revision.path_id, tuple(link.segment.heading_path)) for link in links}
    own = _words(candidate.statement)
    for path_id, heading in sections:
        within = Q(segment__revision__path_id=path_id, segment__heading_path=list(heading))
        cited = (
            EvidenceLink.objects.filter(within, scope_id=candidate.scope_id)
            .filter(memory__in=active)
            .select_related("memory", "segment")
            .order_by("pk")
        )
        now: list[str] | None = None
        for link in cited:
            if now is None:
                now = _section_now(candidate.scope_id, path_id, heading)
            before = _section_of(candidate.scope_id, link.segment.revision_id, heading)
            if not _stands(_words(link.memory.statement), now) and not _stands(own, before):
                yield link.memory.pk


def _section_now(scope_id: int, path_id: int, heading: tuple[str, ...]) -> list[str]:
    current = WorktreeDocument.objects.filter(scope_id=scope_id, path_id=path_id)
    revisions = current.values_list("revision_id", flat=True)
    return [word for number in revisions for word in _section_of(scope_id, number, heading)]


def _section_of(scope_id: int, revision_id: int, heading: tuple[str, ...]) -> list[str]:
    """The words of a section's segments in one revision of its document."""
    segments = EvidenceSegment.objects.filter(
        scope_id=scope_id, revision_id=revision_id, heading_path=list(heading)
    ).order_by("byte_start")
    contents = segments.values_list("content", flat=True)
    return [word for content in contents for word in _text_words(content)]


def _text_words(content: bytes | memoryview) -> list[str]:
    return _words(bytes(content).decode("utf-8", "replace"))


def _words(text: str) -> list[str]:
    """Words alone: marks of lists and quotes between them are not the statement's."""
    return _WORD.findall(text)


def _stands(words: list[str], text: list[str]) -> bool:
    """Whether the words stand in the text, one after the other."""
    return f" {' '.join(words)} " in f" {' '.join(text)} "
