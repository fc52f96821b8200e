"""Lines that moved together: how many strong neighbours stand in the same order elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from codememory.verdicts.lines import TextFacts
from codememory.verdicts.matter import EffectiveLine, LineState

PLACES_TRIED = 50  # places of one line at which a run is measured


class Runs:
    """Measures how many strong lines of a hunk stand in the same order around a line elsewhere."""

    def __init__(self, new: TextFacts, span: range, there: TextFacts) -> None:
        self._here = [number for number in new.strong if number in span]
        self._normals = [new.normals[number] for number in self._here]
        self._position = {number: at for at, number in enumerate(self._here)}
        self._there = there

    def longest(self, number: int, taken: Collection[int] = ()) -> tuple[int, int]:
        """(strong lines in the longest run, index of this line there); (0, -1): not there."""
        at = self._position[number]
        best = (0, -1)
        for place in self._there.strong_places.get(self._normals[at], [])[:PLACES_TRIED]:
            index = self._there.strong[place]
            if index in taken:
                continue  # that line was there all along: it is no trace of this one
            length = 1 + self._extent(at, place, 1) + self._extent(at, place, -1)
            best = max(best, (length, index))
        return best

    def _extent(self, at: int, place: int, step: int) -> int:
        there = self._there
        length = 0
        while True:
            at, place = at + step, place + step
            if not (0 <= at < len(self._normals) and 0 <= place < len(there.strong)):
                return length
            if there.normals[there.strong[place]] != self._normals[at]:
                return length
            length += 1


def carry_weak(
    lost: list[EffectiveLine],
    matched: dict[int, int],
    new: TextFacts,
    there: TextFacts,
    state: LineState,
) -> None:
    """A weak line moved too when it stands beside a moved neighbour there as it did here."""
    if not matched:
        return
    here_at, there_at = new.solid_at, there.solid_at
    for step, ordered in ((1, lost), (-1, lost[::-1])):
        for line in ordered:
            beside = here_at[line.number] - step
            if line.state is not LineState.GONE or not 0 <= beside < len(new.solid):
                continue
            anchor = matched.get(new.solid[beside])
            target = there_at[anchor] + step if anchor is not None else -1
            if not 0 <= target < len(there.solid):
                continue
            if there.normals[there.solid[target]] == line.normal:
                line.state = state
                matched[line.number] = there.solid[target]
