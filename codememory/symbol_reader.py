"""Reads symbols of batches of content changes in a process of its own, one batch ahead.

That process keeps what it read and is killed when a blob takes too long; here only what it knows is
remembered, so that each blob is handed over once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from collectors.objects import ObjectReader
from collectors.parse_pool import Crashed, Deadline, ParsePool
from collectors.symbol_languages import language_of
from collectors.symbol_pairs import PairReading, PairsAnswer, SymbolPair
from collectors.symbol_values import Coverage, TableDifference
from collectors.symbol_versions import VersionKey
from collectors.symbols import MAX_BYTES
from collectors.values import Gap, GapReason

PARSE_SECONDS = 5.0  # of processor time, for one blob
PART_SECONDS = 30.0  # for what is handed over at once: usually about one
PART_BYTES = 6 << 20
_FUNCTION = "collectors.symbol_pairs:read_pairs"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sides:
    """Object id and path of both sides of a content change; its hunks, eight integers each."""

    before: tuple[str, bytes] | None
    after: tuple[str, bytes] | None
    ranges: Sequence[int]


@dataclass(slots=True)
class Reading:
    """What was found out of one, in which language, and what was not read (without a path)."""

    language: str | None
    found: PairReading
    gaps: list[tuple[Gap, bytes]] = field(default_factory=list)


@dataclass(slots=True)
class _Part:
    """What is handed over at once."""

    numbers: list[int] = field(default_factory=list)
    pairs: list[SymbolPair] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    size: int = 0


@dataclass(slots=True)
class Started:
    """A batch whose first part is being read."""

    sides: Sequence[Sides]
    readings: dict[int, Reading]
    waiting: Iterator[int]
    part: _Part
    answer: Future[Any] | None


class SymbolReader:
    """Use as a context manager: one process, and a thread that waits for it. Counts its work."""

    def __init__(self, reader: ObjectReader, blob_bytes: int) -> None:
        self._reader = reader
        self._blob_bytes = blob_bytes
        self._pool = ParsePool()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="symbols")
        self._held: set[VersionKey] = set()  # what the process knows
        self._unread: dict[VersionKey, Gap] = {}
        self.parsed = self.bytes_parsed = self.hits = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._pool.close()

    def start(self, sides: Sequence[Sides]) -> Started:
        """Have the first part of a batch read; returns at once. One batch at a time."""
        missing = {key[0] for one in sides for key in _keys(one) if key and key not in self._held}
        self._reader.prefetch(sorted(missing), limit=self._blob_bytes)
        started = Started(sides, {}, iter(range(len(sides))), _Part(), None)
        self._fill(started)
        return started

    def is_ready(self, started: Started) -> bool:
        """Whether the batch is read; what can be asked for without waiting is."""
        while started.answer is not None and started.answer.done():
            self.go_on(started)
        return started.answer is None

    def finish(self, started: Started) -> list[Reading]:
        """Wait for the batch and read the rest of it; readings in the order of the sides."""
        while self.go_on(started):
            pass
        return [started.readings[number] for number in range(len(started.sides))]

    def go_on(self, started: Started) -> bool:
        """Wait for the part that is being read and have the next one read; False: it was all."""
        if started.answer is None:
            return False
        answer = started.answer.result()
        if isinstance(answer, PairsAnswer):
            self._take(started, started.part, answer)
        else:
            self._one_by_one(started, answer)
        self._fill(started)
        return started.answer is not None

    def _fill(self, started: Started) -> None:
        """Ask for a part of what can be read; what cannot is answered here."""
        part = started.part = _Part()
        started.answer = None
        while part.size < PART_BYTES and (number := next(started.waiting, None)) is not None:
            sides = started.sides[number]
            contents, gaps = self._contents(sides, part.contents)
            if gaps or not all(_has_grammar(side) for side in (sides.before, sides.after)):
                started.readings[number] = _textual(sides, gaps)
                continue
            part.numbers.append(number)
            part.pairs.append(SymbolPair(*_keys(sides), sides.ranges))
            part.contents.update(contents)
            part.size += sum(map(len, contents.values()))
        if part.pairs:
            started.answer = self._thread.submit(self._ask, part, PART_SECONDS)

    def _contents(
        self, sides: Sides, at_hand: dict[str, bytes], *, is_all: bool = False
    ) -> tuple[dict[str, bytes], list[tuple[Gap, bytes]]]:
        """What the process does not know of both sides, or all; and what cannot be read."""
        contents: dict[str, bytes] = {}
        gaps: list[tuple[Gap, bytes]] = []
        for key, side in zip(_keys(sides), (sides.before, sides.after), strict=True):
            if key is None or side is None:
                continue
            if (gap := self._unread.get(key)) is not None:
                gaps.append((gap, side[1]))
            elif is_all or (key not in self._held and key[0] not in at_hand):
                content = self._reader.read(key[0], limit=self._blob_bytes)
                if isinstance(content, bytes) and len(content) > MAX_BYTES:
                    content = Gap(GapReason.PARSER_LIMIT, oid=key[0], detail=key[1])
                if isinstance(content, Gap):
                    gaps.append((content, side[1]))
                else:
                    contents[key[0]] = content
        return contents, gaps

    def _ask(self, part: _Part, seconds: float) -> Any:
        return self._pool.submit(_FUNCTION, b"", seconds, part.pairs, part.contents)

    def _take(self, started: Started, part: _Part, answer: PairsAnswer) -> None:
        self._held.update(key for pair in part.pairs for key in pair[:2] if key)
        self._held.difference_update(answer.forgotten)
        self.parsed += answer.parsed
        self.bytes_parsed += answer.bytes_parsed
        self.hits += answer.hits
        for number, found in zip(part.numbers, answer.readings, strict=True):
            sides = started.sides[number]
            paths = dict(zip(_keys(sides), (sides.before, sides.after), strict=True))
            gaps = [
                (Gap(found.reason or GapReason.PARSER_LIMIT, oid=key[0], detail=key[1]), side[1])
                for key in found.limited
                if (side := paths[key]) is not None
            ]
            started.readings[number] = Reading(_language(sides), found, gaps)

    def _one_by_one(self, started: Started, why: Deadline | Crashed) -> None:
        """Find the blob that stopped the whole part; it stays unread, with its gap."""
        self._held.clear()  # the process that knew it is gone, or is not what we think
        for number in started.part.numbers:
            sides = started.sides[number]
            contents, gaps = self._contents(sides, {}, is_all=True)
            if not gaps:
                pair = SymbolPair(*_keys(sides), sides.ranges)
                alone = _Part([number], [pair], contents)
                answer = self._ask(alone, 2 * PARSE_SECONDS)
                if isinstance(answer, PairsAnswer):
                    self._take(started, alone, answer)
                    continue
                self._held.clear()
                log.warning("symbols of a content were not read: %s, then %s", why, answer)
                gaps = self._blame(sides, contents, answer)
            started.readings[number] = _textual(sides, gaps)

    def _blame(
        self, sides: Sides, contents: dict[str, bytes], why: Deadline | Crashed
    ) -> list[tuple[Gap, bytes]]:
        """Which side it is that cannot be read; the newer one where each can on its own."""
        found: list[tuple[Gap, bytes]] = []
        both = list(zip(_keys(sides), (sides.before, sides.after), strict=True))
        there = [(key, side[1]) for key, side in both if key is not None and side is not None]
        for key, path in there:
            pair = SymbolPair(None, key, ())
            alone = _Part([], [pair], {key[0]: contents[key[0]]})
            answer = self._ask(alone, PARSE_SECONDS)
            if isinstance(answer, Deadline | Crashed):
                found.append((_gap(key, answer), path))
        if not found:
            found.append((_gap(there[-1][0], why), there[-1][1]))
        self._held.clear()
        self._unread.update((key, gap) for gap, _ in found for key, _ in there if key[0] == gap.oid)
        return found


def _key(side: tuple[str, bytes] | None) -> VersionKey | None:
    language = language_of(side[1]) if side else None
    return (side[0], language.name) if side and language else None


def _keys(sides: Sides) -> tuple[VersionKey | None, VersionKey | None]:
    return _key(sides.before), _key(sides.after)


def _has_grammar(side: tuple[str, bytes] | None) -> bool:
    return side is None or _key(side) is not None


def _language(sides: Sides) -> str | None:
    key = _key(sides.after or sides.before)
    return key[1] if key else None


def _gap(key: VersionKey, why: Deadline | Crashed) -> Gap:
    if isinstance(why, Deadline):
        return Gap(GapReason.DEADLINE, oid=key[0], detail=f"{key[1]}, {why.seconds:g} s")
    return Gap(GapReason.PARSE_ERROR, oid=key[0], detail=f"{key[1]}, {why.detail}")


def _textual(sides: Sides, gaps: list[tuple[Gap, bytes]]) -> Reading:
    """A side without symbols: nothing is said of any."""
    reason = gaps[0][0].reason if gaps else GapReason.NO_GRAMMAR
    is_one_sided = sides.before is None or sides.after is None
    kind = TableDifference.CODE if is_one_sided else TableDifference.UNKNOWN
    return Reading(_language(sides), PairReading(Coverage.TEXTUAL_ONLY, reason, kind), gaps)
