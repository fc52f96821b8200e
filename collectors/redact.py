"""Finds secrets in text and cuts them out, before anything is stored, indexed, served or sent.

Versions of a file differ in few lines, so lines are looked at once: what was found in a line, or
that nothing was, is remembered for the next text that has it.
"""

from __future__ import annotations

import hmac
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from collectors.secret_blocks import Opening, extend, find_blocks, find_openings
from collectors.secret_names import find_named, named_lines
from collectors.secret_prose import may_be_repeated
from collectors.secret_shapes import Span, find_shapes, occurrences
from collectors.values import Redaction

RULES_REVISION = 3  # kept with what was redacted; grows with every change of a rule
_LINE_END = {b"", b"\n"}
_NOT_LINE_END = re.compile(rb"[^\r\n]")
_LONGEST_KEPT = 4_000  # bytes of a line that is remembered
_MOST_BYTES = 32 << 20  # of such lines, each counted with what it costs beside its text
_BESIDE = 100
_MOST_REPEATED = 200  # values of one text that are looked for in the rest of it


_Line = tuple[tuple[Span, ...], Opening]


class _Lines:
    """What is known of lines. Forgetting any of it changes no answer."""

    def __init__(self) -> None:
        self.clean: set[bytes] = set()
        self.others: dict[bytes, _Line] = {}
        self.size = 0

    def look_up(self, lines: set[bytes]) -> dict[bytes, _Line]:
        """Those of the lines that hold or open something, looked at where they are new."""
        unknown = lines - self.clean
        if not unknown:
            return {}
        others = self.others
        found = {line: others[line] for line in unknown if line in others}
        if new := unknown - found.keys():
            looked_at = _look_at(new)
            found |= looked_at
            self._keep(new, looked_at)
        return found

    def _keep(self, lines: set[bytes], others: dict[bytes, _Line]) -> None:
        kept = [line for line in lines - others.keys() if len(line) <= _LONGEST_KEPT]
        self.size += sum(map(len, kept)) + sum(map(len, others)) + _BESIDE * len(lines)
        if self.size > _MOST_BYTES:
            # New ones: another thread may be reading the old.
            self.clean, self.others, self.size = set(), {}, 0
        self.others.update(others)
        self.clean.update(kept)


_LINES = _Lines()


def find_secrets(content: bytes) -> tuple[Redaction, ...]:
    """Spans over the whole content, in order and without overlap."""
    found = _LINES.look_up(set(content.split(b"\n")))
    if not found:
        return ()
    spans, opened = _place(content, found)
    spans += find_blocks(content, opened)
    if not spans:
        return ()
    merged = list(_merge(list(extend(content, spans))))
    if repeated := _repeated(content, merged):
        merged = list(_merge([*merged, *repeated]))
    return tuple(Redaction(kind, start, end) for start, end, kind in merged)


def _repeated(content: bytes, spans: list[Span]) -> list[Span]:
    """Where else a value stands that something in the same text called a secret."""
    values: dict[bytes, tuple[str, int]] = {}
    for start, end, kind in spans:
        value = content[start:end]
        values[value] = kind, values.get(value, (kind, 0))[1] + 1
    wanted = [value for value in values if len(value) <= _LONGEST_KEPT and may_be_repeated(value)]
    return [
        (at, at + len(value), values[value][0])
        for value in wanted[:_MOST_REPEATED]
        if content.count(value) > values[value][1]
        for at in occurrences(content, value)
    ]


def _look_at(lines: set[bytes]) -> dict[bytes, _Line]:
    ordered = sorted(lines)
    text = b"\n".join(ordered)
    starts = [0, *accumulate(len(line) + 1 for line in ordered)]
    spans: dict[int, list[Span]] = {}
    named = list(named_lines(text))
    for start, end, kind in _merge([*find_shapes(text), *find_named(text, named)]):
        number = bisect_right(starts, start) - 1
        at = starts[number]
        spans.setdefault(number, []).append((start - at, end - at, kind))
    opened: dict[int, Opening] = {}
    for at, opening in find_openings(text, ordered, named):
        number = bisect_right(starts, at) - 1
        opened[number] = opened.get(number, Opening(0)) | opening
    nothing = Opening(0)
    return {
        ordered[number]: (tuple(spans.get(number, ())), opened.get(number, nothing))
        for number in spans.keys() | opened.keys()
    }


