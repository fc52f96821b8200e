"""From raw definitions to symbols: their code without comments and white space, and its hashes.

The blob is normalised once into one stream; every symbol is a range of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from hashlib import blake2b

from collectors.symbol_tree import Definition, Parsed
from collectors.symbol_values import Symbol

SIGNATURE_LENGTH = 200
_SPACE = b" \t\r\n\f\v"
_WORD_SPACE = re.compile(rb"[ \t\r\n\f\v]+")
# What happens at one offset, in this order, so that the code of a symbol never depends on whether
# it is the first or last of the block around it.
_END, _CLOSE, _BODY, _START = range(4)
_OFFSET, _ORDER = 28, 24  # bits of a mark: offset, order, number of the definition
_Regions = list[tuple[int, int, bool]]


def digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


def build(data: bytes, found: Parsed, *, keeps_words: bool) -> tuple[tuple[Symbol, ...], bytes]:
    """The symbols, and the hash of all code of the blob."""
    code, starts, bodies, ends = _normalise(data, found, keeps_words)
    comments = _Comments(data, found.regions)
    inside: list[list[int]] = [[] for _ in found.definitions]
    for number, one in enumerate(found.definitions):
        if one.parent is not None:
            inside[one.parent].append(number)
    closes = b"}" if found.block_ends else b""
    seen: Counter[str] = Counter()
    symbols = []
    for number, one in enumerate(found.definitions):
        start, body_at, end = starts[number], bodies[number], ends[number]
        body = code[body_at:end]
        body_hash = digest(body)
        own_hash = body_hash
        if inside[number]:
            own_hash = digest(_without(code, body_at, end, inside[number], starts, ends, closes))
        plain = one.plain_name
        is_named_inside = len(plain) > 2 and plain in body
        symbols.append(
            Symbol(
                one.name,
                one.kind,
                seen[one.name],
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
        seen[one.name] += 1
    return tuple(symbols), digest(code)


def comment_hash(data: bytes, found: Parsed) -> bytes:
    return _Comments(data, found.regions).hash_of(0, len(data))


def _without(
    code: bytes,
    start: int,
    end: int,
    inner: list[int],
    starts: list[int],
    ends: list[int],
    closes: bytes,
) -> bytes:
    """The range without the symbols inside, nor what `_normalise` puts after the block of each."""
    parts, at = [], start
    for number in inner:
        parts.append(code[at : max(at, starts[number])])
        at = max(at, ends[number])
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
    marks += [end << _OFFSET | _CLOSE << _ORDER for end in found.block_ends]
    marks.sort()
    marks.append(size << _OFFSET | 7 << _ORDER)
    return marks


def _normalise(
    data: bytes, found: Parsed, keeps_words: bool
) -> tuple[bytes, list[int], list[int], list[int]]:
    """The stream, and where each definition, its body and its end lie in it."""
    count = len(found.definitions)
    places = [[0] * count for _ in range(_START + 1)]
    out: list[bytes] = []
    length = at = 0
    regions = iter([*found.regions, (len(data) + 1, 0, False)])
    region_start, region_end, is_comment = next(regions)
    for mark in _marks(found, len(data)):
        offset = mark >> _OFFSET
        while at < offset:
            if at < region_start:
                stop = min(offset, region_start)
                piece = _stripped(data[at:stop], keeps_words)
            else:
                stop = min(offset, region_end)
                piece = b"" if is_comment else data[at:stop]
                if stop == region_end:
                    region_start, region_end, is_comment = next(regions)
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
        elif order <= _START:
            places[order][mark & 0xFFFFFF] = length
    bodies, ends = places[_BODY], places[_END]
    for number, one in enumerate(found.definitions):
        if one.body >= one.end:
            bodies[number] = ends[number]
    return b"".join(out), places[_START], bodies, ends


def _stripped(text: bytes, keeps_words: bool) -> bytes:
    return _WORD_SPACE.sub(b" ", text) if keeps_words else text.translate(None, _SPACE)


class _Comments:
    """The comments of a blob: their hash within a range, and signatures without them."""

    def __init__(self, data: bytes, regions: _Regions) -> None:
        self.data = data
        self.spans = [(start, end) for start, end, is_comment in regions if is_comment]
        self.starts = [start for start, _ in self.spans]

    def hash_of(self, start: int, end: int) -> bytes:
        """Over the words of the comments that begin in the range; b"" where none does."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        if first == last:
            return b""
        texts = (self.data[a:b].translate(None, _SPACE) for a, b in self.spans[first:last])
        return digest(b"\n".join(texts))

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
