"""Does a document segment still stand? Same words in the same document, moved, changed or gone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from codememory.verdicts.trail import Trail, show
from codememory.verdicts.values import CurrentFile, Flag, Method, Source, Verdict

CHANGED_SHARE = 0.5  # of the segment's words, in one block of the document

BOM = b"\xef\xbb\xbf"
_WORD = re.compile(r"\w+")
_LINE_END = re.compile(rb"\r\n|[\r\n]")  # as Markdown ends lines


def judge_segment(
    segment: bytes,
    document: CurrentFile | None,
    moved_to: Callable[[], bytes | None] = lambda: None,
    *,
    oid: str | None = None,
    is_piece: bool = False,
) -> Verdict:
    """`document` is the segment's own document now; `moved_to` finds another with the same text.

    It is called only when the own document does not hold it. `oid` is the document's blob when the
    segment was cut from it; a piece of a cut line need not be whole lines.
    """
    trail = Trail()
    path = None if document is None else document.path
    if document is not None:
        if document.content is None:
            trail.note("document", show(path), "it is there and cannot be read")
            return trail.decide(Method.SOURCE_UNAVAILABLE, path=path)
        if document.source is Source.HEAD:
            trail.add_flag(Flag.HEAD_ONLY)
        elif document.is_dirty:
            trail.add_flag(Flag.DIRTY)
        if oid is not None and document.oid == oid:
            trail.note("same text", show(path), "the document is byte for byte the same")
            return trail.decide(Method.SEGMENT_MATCH, share=1.0, path=path)
        if contains_segment(segment, document.content, is_piece=is_piece):
            trail.note("same text", show(path), "in the same document")
            return trail.decide(Method.SEGMENT_MATCH, share=1.0, path=path)
        trail.note("same text", show(path), "not in the document")
    if (other := moved_to()) is not None:
        trail.note("moved", show(other), "the same text in another document")
        return trail.decide(Method.SEGMENT_MOVED, share=1.0, path=other)
    if document is None or document.content is None:
        trail.note("document", show(path), "the document is gone")
        return trail.decide(Method.FILE_GONE)
    share = _best_share(segment, document.content)
    trail.note("changed", show(path), f"{share:.0%} of its words in one block")
    method = Method.SEGMENT_CHANGED if share >= CHANGED_SHARE else Method.SEGMENT_GONE
    return trail.decide(method, share=share, path=path)


def contains_segment(segment: bytes, content: bytes, *, is_piece: bool = False) -> bool:
    """Whether whole lines of the document, however wrapped, say exactly the segment's text.

    A piece of a line that was cut for its length is looked for anywhere.
    """
    wanted = segment.removeprefix(BOM).split()
    if not wanted:
        return False
    if is_piece:
        return b" ".join(wanted) in b" ".join(content.split())
    words: list[bytes] = []
    starts, ends = set(), set()
    for line in _LINE_END.split(content.removeprefix(BOM)):
        starts.add(len(words))
        words += line.split()
        ends.add(len(words))
    first, size = wanted[0], len(wanted)
    return any(
        words[at] == first and at + size in ends and words[at : at + size] == wanted
        for at in sorted(starts)
        if at + size <= len(words)
    )


def _best_share(segment: bytes, content: bytes) -> float:
    wanted = _words(segment)
    total = wanted.total()
    if not total:
        return 0.0
    blocks = re.split(rb"\n[ \t\r]*\n", content)
    return max(((_words(block) & wanted).total() / total for block in blocks), default=0.0)


def _words(text: bytes) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text.decode("utf-8", "surrogateescape")))
