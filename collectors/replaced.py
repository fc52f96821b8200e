"""Which sentence took the place of which, where the text of a section changed.

Sentences are cut as `statements.py` cuts them, so a key found here is the key of a candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256

from collectors.sections import OwnSection, similarity, words_of
from collectors.sentences import sentences
from collectors.values import Document, Segment

# How much two sentences must have in common: less where one stands exactly where the other stood.
SIMILAR_IN_PLACE, SIMILAR_ELSEWHERE = 0.34, 0.6
MAX_SENTENCES = 400  # of one side of a section; more is no text that people rewrite by hand
MAX_PAIRS = 10_000
MAX_CHARS = 2_000  # of a sentence


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new sentence, by its key, and the byte range of the old one in the old revision."""

    key: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _At:
    text: str
    start: int
    end: int
    words: Counter[str]


def sentence_key(text: str) -> int:
    """The first 64 bits of the digest that a candidate's statement has, as a signed number."""
    digest = sha256(" ".join(text.split()).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def sentence_keys(document: Document) -> set[int]:
    """The keys of all sentences of a document."""
    found: set[int] = set()
    for segment in document.segments:
        if segment.kind in {"paragraph", "list"}:
            text = _text(segment)
            cut = sentences(text, is_list=segment.kind == "list")
            found.update(sentence_key(sentence.text) for sentence in cut)
    return found


def replaced_sentences(
    old: OwnSection, new: OwnSection, old_text: str, new_text: str
) -> list[Replacement]:
    """Pair the new sentences of a changed section with those they took the place of.

    The texts are the whole documents': a sentence that stands elsewhere in them was moved, and
    neither replaces nor is replaced.
    """
    before, after = list(_sentences(old)), list(_sentences(new))
    if not before or not after or max(len(before), len(after)) > MAX_SENTENCES:
        return []
    gone = {at for at, one in enumerate(before) if one.text not in new_text}
    come = {at for at, one in enumerate(after) if one.text not in old_text}
    if not gone or not come or len(gone) * len(come) > MAX_PAIRS:
        return []
    place = _places(before, after)
    scored = []
    for new_at in come:
        for old_at in gone:
            score = similarity(before[old_at].words, after[new_at].words)
            is_in_place = place[0].get(old_at) == place[1].get(new_at, -1)
            if score >= (SIMILAR_IN_PLACE if is_in_place else SIMILAR_ELSEWHERE):
                scored.append((score + is_in_place, -old_at, -new_at))
    found = []
    for _, old_at, new_at in sorted(scored, reverse=True):
        if -old_at in gone and -new_at in come:
            gone.discard(-old_at)
            come.discard(-new_at)
            one = before[-old_at]
            found.append(Replacement(sentence_key(after[-new_at].text), one.start, one.end))
    return sorted(found, key=lambda one: one.start)


def plain_text(document: Document) -> str:
    """A document's prose with single spaces, to look whether a sentence stands in it."""
    texts = (_text(one) for one in document.segments if one.kind in {"paragraph", "list"})
    return "\n".join(" ".join(text.split()) for text in texts)


def _sentences(section: OwnSection) -> Iterator[_At]:
    for segment in section.segments:
        # Where a secret was cut out or the block goes on, offsets are not certain.
        if segment.kind not in {"paragraph", "list"} or segment.redactions or segment.is_truncated:
            continue
        text = _text(segment)
        at = offset = 0
        for sentence in sentences(text, is_list=segment.kind == "list"):
            offset += len(text[at : sentence.start].encode())
            at = sentence.start
            size = len(sentence.text.encode())
            start = segment.start + offset
            shown = " ".join(sentence.text.split())
            if len(shown) <= MAX_CHARS:
                yield _At(shown, start, start + size, words_of(shown))


def _text(segment: Segment) -> str:
    # Same length, so offsets hold; a line end is one LF from here on.
    text = segment.content.decode("utf-8", "replace")
    return text.replace("\r\n", "\t\n").replace("\r", "\n")


def _places(before: Sequence[_At], after: Sequence[_At]) -> tuple[dict[int, int], dict[int, int]]:
    """The number of the replaced run that each old and each new sentence stands in."""
    matcher = SequenceMatcher(
        None, [one.text for one in before], [one.text for one in after], autojunk=False
    )
    old: dict[int, int] = {}
    new: dict[int, int] = {}
    for number, (tag, i1, i2, j1, j2) in enumerate(matcher.get_opcodes()):
        if tag == "replace":
            old.update(dict.fromkeys(range(i1, i2), number))
            new.update(dict.fromkeys(range(j1, j2), number))
    return old, new
