"""What happened to symbols between pairs of blobs, many pairs at a time.

`read_pairs` runs in the process that parses and keeps there what it read, so that only what is new
goes in and only what changed comes out.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from collectors.symbol_changes import Numbered, compare_symbols, difference
from collectors.symbol_text import place
from collectors.symbol_values import Coverage, Placed, Symbol, SymbolChange, TableDifference
from collectors.symbol_versions import Version, VersionKey, VersionStore
from collectors.symbols import hunks_of
from collectors.values import GapReason


class SymbolPair(NamedTuple):
    """Two sides to compare, None for one that does not exist; eight integers a hunk."""

    before: VersionKey | None
    after: VersionKey | None
    ranges: Sequence[int]


class PairReading(NamedTuple):
    """What a pair differs in. `touched` are the numbers (from 1) of the hunks of each change."""

    coverage: Coverage
    reason: GapReason | None
    difference: TableDifference
    changes: tuple[SymbolChange, ...] = ()
    touched: tuple[tuple[int, ...], ...] = ()
    limited: tuple[VersionKey, ...] = ()  # sides of which a part was not read


class PairsAnswer(NamedTuple):
    """Readings in the order of the pairs, what the process forgot, and what it did."""

    readings: list[PairReading]
    forgotten: list[VersionKey]
    parsed: int
    bytes_parsed: int
    hits: int


_STORE = VersionStore()
_COVERAGES = [Coverage.FULL, Coverage.PARTIAL, Coverage.TEXTUAL_ONLY]


def read_pairs(_: bytes, pairs: Sequence[SymbolPair], contents: Mapping[str, bytes]) -> PairsAnswer:
    """Compare the pairs. Contents by object id: of each side that this process does not know.

    Raises KeyError for a side whose content is neither known nor given.
    """
    # Nothing here refers to itself; the collector of cycles would look at all that is kept.
    gc.disable()
    try:
        return read_with(_STORE, pairs, contents)
    finally:
        gc.freeze()
        gc.enable()


def read_with(
    store: VersionStore, pairs: Sequence[SymbolPair], contents: Mapping[str, bytes]
) -> PairsAnswer:
    """`read_pairs` with a store of one's own."""
    before = store.parsed, store.bytes_parsed, store.hits
    readings = [_read(store, pair, contents) for pair in pairs]
    forgotten = store.drop_oldest()
    now = store.parsed, store.bytes_parsed, store.hits
    return PairsAnswer(readings, forgotten, *(b - a for a, b in zip(before, now, strict=True)))


def _read(store: VersionStore, pair: SymbolPair, contents: Mapping[str, bytes]) -> PairReading:
    before = after = None
    if pair.before is not None:
        before = store.get(pair.before) or store.read(pair.before, contents[pair.before[0]])
    if pair.after is not None:
        base = pair.before if pair.before and pair.before[1] == pair.after[1] else None
        after = store.get(pair.after) or store.read(
            pair.after, contents[pair.after[0]], base, pair.ranges
        )
    return compare_versions(before, after, pair)


def compare_versions(
    before: Version | None, after: Version | None, pair: SymbolPair
) -> PairReading:
    """The same as `compare` and `difference` of both tables, by what the sides do not share."""
    there = [one for one in (before, after) if one is not None]
    coverage = max((one.coverage for one in there), key=_COVERAGES.index)
    reason = next((one.reason for one in there if one.coverage is coverage), None)
    limited = tuple(
        key
        for key, side in ((pair.before, before), (pair.after, after))
        if key and side and side.reason not in {None, GapReason.PARSE_ERROR}
    )
    if coverage is Coverage.TEXTUAL_ONLY:
        is_one_sided = len(there) == 1
        kind = TableDifference.CODE if is_one_sided else TableDifference.UNKNOWN
        return PairReading(coverage, reason, kind, limited=limited)
    kind, old, new = _numbered(before, after)
    changes = compare_symbols(old, new, is_partial=coverage is not Coverage.FULL)
    touched = _touched(changes, old, new, pair.ranges)
    return PairReading(coverage, reason, kind, changes, touched, limited)


