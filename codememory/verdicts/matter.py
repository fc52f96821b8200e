"""What one judgement is about: the case, its texts, its effective lines and their states."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from codememory.verdicts.lines import TextFacts
from codememory.verdicts.mapping import TextCache
from codememory.verdicts.trail import Trail
from codememory.verdicts.values import CurrentFile, HunkCase, World


class LineState(StrEnum):
    IN_PLACE = "in place"
    MOVED = "moved in the file"
    REFORMATTED = "re-wrapped"
    ELSEWHERE = "moved to another file"
    MAYBE_MOVED = "alone elsewhere in the file"
    MAYBE_ELSEWHERE = "in one other file"
    GONE = "gone"


HELD = frozenset({LineState.IN_PLACE, LineState.MOVED, LineState.REFORMATTED, LineState.ELSEWHERE})
ALIVE = HELD | {LineState.MAYBE_MOVED}


@dataclass(slots=True)
class EffectiveLine:
    """An added line that says something and that the hunk did not merely move within itself."""

    number: int  # index in the after image
    normal: bytes
    is_strong: bool
    state: LineState = LineState.GONE
    is_gain: bool = True  # the file has more of this line after the change than before


@dataclass(frozen=True, slots=True)
class Images:
    """The texts that a hunk is judged over."""

    old: TextFacts
    new: TextFacts
    now: TextFacts | None
    kept: list[int]  # line of `new` -> line of `now`, -1 where not kept
    had: list[int]  # line of `new` -> line of `old`, by the same comparison


@dataclass(frozen=True, slots=True)
class Matter:
    case: HunkCase
    world: World
    images: Images
    added: list[EffectiveLine]
    removed: list[EffectiveLine]
    span: range  # the hunk's lines in the after image; empty, at its place, for a pure deletion
    current: CurrentFile | None
    cache: TextCache
    trail: Trail

    @property
    def path(self) -> bytes | None:
        return None if self.current is None else self.current.path

    @property
    def states(self) -> Counter[LineState]:
        return Counter(line.state for line in self.added)

    @property
    def characters(self) -> int:
        """Size of both sides' effective text, without whitespace."""
        return sum(len(line.normal) for line in (*self.added, *self.removed))

    @property
    def share(self) -> float:
        """Surviving part of what was added, by characters."""
        whole = sum(len(line.normal) for line in self.added)
        alive = sum(len(line.normal) for line in self.added if line.state in ALIVE)
        return alive / whole if whole else 0.0
