"""Evidence as a reviewer reads it: numbered lines of a segment with the cited sentence marked.

Ranges are those of the original bytes; where redactions replaced some, offsets are carried over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codememory.models import EvidenceLink, EvidenceSegment
from review.differences import Part
from review.highlighting import Span, highlight

MAX_LINES = 400
_LINE_END = re.compile(rb"\r\n|\n|\r")
_MARKER = re.compile(rb"\[REDACTED:[^\]\r\n]{1,60}\]")


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    """One line: the text before, inside and after the cited sentence (undecodable bytes kept).

    `spans` are runs of its characters that are code of some kind.
    """

    number: int
    before: str
    cited: str
    after: str
    spans: tuple[Span, ...] = ()

    @property
    def text(self) -> str:
        return self.before + self.cited + self.after

    @property
    def parts(self) -> tuple[Part, ...]:
        pieces = (("same", self.before), ("cited", self.cited), ("same", self.after))
        return tuple(Part(kind, text) for kind, text in pieces if text)


def excerpt_lines(segment: EvidenceSegment, link: EvidenceLink) -> list[ExcerptLine]:
    """Return the segment's lines, at most MAX_LINES of them."""
    content = bytes(segment.content)
    start = _offset(segment, content, link.byte_start, is_end=False)
    end = _offset(segment, content, link.byte_end, is_end=True)
    lines: list[ExcerptLine] = []
    at = 0
    for number in range(segment.first_line, segment.first_line + MAX_LINES):
        if at >= len(content):
            break
        found = _LINE_END.search(content, at)
        stop = found.start() if found else len(content)
        first, last = (min(max(edge, at), stop) for edge in (start, end))
        lines.append(
            ExcerptLine(
                number,
                _decode(content[at:first]),
                _decode(content[first:last]),
                _decode(content[last:stop]),
            )
        )
        at = found.end() if found else len(content)
    return lines


def highlighted(path: str, lines: Sequence[ExcerptLine]) -> list[ExcerptLine]:
    """The lines of a file with their code in colours."""
    spans = highlight(path, [line.text for line in lines])
    return [replace(line, spans=found) for line, found in zip(lines, spans, strict=True)]


def cited_text(segment: EvidenceSegment, link: EvidenceLink) -> str:
    """Return the cited sentence as it stands in the evidence."""
    content = bytes(segment.content)
    start = _offset(segment, content, link.byte_start, is_end=False)
    return _decode(content[start : _offset(segment, content, link.byte_end, is_end=True)])


def _offset(segment: EvidenceSegment, content: bytes, byte: int, *, is_end: bool) -> int:
    """Carry an offset of the original over to the stored bytes, out of any redaction's marker."""
    drift = 0
    for span in sorted(segment.redactions, key=lambda span: int(span["start"])):
        if byte <= span["start"]:
            break
        at = max(span["start"], segment.byte_start) - segment.byte_start + drift
        marker = _MARKER.match(content, at)
        if marker is None:
            break
        if byte < span["end"]:
            return marker.end() if is_end else marker.start()
        drift = marker.end() - (span["end"] - segment.byte_start)
    return min(max(byte - segment.byte_start + drift, 0), len(content))


def _decode(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