def _numbered(
    before: Version | None, after: Version | None
) -> tuple[TableDifference, Numbered, Numbered]:
    """What they differ in, and the symbols of both sides that may differ, by number."""
    if before is None or after is None or before.plain or after.plain:
        tables = [one.table() if one else None for one in (before, after)]
        kind = TableDifference.CODE
        if tables[0] is not None and tables[1] is not None:
            kind = difference(tables[0], tables[1])
        old, new = (dict(enumerate(one.symbols)) if one else {} for one in tables)
        return kind, old, new
    first, last = _shared_ends(before.pieces, after.pieces)
    kind = _difference(before, after, first, last)
    chosen = _unshared(before.pieces, after.pieces, first, last)
    if chosen is None:
        old, new = (dict(enumerate(one.table().symbols)) for one in (before, after))
        return kind, old, new
    return kind, _placed(before, chosen[0]), _placed(after, chosen[1])


def _shared_ends(old: Sequence[Placed], new: Sequence[Placed]) -> tuple[int, int]:
    """How many pieces are the same at the beginning, and how many at the end."""
    most = min(len(old), len(new))
    first = last = 0
    while first < most and old[first].piece is new[first].piece:
        first += 1
    while last < most - first and old[-1 - last].piece is new[-1 - last].piece:
        last += 1
    return first, last


def _difference(before: Version, after: Version, first: int, last: int) -> TableDifference:
    if before.language.grammar != after.language.grammar:
        return TableDifference.UNKNOWN
    old, new = (one.part(first, len(one.pieces) - last) for one in (before, after))
    if old.code != new.code:
        return TableDifference.CODE
    if old.comments != new.comments:
        return TableDifference.COMMENT_ONLY
    if before.table() == after.table():
        return TableDifference.NONE
    return TableDifference.FORMATTING_ONLY


def _unshared(
    old: Sequence[Placed], new: Sequence[Placed], first: int, last: int
) -> tuple[list[int], list[int]] | None:
    """Which pieces are on one side only; None where one of their names is in a shared one, too."""
    middles = range(first, len(old) - last), range(first, len(new) - last)
    counts = [
        Counter(id(side[n].piece) for n in middle)
        for side, middle in zip((old, new), middles, strict=True)
    ]
    shared = {one for one, n in counts[0].items() if n == 1 and counts[1].get(one) == 1}
    kept = [
        [n for n in middle if id(side[n].piece) not in shared]
        for side, middle in zip((old, new), middles, strict=True)
    ]
    names = {
        one.name
        for side, numbers in zip((old, new), kept, strict=True)
        for n in numbers
        for one in side[n].piece.symbols
    }
    chosen = set(kept[0])
    for number, placed in enumerate(old):
        if number not in chosen and any(one.name in names for one in placed.piece.symbols):
            return None
    return kept[0], kept[1]


def _placed(version: Version, numbers: Sequence[int]) -> Numbered:
    """The symbols of some pieces, by their numbers in the whole table."""
    firsts = version.firsts()
    seen: dict[str, int] = {}
    found: dict[int, Symbol] = {}
    for number in numbers:
        base = firsts[number]
        found.update(enumerate(place(version.pieces[number], base, seen), base))
    return found


def _touched(
    changes: Sequence[SymbolChange], old: Numbered, new: Numbered, ranges: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Which hunks touch each change's symbol innermost, on either side."""
    if not changes:
        return ()
    numbers: dict[int, list[int]] = {}
    for side, at in ((old, 0), (new, 2)):
        wanted = {id(s) for c in changes for s in (c.before, c.after) if s is not None}
        lines = [
            (line, line + count - 1)
            for line, count in zip(ranges[at::8], ranges[at + 1 :: 8], strict=True)
        ]
        numbers.update(hunks_of(side, wanted, lines))
    return tuple(
        tuple(
            sorted({n for s in (change.before, change.after) if s for n in numbers.get(id(s), ())})
        )
        for change in changes
    )
