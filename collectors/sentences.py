"""Whole sentences of Markdown prose, with their character ranges; `statements.py` judges them.

Matching is done on a mask of the same length: code, addresses and markup are blotted out in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_CODE = re.compile(r"`+")
_BLOTS = re.compile(
    r"<!--.*?-->"
    r"|</?[A-Za-z][^<>\n]{0,300}>"  # an HTML tag or an autolink
    r"|\]\([^()\s]{0,500}(?:\([^()\s]{0,200}\))?[^()]{0,200}\)"  # the target of a link
    r"|\bhttps?://[^\s<>)\]]{1,500}"
    r"|\{[ ]?[#.:%][^{}\n]{0,100}\}",  # attributes and template tags
    re.DOTALL,
)
_EMPHASIS = re.compile(r"\*+|~~|(?<!\w)_{1,3}(?=\w)|(?<=[\w.,;:!?)])_{1,3}(?!\w)")
_MARKER = re.compile(r"[ \t]*(?:[-*+]|(?P<number>\d{1,9})[.)])[ \t]+(?:\[(?P<box>[ xX])\][ \t]+)?")
_VERSION = re.compile(r"v\d")
_STOP = re.compile(r"[.!?\u2026]{1,3}[\"'\u201d\u2019)\]`]{0,3}(?=\s|$)")
_BREAK = re.compile(r"(?: {2,}|\\)\n|<br ?/?>")
_ABBREVIATIONS = frozenset({
    "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx", "incl", "resp", "nr", "fig", "dr", "mr",
    "mrs", "inc", "ltd", "al", "örn", "vb", "vd", "bkz", "yy",
})  # fmt: skip
_MIN_SPACES = 5  # a shorter line without a full stop is a title or a caption
_NOT_PROSE = ("!!!", "???", "///", ":::", "<", "|", "{%", "{{", "[[", "![", "[![")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence at [start, end) of a text; `mask` has its length, without code and markup."""

    text: str
    mask: str
    start: int
    end: int
    is_item: bool
    is_step: bool  # of a numbered list
    is_open_task: bool
    is_done_task: bool
    is_lead: bool  # the first of its paragraph or item
    is_whole: bool  # begins and ends as a sentence does


def sentences(text: str, *, is_list: bool) -> Iterator[Sentence]:
    """The sentences of a paragraph's or list's text, in order. Linear in the text."""
    for start, end, marker in _units(text, is_list=is_list):
        is_item = marker is not None
        box = marker["box"] if marker else None
        unit = text[start:end]
        mask = masked(unit)
        cuts = [0, *_stops(unit, mask), len(unit)]
        for first, last in pairwise(cuts):
            body = unit[first:last]
            lead = first + len(body) - len(body.lstrip())
            stop = first + len(body.rstrip())
            if lead >= stop:
                continue
            shown = mask[lead:stop]
            # A list item or a lone sentence may do without a full stop, unless it introduces
            # what follows.
            is_entire = lead == 0 and stop == len(unit.rstrip())
            is_entire = is_entire and (is_item or shown.count(" ") > _MIN_SPACES)
            is_whole = _begins(shown) and (_ends(shown) or (is_entire and shown[-1] != ":"))
            yield Sentence(
                text=unit[lead:stop],
                mask=shown,
                start=start + lead,
                end=start + stop,
                is_item=is_item,
                is_step=marker is not None and marker["number"] is not None,
                is_open_task=box == " ",
                is_done_task=box is not None and box != " ",
                is_lead=first == 0,
                is_whole=is_whole,
            )


def masked(text: str) -> str:
    """The text with code, addresses, tags and emphasis blotted out, at the same length."""
    text = _without_code(text).replace("\u2019", "'")
    text = _BLOTS.sub(_blot, text)
    return _EMPHASIS.sub(lambda match: " " * len(match[0]), text)


def _without_code(text: str) -> str:
    ticks = list(_CODE.finditer(text))
    # The next run of the same length closes a code span; looked up from the end, so linear.
    following: dict[int, int] = {}
    closes: list[int | None] = [None] * len(ticks)
    for index in range(len(ticks) - 1, -1, -1):
        length = len(ticks[index][0])
        closes[index] = following.get(length)
        following[length] = index
    parts, at, index = [], 0, 0
    while index < len(ticks):
        close = closes[index]
        if close is None:
            index += 1
            continue
        begin, end = ticks[index].end(), ticks[close].start()
        parts += [text[at:begin], "x" * (end - begin)]
        at, index = end, close + 1
    return "".join([*parts, text[at:]])


def _blot(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith("]("):
        return "](" + "x" * (len(found) - 3) + ")"
    return " " * len(found) if found.startswith(("<", "{")) else "x" * len(found)


def _units(text: str, *, is_list: bool) -> Iterator[tuple[int, int, re.Match[str] | None]]:
    """Runs of lines that belong together: a paragraph's lines, or an item's with its marker."""
    at = begin = 0
    fence = ""
    of_item: re.Match[str] | None = None
    for line in text.split("\n"):
        end = at + len(line) + 1
        bare = line.strip()
        mark = bare[:3] if bare.startswith(("```", "~~~")) else ""
        marker = _MARKER.match(line) if is_list and not fence else None
        if marker is not None or mark or fence or not bare or bare.startswith(_NOT_PROSE):
            if begin < at:
                yield begin, at, of_item
            begin = end
            if mark:
                fence = "" if fence == mark else fence or mark
            elif marker is not None:
                begin = at + marker.end()
                of_item = marker
                if line[marker.end() :].startswith(_NOT_PROSE):
                    begin = end
            elif not bare:
                of_item = None
        at = end
    if begin < len(text):
        yield begin, len(text), of_item


def _stops(unit: str, mask: str) -> list[int]:
    """Where sentences end: at a stop outside brackets that is no abbreviation, or a hard break."""
    brackets = [(m.start(), 1 if m[0] in "([" else -1) for m in re.finditer(r"[()\[\]]", mask)]
    stops = [match.end() for match in _BREAK.finditer(unit)]
    depth = at = 0
    for match in _STOP.finditer(mask):
        while at < len(brackets) and brackets[at][0] < match.start():
            depth = max(0, depth + brackets[at][1])
            at += 1
        following = mask[match.end() : match.end() + 60].lstrip()
        if depth == 0 and not following[:1].islower() and not _is_abbreviation(mask, match):
            end = match.end()
            while unit[end : end + 1] in {"*", "_"}:  # emphasis closes with its sentence
                end += 1
            stops.append(end)
    return sorted(stops)


def _is_abbreviation(mask: str, stop: re.Match[str]) -> bool:
    if stop[0] != ".":
        return False
    before = mask[max(0, stop.start() - 12) : stop.start()].replace("(", " ").split()
    word = before[-1].lower() if before else ""
    return word in _ABBREVIATIONS or len(word) == 1


def _begins(mask: str) -> bool:
    first = mask.lstrip(" \"'\u201c\u2018([")[:1]
    return (
        first.isupper()
        or first == "`"
        or first.isdecimal()
        or first in {"@", "."}
        or bool(_VERSION.match(mask))
    )


def _ends(mask: str) -> bool:
    return mask.rstrip(" \"'\u201d\u2019)]`")[-1:] in {".", "!", "?", "\u2026"}
