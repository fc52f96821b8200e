"""Content that left its file: lost strong lines sought in files that lacked them before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from codememory.verdicts.lines import TextFacts, is_import, line_hash
from codememory.verdicts.matter import EffectiveLine, LineState, Matter
from codememory.verdicts.runs import Runs, carry_weak

MIN_RUN_ELSEWHERE = 3
MAX_HOLDERS = 2  # files: a line in more of them is common
LOOKED_UP = 300  # lost lines of a hunk that are looked for
FILES_OPENED = 8


@dataclass(frozen=True, slots=True)
class _Find:
    """Lost lines in one other file: line number -> (length of its run, index there)."""

    path: bytes
    facts: TextFacts
    runs: dict[int, tuple[int, int]]

    @property
    def score(self) -> int:
        return sum(length for length, _ in self.runs.values())


def mark_elsewhere(matter: Matter) -> bytes | None:
    """Mark the lines found in the one file that has most of them, and return its path."""
    holders: dict[bytes, list[EffectiveLine]] = {}
    unique: set[int] = set()
    for line in _sought(matter):
        places = matter.world.where(line_hash(line.normal))
        if places.count == 1:
            unique.add(line.number)
        for path in places.paths if places.count <= MAX_HOLDERS else ():
            if path != matter.path:
                holders.setdefault(path, []).append(line)
    ranked = sorted(holders, key=lambda path: (-len(holders[path]), path))[:FILES_OPENED]
    finds = [find for path in ranked if (find := _look_in(path, holders[path], matter)) is not None]
    best = max(finds, key=lambda find: find.score, default=None)
    if best is None or not best.score:
        return None
    _settle(matter, best, unique)
    return best.path


def _sought(matter: Matter) -> list[EffectiveLine]:
    lost = {LineState.GONE, LineState.MAYBE_MOVED}
    texts = matter.images.new.lines
    return [
        line
        for line in matter.added
        if line.state in lost and line.is_strong and not is_import(texts[line.number])
    ][:LOOKED_UP]


def _look_in(path: bytes, lines: list[EffectiveLine], matter: Matter) -> _Find | None:
    held = matter.world.current(path)
    if held is None or held.content is None:
        return None
    before = matter.world.content_before(path, matter.case)
    had = Counter[bytes]() if before is None else matter.cache.facts(before).counts
    facts = matter.cache.facts(held.content)
    runs = Runs(matter.images.new, matter.span, facts)
    found = {line.number: runs.longest(line.number) for line in lines if not had[line.normal]}
    return _Find(path, facts, found)


def _settle(matter: Matter, find: _Find, unique: set[int]) -> None:
    matched: dict[int, int] = {}
    for line in matter.added:
        length, at = find.runs.get(line.number, (0, -1))
        if length >= MIN_RUN_ELSEWHERE:
            line.state = LineState.ELSEWHERE
            matched[line.number] = at
        elif length and line.number in unique and line.state is LineState.GONE:
            line.state = LineState.MAYBE_ELSEWHERE
    lost = [line for line in matter.added if line.state is LineState.GONE]
    carry_weak(lost, matched, matter.images.new, find.facts, LineState.ELSEWHERE)
