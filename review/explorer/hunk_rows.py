"""Old and new code of a file change: hunks with the lines around them, numbered and redacted.

Each line is cut out of its blob by itself, so that numbers stay exact beside what is redacted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

from codememory.checkout import Checkout
from codememory.models import ContentChange
from review.differences import Cell, DiffRow, Part, side_by_side
from review.highlighting import Span, highlight, with_spans

CONTEXT = 3  # lines around a hunk
LINES_OF_HUNK = 120  # shown of a side
CHARACTERS = 2_000  # shown of a line

Line = tuple[int, str]


@dataclass(slots=True)
class Block:
    """Hunks that stand so close together that the lines around them meet.

    `cut` counts the lines of them that are not shown; `is_unseen`: no letter of them differs;
    `is_redacted`: marks in the file stand for what was cut out.
    """

    numbers: list[int]
    rows: list[DiffRow] = field(default_factory=list)
    cut: int = 0
    is_unseen: bool = False
    is_redacted: bool = False

    @property
    def characters(self) -> int:
        """Of both sides."""
        cells = (cell for row in self.rows for cell in (row.old, row.new) if cell)
        return sum(len(cell.text) for cell in cells)

    def colour(self, old_path: str, new_path: str) -> None:
        """Put the code in colours, each side by itself, as far as the lines shown tell it."""
        old = _spans(old_path, [row.old for row in self.rows])
        new = _spans(new_path, [row.new for row in self.rows])
        self.rows = with_spans(self.rows, old, new)


def _spans(path: str, cells: Sequence[Cell | None]) -> dict[int, tuple[Span, ...]]:
    there = [cell for cell in cells if cell]
    found = highlight(path, [cell.text for cell in there])
    return {cell.number: spans for cell, spans in zip(there, found, strict=True)}


class _Side:
    """The lines of one blob."""

    def __init__(self, checkout: Checkout, oid: str | None, *, drops_returns: bool) -> None:
        self._checkout = checkout
        self._oid = oid
        self._end = b"\r\n" if drops_returns else b"\n"
        content = checkout.content(oid) or b""
        lengths = (len(line) + 1 for line in content.split(b"\n"))
        self._starts = list(accumulate(lengths, initial=0))
        self._size = len(content)
        self.is_redacted = False  # as far as lines were asked for
        self.count = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))

    def lines(self, first: int, last: int) -> list[Line]:
        """Lines first to last (from 1, inclusive), as far as there are any."""
        numbers = range(max(first, 1), min(last, self.count) + 1)
        return [(number, self._text(number)) for number in numbers]

    def _text(self, number: int) -> str:
        start, end = self._starts[number - 1], min(self._starts[number], self._size)
        taken = self._checkout.cut(self._oid, start, end) if self._oid else (b"", ())
        if not isinstance(taken, tuple):
            return ""
        raw: bytes = taken[0]
        self.is_redacted |= bool(taken[1])
        text = raw.removesuffix(self._end).removesuffix(b"\n").decode("utf-8", "surrogateescape")
        if len(text) <= CHARACTERS:
            return text
        return f"{text[:CHARACTERS]} … {len(text) - CHARACTERS} more characters"


def blocks_of(checkout: Checkout, change: ContentChange, numbers: Sequence[int]) -> list[Block]:
    """Return these hunks (numbers from 1, in order) with the lines around them.

    Empty where a blob that should be there is not.
    """
    sides = [checkout.content(oid) for oid in (change.old_oid, change.new_oid)]
    wanted = [change.old_oid is not None, change.new_oid is not None]
    if any(is_wanted and content is None for is_wanted, content in zip(wanted, sides, strict=True)):
        return []
    ends = [_ends_in_returns(content) for content in sides if content]
    is_crlf = bool(ends) and all(ends)
    old = _Side(checkout, change.old_oid, drops_returns=is_crlf)
    new = _Side(checkout, change.new_oid, drops_returns=is_crlf)
    blocks = list(_blocks(change, numbers, old, new))
    for block in blocks:
        block.is_redacted = old.is_redacted or new.is_redacted
    return blocks


def _ends_in_returns(content: bytes) -> bool:
    lines = content.count(b"\n")
    return bool(lines) and lines == content.count(b"\r\n")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a hunk stands: its first lines on both sides, and those after its last ones."""

    old: int
    old_end: int
    new: int
    new_end: int


def _places(change: ContentChange) -> list[_Place]:
    found = []
    for hunk in change.hunks():
        # A side without lines names the line before which the others stand.
        old, new = hunk.old_line, hunk.new_line
        found.append(_Place(old, old + hunk.old_lines, new, new + hunk.new_lines))
    return found


def _blocks(
    change: ContentChange, numbers: Sequence[int], old: _Side, new: _Side
) -> Iterator[Block]:
    """What lies between two hunks is the same on both sides; a hunk that is left out is not."""
    places = _places(change)
    block: Block | None = None
    for number in numbers:
        place = places[number - 1]
        lead = place.new - (places[number - 2].new_end if number > 1 else 1)
        if block is not None and block.numbers[-1] == number - 1 and lead <= 2 * CONTEXT:
            pass
        else:
            if block is not None:
                yield block
            block, lead = Block([]), min(lead, CONTEXT)
        block.numbers.append(number)
        block.rows += _same(old, new, place.old - lead, place.new - lead, lead)
        _add_hunk(block, old, new, place)
        trail = places[number].new - place.new_end if number < len(places) else CONTEXT
        if number + 1 not in numbers or trail > 2 * CONTEXT:
            trail = min(trail, CONTEXT)
            block.rows += _same(old, new, place.old_end, place.new_end, trail)
    if block is not None:
        yield block


def _add_hunk(block: Block, old: _Side, new: _Side, place: _Place) -> None:
    gone = old.lines(place.old, min(place.old_end, place.old + LINES_OF_HUNK) - 1)
    come = new.lines(place.new, min(place.new_end, place.new + LINES_OF_HUNK) - 1)
    block.cut += place.old_end - place.old - len(gone) + place.new_end - place.new - len(come)
    block.is_unseen |= [text for _, text in gone] == [text for _, text in come]
    block.rows += side_by_side(gone, come)


def _same(old: _Side, new: _Side, old_first: int, new_first: int, count: int) -> list[DiffRow]:
    """Lines that both sides have."""
    before = old.lines(old_first, old_first + count - 1)
    after = new.lines(new_first, new_first + count - 1)
    return [DiffRow(_plain(a), _plain(b)) for a, b in zip(before, after, strict=False)]


def _plain(line: Line) -> Cell:
    return Cell(line[0], (Part("same", line[1]),), is_changed=False)


def unified(rows: Sequence[DiffRow]) -> list[DiffRow]:
    """The same rows one below the other: of a run of changed lines first all old, then all new."""
    found: list[DiffRow] = []
    gone: list[DiffRow] = []
    come: list[DiffRow] = []
    for row in chain(rows, [None]):
        if row is not None and _is_changed(row):
            gone += [DiffRow(row.old, None)] if row.old else []
            come += [DiffRow(None, row.new)] if row.new else []
            continue
        found += [*gone, *come]
        gone, come = [], []
        if row is not None:
            found.append(row)
    return found


def _is_changed(row: DiffRow) -> bool:
    return any(cell is not None and cell.is_changed for cell in (row.old, row.new))
