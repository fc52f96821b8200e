"""Does a document segment still stand? Same words in the same document, moved, changed or gone."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable

from codememory.verdicts.trail import Trail, show
from codememory.verdicts.values import CurrentFile, Flag, Method, Source, Verdict

PLACES_TRIED = 20  # of a text in a document, before the document is taken apart
SHARES_KEPT = 20_000
CHANGED_SHARE = 0.5  # of the segment's words, in one block of the document

BOM = b"\xef\xbb\xbf"
_shares: dict[bytes, float] = {}
_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\w+|\n[ \t\r]*\n")  # a word, or what is between two blocks
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
    text = segment.removeprefix(BOM).strip()
    wanted = text.split()
    # Most are there verbatim or not at all: both are seen without taking the document apart.
    if not wanted or not all(word in content for word in set(wanted)):
        return False
    if is_piece:
        return b" ".join(wanted) in b" ".join(content.split())
    if _stands_in_whole_lines(text, content.removeprefix(BOM)):
        return True
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


def _stands_in_whole_lines(text: bytes, content: bytes) -> bool:
    """Whether the text is in the content byte for byte, with nothing but white space around it.

    Only its first few places are looked at: there are many of a short text.
    """
    at = -1
    for _ in range(PLACES_TRIED):
        at = content.find(text, at + 1)
        if at < 0:
            break
        line = content.rfind(b"\n", 0, at) + 1
        line = max(line, content.rfind(b"\r", line, at) + 1)
        end = at + len(text)
        after = _LINE_END.search(content, end)
        if not (content[line:at] + content[end : after.start() if after else None]).strip():
            return True
    return False


def _best_share(segment: bytes, content: bytes) -> float:
    """The share of the segment's words in one block; the same pair is asked for again and again."""
    key = _digest(segment) + _digest(content)
    if (share := _shares.get(key)) is None:
        if len(_shares) >= SHARES_KEPT:
            _shares.clear()
        share = _shares[key] = _share_of(segment, content)
    return share


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).digest()


def _share_of(segment: bytes, content: bytes) -> float:
    wanted = _words(segment)
    total = wanted.total()
    if not total:
        return 0.0
    # Most words of a document are none of the segment's: each spelling is looked at once.
    pieces = _PIECE.findall(_decoded(content))
    known = {word: word.lower() for word in set(pieces)}
    ours = {word: small for word, small in known.items() if small in wanted or word[0] == "\n"}
    best, block = 0, Counter[str]()
    for word in [ours[piece] for piece in pieces if piece in ours]:
        if word in wanted:
            block[word] += 1
        elif block:
            best, block = max(best, (block & wanted).total()), Counter()
    return max(best, (block & wanted).total()) / total


def _words(text: bytes) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(_decoded(text)))


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
