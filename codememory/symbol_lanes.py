"""Reads symbols in several processes side by side; all versions of a file go to the same one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from zlib import crc32

from codememory.symbol_reader import Reading, Sides, Started, SymbolReader
from collectors.objects import ObjectReader

LANES = 2  # more would hold more memory, and storing what was read needs a core as well


@dataclass(slots=True)
class StartedLanes:
    """A batch that is being read, and which of its sides each process has."""

    numbers: list[list[int]]
    started: list[Started]


class SymbolLanes:
    """A `SymbolReader` for each lane. Use as a context manager; counts what all of them did."""

    def __init__(self, reader: ObjectReader, blob_bytes: int, lanes: int = LANES) -> None:
        self._lanes = [SymbolReader(reader, blob_bytes) for _ in range(lanes)]
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for lane in self._lanes:
            self._stack.enter_context(lane)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def counts(self) -> tuple[int, int, int]:
        """Blobs parsed, their bytes, and versions that were known."""
        lanes = self._lanes
        return (
            sum(lane.parsed for lane in lanes),
            sum(lane.bytes_parsed for lane in lanes),
            sum(lane.hits for lane in lanes),
        )

    def start(self, sides: Sequence[Sides]) -> StartedLanes:
        """Have the first part of a batch read by each; returns at once. One batch at a time."""
        numbers: list[list[int]] = [[] for _ in self._lanes]
        for number, one in enumerate(sides):
            side = one.after or one.before
            numbers[crc32(side[1]) % len(numbers) if side else 0].append(number)
        lanes = zip(self._lanes, numbers, strict=True)
        return StartedLanes(numbers, [lane.start([sides[n] for n in mine]) for lane, mine in lanes])

    def is_ready(self, started: StartedLanes) -> bool:
        """Whether the batch is read: told without waiting."""
        pairs = zip(self._lanes, started.started, strict=True)
        ready = [lane.is_ready(batch) for lane, batch in pairs]  # each is to go on
        return all(ready)

    def finish(self, started: StartedLanes) -> list[Reading]:
        """Wait for the batch and read the rest of it; readings in the order of the sides."""
        waiting = list(zip(self._lanes, started.started, strict=True))
        while waiting:
            waiting = [(lane, batch) for lane, batch in waiting if lane.go_on(batch)]
        found: dict[int, Reading] = {}
        for lane, mine, batch in zip(self._lanes, started.numbers, started.started, strict=True):
            found.update(zip(mine, lane.finish(batch), strict=True))
        return [found[number] for number in sorted(found)]
