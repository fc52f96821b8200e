"""What happened to the sections of documents between two versions, and to their sentences.

A section here is its heading with the blocks below it up to the next heading: what its subsections
do is told of them. Text counts as the same if only its line breaks or spacing differ.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from collectors.values import Document, GapReason, Segment

SECTIONS_REVISION = 1  # of the rules below
MIN_BODY_CHARS = 24  # a shorter text alone does not tell which section it is
SIMILAR_BODIES = 0.5
MAX_COMPARED = 4_000  # pairs of sections whose words are compared

_WORD = re.compile(r"\w+")
HeadingPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnSection:
    """A heading and its own blocks: bytes [start, end), lines, hash of the original bytes."""

    heading_path: HeadingPath
    ordinal: int
    start: int
    end: int
    first_line: int
    last_line: int
    sha256: bytes
    body: str  # of the blocks, normalised and redacted; empty where there are none
    segments: tuple[Segment, ...] = field(repr=False, compare=False)

    @property
    def heading(self) -> str:
        return self.heading_path[-1] if self.heading_path else ""


@dataclass(frozen=True, slots=True)
class Delta:
    """What happened to one section; a side that does not exist is None."""

    kind: str  # ADDED, CHANGED, MOVED, REMOVED, RENAMED_HEADING
    old: OwnSection | None
    new: OwnSection | None


def is_comparable(document: Document) -> bool:
    """Whether the whole structure is known: a document that was not read whole tells nothing."""
    return all(gap.reason is GapReason.EXCLUDED for gap in document.gaps)


def own_sections(document: Document, content: bytes) -> list[OwnSection]:
    """The sections of a document in its order; their blocks do not overlap."""
    known = {section.start: section for section in document.sections}
    grouped: list[tuple[int, list[Segment]]] = []
    for segment in document.segments:
        if not grouped or (segment.kind == "heading" and segment.start in known):
            grouped.append((segment.start, []))
        grouped[-1][1].append(segment)
    found = []
    for start, segments in grouped:
        section, last = known[start], segments[-1]
        body = segments[1:] if section.level else segments
        found.append(
            OwnSection(
                heading_path=section.heading_path,
                ordinal=section.ordinal,
                start=start,
                end=last.end,
                first_line=section.first_line,
                last_line=last.last_line,
                sha256=sha256(content[start : last.end]).digest(),
                body="\n".join(_normal(segment) for segment in body),
                segments=tuple(body),
            )
        )
    return found


def _normal(segment: Segment) -> str:
    text = segment.content.decode("utf-8", "replace")
    if segment.kind in {"paragraph", "heading", "quote"}:
        return " ".join(text.split())
    return "\n".join(line.rstrip() for line in text.splitlines())


class _Pairing:
    """Sections of two versions of a document being paired, the surest pairs first."""

    def __init__(self, old: Sequence[OwnSection], new: Sequence[OwnSection]) -> None:
        self.old, self.new = old, new
        self.new_of: dict[int, int] = {}
        self.old_of: dict[int, int] = {}
        self.renamed: dict[HeadingPath, HeadingPath] = {}

    def pair(self, old: int, new: int) -> None:
        self.new_of[old], self.old_of[new] = new, old

    def open_old(self) -> list[int]:
        return [index for index in range(len(self.old)) if index not in self.new_of]

    def open_new(self) -> list[int]:
        return [index for index in range(len(self.new)) if index not in self.old_of]

    def pair_by(
        self,
        old_key: Callable[[OwnSection], Hashable],
        new_key: Callable[[OwnSection], Hashable],
        *,
        only_single: bool = False,
    ) -> None:
        """Pair open sections of equal key in their order; None is no key."""
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for index in self.open_new():
            waiting[new_key(self.new[index])].append(index)
        olds = Counter(old_key(self.old[index]) for index in self.open_old())
        taken: Counter[Hashable] = Counter()
        for index in self.open_old():
            key = old_key(self.old[index])
            there = waiting.get(key, [])
            if key is None or taken[key] == len(there):
                continue
            if only_single and (olds[key] > 1 or len(there) > 1):
                continue
            self.pair(index, there[taken[key]])
            taken[key] += 1

    def note_renames(self) -> None:
        """Learn from the pairs which heading became which, the outer ones first."""
        for old, new in sorted(self.new_of.items(), key=lambda pair: self.old[pair[0]].start):
            one, other = self.old[old].heading_path, self.new[new].heading_path
            if one != other and self.now(one[:-1]) == other[:-1]:
                self.renamed[one] = other

    def now(self, path: HeadingPath) -> HeadingPath:
        """The path as it reads once headings above (or it itself) were renamed."""
        for length in range(len(path), 0, -1):
            if (found := self.renamed.get(path[:length])) is not None:
                return (*found, *path[length:])
        return path

    def pair_empty_parents(self) -> None:
        """A heading without text of its own became the one that holds its subsections now."""
        while self._pair_some_parents():
            pass  # a parent that was paired tells of its own parent

    def _pair_some_parents(self) -> bool:
        votes: Counter[tuple[HeadingPath, HeadingPath]] = Counter()
        for mine, its in self.new_of.items():
            one, other = self.old[mine].heading_path, self.new[its].heading_path
            if len(one) == len(other) > 1 and one[-1] == other[-1]:
                votes[one[:-1], other[:-1]] += 1
        olds = {self.old[at].heading_path: at for at in self.open_old() if not self.old[at].body}
        news = {self.new[at].heading_path: at for at in self.open_new() if not self.new[at].body}
        known = len(self.new_of)
        for (one, other), _ in votes.most_common():
            if one in olds and other in news:
                self.pair(olds.pop(one), news.pop(other))
        return len(self.new_of) > known

    def pair_similar(self) -> None:
        """Pair what is left by its words: the section was edited and renamed or moved at once."""
        olds = [index for index in self.open_old() if self.old[index].body]
        news = [index for index in self.open_new() if self.new[index].body]
        if not olds or not news or len(olds) * len(news) > MAX_COMPARED:
            return
        words = {index: words_of(self.new[index].body) for index in news}
        scored = []
        for old in olds:
            mine = words_of(self.old[old].body)
            scored += [(similarity(mine, words[new]), -abs(old - new), old, new) for new in news]
        for score, _, old, new in sorted(scored, reverse=True):
            if score < SIMILAR_BODIES:
                break
            if old not in self.new_of and new not in self.old_of:
                self.pair(old, new)

    def kept_in_order(self) -> set[int]:
        """Old sections of the longest run of pairs that are in the same order on both sides."""
        pairs = sorted(self.new_of.items())
        tails: list[int] = []  # the smallest last element of a run of each length
        ends: list[int] = []
        before: list[int | None] = []
        for position, (_, new) in enumerate(pairs):
            at = bisect_left(tails, new)
            before.append(ends[at - 1] if at else None)
            if at == len(tails):
                tails.append(new)
                ends.append(position)
            else:
                tails[at], ends[at] = new, position
        kept: set[int] = set()
        last = ends[-1] if ends else None
        while last is not None:
            kept.add(pairs[last][0])
            last = before[last]
        return kept


def compare_sections(old: Sequence[OwnSection], new: Sequence[OwnSection]) -> list[Delta]:
    """What happened from one version of a document to the next; unchanged sections give nothing."""
    pairing = _Pairing(old, new)
    pairing.pair_by(lambda s: (s.heading_path, s.body), lambda s: (s.heading_path, s.body))
    pairing.pair_by(_heading_and_body, _heading_and_body)
    pairing.pair_by(_long_body, _long_body)
    pairing.pair_by(_parent_and_body, _parent_and_body, only_single=True)
    pairing.pair_empty_parents()
    pairing.note_renames()
    pairing.pair_by(
        lambda s: (pairing.now(s.heading_path), s.body), lambda s: (s.heading_path, s.body)
    )
    pairing.pair_by(lambda s: pairing.now(s.heading_path), lambda s: s.heading_path)
    pairing.pair_similar()
    pairing.note_renames()
    in_order = pairing.kept_in_order()
    found = []
    for index, section in enumerate(old):
        other = pairing.new_of.get(index)
        if other is None:
            found.append(Delta("REMOVED", section, None))
        elif kind := _kind(pairing, section, new[other], is_in_order=index in in_order):
            found.append(Delta(kind, section, new[other]))
    found += [Delta("ADDED", None, new[index]) for index in pairing.open_new()]
    return found


def _heading_and_body(section: OwnSection) -> Hashable:
    return (section.heading, section.body) if section.body else None


def _long_body(section: OwnSection) -> Hashable:
    return section.body if len(section.body) >= MIN_BODY_CHARS else None


def _parent_and_body(section: OwnSection) -> Hashable:
    return (section.heading_path[:-1], section.body) if section.body else None


def _kind(pairing: _Pairing, old: OwnSection, new: OwnSection, *, is_in_order: bool) -> str | None:
    if old.body != new.body:
        return "CHANGED"
    is_under_same = pairing.now(old.heading_path[:-1]) == new.heading_path[:-1]
    if old.heading != new.heading and is_under_same:
        return "RENAMED_HEADING"
    return None if is_under_same and is_in_order else "MOVED"


def match_across(deltas: Sequence[tuple[int, Delta]]) -> list[tuple[int | None, int | None, Delta]]:
    """Join what one document lost and another gained, the very same text, as MOVED.

    Takes deltas with the number of their document; gives (old document, new document, delta).
    """
    gained: dict[str, list[int]] = defaultdict(list)
    for position, (_, delta) in enumerate(deltas):
        if delta.kind == "ADDED" and delta.new and len(delta.new.body) >= MIN_BODY_CHARS:
            gained[delta.new.body].append(position)
    joined: dict[int, int] = {}  # position of the removal -> of the addition
    for position, (document, delta) in enumerate(deltas):
        if delta.kind != "REMOVED" or delta.old is None:
            continue
        there = gained.get(delta.old.body, [])
        other = next((at for at in there if deltas[at][0] != document), None)
        if other is not None:
            there.remove(other)
            joined[position] = other
    taken = set(joined.values())
    found: list[tuple[int | None, int | None, Delta]] = []
    for position, (document, delta) in enumerate(deltas):
        if position in taken:
            continue
        if position in joined:
            new_document, addition = deltas[joined[position]]
            moved = replace(delta, kind="MOVED", new=addition.new)
            found.append((document, new_document, moved))
        else:
            found.append((document if delta.old else None, document if delta.new else None, delta))
    return found


def words_of(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def similarity(one: Counter[str], other: Counter[str]) -> float:
    """The share of words that two texts have in common, 0 to 1."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0
