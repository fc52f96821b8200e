"""From raw definitions to symbols: their code without comments and white space, and its hashes.

The blob is normalised once into one stream; every symbol is a range of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from hashlib import blake2b
from operator import itemgetter

from collectors.symbol_tree import Definition, Parsed
from collectors.symbol_values import Piece, Placed, Symbol

SIGNATURE_LENGTH = 200
SPACE = b" \t\r\n\f\v"
_WORD_SPACE = re.compile(rb"[ \t\r\n\f\v]+")
# What happens at one offset, in this order, so that the code of a symbol never depends on whether
# it is the first or last of the block around it.
_END, _CLOSE, _BODY, _START, _PIECE = range(5)
_OFFSET, _ORDER = 28, 24  # bits of a mark: offset, order, number of the definition
_Span = tuple[int, int]
_new = tuple.__new__


def digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


def build(data: bytes, found: Parsed, *, keeps_words: bool) -> tuple[tuple[Symbol, ...], bytes]:
    """The symbols, and the hash of all code of the blob."""
    piece = build_piece(data, found, keeps_words=keeps_words)
    return piece.symbols, digest(whole_code(piece))


def whole_code(piece: Piece) -> bytes:
    return piece.code + b"}" * piece.blocks


def build_piece(data: bytes, found: Parsed, *, keeps_words: bool) -> Piece:
    """Hash what is defined; the pieces in it are taken over as they are."""
    code, starts, bodies, ends, places = _normalise(data, found, keeps_words)
    comments = _Comments(data, found)
    spans, inside = _spans(found, starts, ends, places)
    closes = b"}" if found.block_ends else b""
    seen: dict[str, int] = {}
    symbols: list[Symbol] = []
    for number, one in enumerate(found.definitions):
        start, body_at, end = starts[number], bodies[number], ends[number]
        body = code[body_at:end]
        body_hash = digest(body)
        own_hash = body_hash
        if inside[number]:
            own_hash = digest(_without(code, body_at, end, inside[number], closes))
        plain = one.plain_name
        is_named_inside = len(plain) > 2 and plain in body
        ordinal = seen.get(one.name, 0)
        seen[one.name] = ordinal + 1
        symbols.append(
            Symbol(
                one.name,
                one.kind,
                ordinal,
                one.parent,
                one.start,
                one.end,
                one.first_line,
                one.last_line,
                comments.signature(one),
                one.is_partial,
                end - body_at,
                body_hash,
                digest(body.replace(plain, b"\0")) if is_named_inside else body_hash,
                own_hash,
                digest(code[start:body_at]),
                comments.hash_of(one.start, one.end),
                digest(data[one.start : one.end]),
            )
        )
    for placed in found.pieces:
        symbols += place(placed, len(symbols), seen)
    blocks = found.block_ends.count(len(data))
    ends_in_comment = _ends_in_comment(data, found)
    return Piece(tuple(symbols), tuple(spans), code, blocks, tuple(comments.texts), ends_in_comment)


def place(placed: Placed, base: int, seen: dict[str, int]) -> list[Symbol]:
    """A piece's symbols where they are; `base` come before them, and `seen` counts their names."""
    piece, start, _, line, parent = placed
    symbols = []
    for one in piece.symbols:
        name, kind, _, inner, first, end, first_line, last_line = one[:8]
        ordinal = seen.get(name, 0)
        seen[name] = ordinal + 1
        outer = parent if inner is None else base + inner
        places = (first + start, end + start, first_line + line, last_line + line)
        symbols.append(_new(Symbol, (name, kind, ordinal, outer, *places, *one[8:])))
    return symbols


def _spans(
    found: Parsed, starts: list[int], ends: list[int], places: list[int]
) -> tuple[list[_Span], list[list[_Span]]]:
    """Where the outermost symbols lie in the code, and those directly inside each definition."""
    spans: list[_Span] = []
    inside: list[list[_Span]] = [[] for _ in found.definitions]
    for number, one in enumerate(found.definitions):
        into = spans if one.parent is None else inside[one.parent]
        into.append((starts[number], ends[number]))
    for at, placed in zip(places, found.pieces, strict=True):
        into = spans if placed.parent is None else inside[placed.parent]
        into += [(at + first, at + last) for first, last in placed.piece.spans]
    return spans, inside


def _ends_in_comment(data: bytes, found: Parsed) -> bool:
    ends = [(end, is_comment) for _, end, is_comment in found.regions[-1:]]
    ends += [(placed.end, placed.piece.ends_in_comment) for placed in found.pieces[-1:]]
    end, is_comment = max(ends, default=(0, False))
    return is_comment and not data[end:].strip()


def comment_hash(data: bytes, found: Parsed) -> bytes:
    return _Comments(data, found).hash_of(0, len(data))


def _without(
    code: bytes,
    start: int,
    end: int,
    inner: list[_Span],
    closes: bytes,
) -> bytes:
    """The range without the symbols inside, nor what `_normalise` puts after the block of each."""
    parts, at = [], start
    for first, last in inner:
        parts.append(code[at : max(at, first)])
        at = max(at, last)
        if closes and code[at : at + 1] == closes:
            at += 1
    parts.append(code[at : max(at, end)])
    return b"".join(parts)