def _place(
    content: bytes, found: dict[bytes, _Line]
) -> tuple[list[Span], list[tuple[int, int, Opening]]]:
    """The spans of lines, and the lines that open something, in offsets of the content."""
    spans: list[Span] = []
    opened = []
    for line, (mine, opening) in found.items():
        for at in _whole_lines(content, line):
            spans += [(at + start, at + end, kind) for start, end, kind in mine]
            if opening:
                opened.append((at, at + len(line), opening))
    return spans, opened


def _whole_lines(content: bytes, line: bytes) -> Iterator[int]:
    """Where the line is one of the content's, in full."""
    for at in occurrences(content, line):
        end = at + len(line)
        if content[at - 1 : at] in _LINE_END and content[end : end + 1] in _LINE_END:
            yield at


def redact(
    content: bytes,
    spans: tuple[Redaction, ...],
    key: bytes,
    start: int = 0,
    end: int | None = None,
) -> tuple[bytes, tuple[Redaction, ...]]:
    """`content[start:end]` without the spans, and those that touched it (in original offsets).

    The mark of a span carries a keyed digest of the whole secret: equal secrets stay linkable, and
    a cut through a secret shows none of it.
    """
    end = len(content) if end is None else min(end, len(content))
    pieces = []
    touched = []
    for span in spans:
        if span.end <= start or span.start >= end:
            continue
        digest = hmac.new(key, content[span.start : span.end], "sha256").hexdigest()[:8]
        pieces += [content[start : span.start], f"[REDACTED:{span.kind}:{digest}]".encode("ascii")]
        start = span.end
        touched.append(span)
    if not touched:
        return content[start:end], ()
    pieces.append(content[start:end])
    return b"".join(pieces), tuple(touched)


def mask(content: bytes, spans: tuple[Redaction, ...]) -> bytes:
    """The content with every byte of a secret but its line ends covered: all offsets still hold."""
    pieces = []
    at = 0
    for span in spans:
        secret = content[span.start : span.end]
        pieces += [content[at : span.start], _NOT_LINE_END.sub(b"*", secret)]
        at = span.end
    return b"".join([*pieces, content[at:]]) if pieces else content


@lru_cache(200_000)
def redact_path(path: bytes, key: bytes) -> bytes:
    """A path without secrets, by which it is known from then on: every mark stays the same.

    Whole, and each part without its ending, as a name of a file is no line of a text.
    """
    spans = list(_merge([*find_shapes(path), *find_named(path)]))
    at = 0
    for part in path.split(b"/"):
        stem = part.rpartition(b".")[0] or part
        spans += [(at + s, at + e, kind) for s, e, kind in (*find_shapes(stem), *find_named(stem))]
        at += len(part) + 1
    if not spans:
        return path
    return redact(path, tuple(Redaction(k, s, e) for s, e, k in _merge(spans)), key)[0]


def _merge(spans: list[Span]) -> Iterator[Span]:
    """Overlapping spans become one, of the kind of the rule that stands first."""
    if not spans:
        return
    ranks = {span: rank for rank, span in reversed(list(enumerate(spans)))}
    ordered = sorted(set(spans))
    start, end, kind = ordered[0]
    rank = ranks[ordered[0]]
    for span in ordered[1:]:
        if span[0] >= end:
            yield start, end, kind
            start, end, kind = span
            rank = ranks[span]
            continue
        end = max(end, span[1])
        if ranks[span] < rank:
            rank, kind = ranks[span], span[2]
    yield start, end, kind