def _marks(found: Parsed, size: int) -> list[int]:
    """Every offset at which something of the stream must be known or put, in order."""
    marks = []
    for number, one in enumerate(found.definitions):
        marks.append(one.start << _OFFSET | _START << _ORDER | number)
        marks.append(
            one.body << _OFFSET | (_BODY if one.body < one.end else _END) << _ORDER | number
        )
        if one.body < one.end:
            marks.append(one.end << _OFFSET | _END << _ORDER | number)
    # Where a block opens the code shows (by a colon); where it closes only indentation does.
    marks += [end << _OFFSET | _CLOSE << _ORDER for end in found.block_ends if end < size]
    marks += [
        one.start << _OFFSET | _PIECE << _ORDER | number for number, one in enumerate(found.pieces)
    ]
    marks.sort()
    marks.append(size << _OFFSET | 7 << _ORDER)
    return marks


def _normalise(
    data: bytes, found: Parsed, keeps_words: bool
) -> tuple[bytes, list[int], list[int], list[int], list[int]]:
    """The stream, and where each definition, its body, its end and each piece lie in it."""
    count = max(len(found.definitions), len(found.pieces))
    places = [[0] * count for _ in range(_PIECE + 1)]
    out: list[bytes] = []
    length = at = 0
    regions = iter(_replaced(found, len(data)))
    region_start, region_end, instead = next(regions)
    for mark in _marks(found, len(data)):
        offset = mark >> _OFFSET
        while at < offset:
            if at < region_start:
                stop = min(offset, region_start)
                piece = _stripped(data[at:stop], keeps_words)
            else:
                stop = min(offset, region_end)
                piece = data[at:stop] if instead is None else instead
                if stop == region_end:
                    region_start, region_end, instead = next(regions)
            at = stop
            if keeps_words and piece[:1] == b" " and out and out[-1][-1:] == b" ":
                piece = piece[1:]  # white space on both sides of a comment is one space
            if not piece:
                continue
            out.append(piece)
            length += len(piece)
        order = mark >> _ORDER & 15
        if order == _CLOSE:
            out.append(b"}")
            length += 1
        elif order <= _PIECE:
            places[order][mark & 0xFFFFFF] = length
    bodies, ends = places[_BODY], places[_END]
    for number, one in enumerate(found.definitions):
        if one.body >= one.end:
            bodies[number] = ends[number]
    return b"".join(out), places[_START], bodies, ends, places[_PIECE][: len(found.pieces)]


def _replaced(found: Parsed, size: int) -> list[tuple[int, int, bytes | None]]:
    """What does not only lose its white space: ranges, and what is put for each; None: itself."""
    regions = [(start, end, b"" if comment else None) for start, end, comment in found.regions]
    if found.pieces:
        regions += [(one.start, one.end, one.piece.code) for one in found.pieces]
        regions.sort(key=itemgetter(0))
    return [*regions, (size + 1, 0, None)]


def _stripped(text: bytes, keeps_words: bool) -> bytes:
    return _WORD_SPACE.sub(b" ", text) if keeps_words else text.translate(None, SPACE)


class _Comments:
    """The comments of a blob: their hash within a range, and signatures without them."""

    def __init__(self, data: bytes, found: Parsed) -> None:
        self.data = data
        self.spans = [(start, end) for start, end, is_comment in found.regions if is_comment]
        self.starts = [start for start, _ in self.spans]
        self.texts = [data[start:end].translate(None, SPACE) for start, end in self.spans]
        self.places = self.starts
        if found.pieces:
            all_of = list(zip(self.starts, self.texts, strict=True))
            all_of += [(one.start, text) for one in found.pieces for text in one.piece.comments]
            all_of.sort(key=itemgetter(0))
            self.places = [start for start, _ in all_of]
            self.texts = [text for _, text in all_of]

    def hash_of(self, start: int, end: int) -> bytes:
        """Over the words of the comments that begin in the range; b"" where none does."""
        first, last = bisect_left(self.places, start), bisect_left(self.places, end)
        if first == last:
            return b""
        return digest(b"\n".join(self.texts[first:last]))

    def signature(self, one: Definition) -> str:
        head, body = one.head, one.body
        text = self.data[head : min(body, head + 8 * SIGNATURE_LENGTH)]
        first = bisect_left(self.starts, head)
        if first < len(self.starts) and self.starts[first] < body:
            last = bisect_left(self.starts, body)
            for start, end in reversed(self.spans[first:last]):
                text = text[: start - head] + b" " + text[max(0, end - head) :]
        line = " ".join(text.decode("utf-8", "backslashreplace").split()).rstrip("{ :=;,")
        if not line.isprintable():
            line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
        return line if len(line) <= SIGNATURE_LENGTH else line[: SIGNATURE_LENGTH - 1] + "…"
