"""Word differences: of two statements in one line, of two texts side by side, glyph by glyph.

Where most of a line changed no words are marked: the whole line is the difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_CHANGED = 0.6  # of a line's words; beyond it marks would only make confetti
MAX_TOKENS = 2000  # on a side; beyond it the whole is the difference
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Part:
    """A run of text: "same", "old" (only on the old side) or "new" (only on the new one)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A line on one side: its number, its parts, whether the line differs.

    `spans` are runs of its characters that are code of some kind: (start, end, class).
    """

    number: int
    parts: tuple[Part, ...]
    is_changed: bool
    spans: tuple[tuple[int, int, str], ...] = ()

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of a side-by-side difference; a side that has no such line is None."""

    old: Cell | None
    new: Cell | None


def word_difference(old: str, new: str) -> list[Part]:
    """Return both statements as one line, what went before what came."""
    parts: list[Part] = []
    for kind, gone, come in _blocks(_tokens(old), _tokens(new)):
        if kind == "equal":
            parts.append(Part("same", gone))
            continue
        parts += [Part(name, text) for name, text in (("old", gone), ("new", come)) if text]
    if _share_changed(parts) > MOST_CHANGED:
        return [Part("old", old), Part("same", " "), Part("new", new)]
    return parts


def side_by_side(old: Sequence[tuple[int, str]], new: Sequence[tuple[int, str]]) -> list[DiffRow]:
    """Return numbered lines of two texts in rows, each with its changed words."""
    matcher = SequenceMatcher(None, [t for _, t in old], [t for _, t in new], autojunk=False)
    rows: list[DiffRow] = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        gone, come = old[i1:i2], new[j1:j2]
        if kind == "equal":
            rows += [DiffRow(_plain(a), _plain(b)) for a, b in zip(gone, come, strict=True)]
            continue
        for index in range(max(len(gone), len(come))):
            a = gone[index] if index < len(gone) else None
            b = come[index] if index < len(come) else None
            rows.append(_changed(a, b))
    return rows


def _plain(line: tuple[int, str]) -> Cell:
    return Cell(line[0], (Part("same", line[1]),), is_changed=False)


def _changed(old: tuple[int, str] | None, new: tuple[int, str] | None) -> DiffRow:
    if old is None or new is None:
        return DiffRow(_whole(old), _whole(new))
    parts = word_difference(old[1], new[1])
    if _share_changed(parts) > MOST_CHANGED:
        return DiffRow(_whole(old), _whole(new))
    left = tuple(part for part in parts if part.kind != "new")
    right = tuple(part for part in parts if part.kind != "old")
    return DiffRow(Cell(old[0], left, is_changed=True), Cell(new[0], right, is_changed=True))


def _whole(line: tuple[int, str] | None) -> Cell | None:
    """A line that is its own difference: coloured, no word of it marked."""
    return Cell(line[0], (Part("same", line[1]),), is_changed=True) if line else None


def _share_changed(parts: Sequence[Part]) -> float:
    words = {"same": 0, "old": 0, "new": 0}
    for part in parts:
        words[part.kind] += len(re.findall(r"\w+", part.text))
    largest = words["same"] + max(words["old"], words["new"])
    return max(words["old"], words["new"]) / largest if largest else 0.0


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[str, str, str]]:
    if max(len(old), len(new)) > MAX_TOKENS:
        yield "replace", "".join(old), "".join(new)
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    gone = come = ""
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        left, right = "".join(old[i1:i2]), "".join(new[j1:j2])
        if kind == "equal" and (left.strip() or not (gone or come)):
            if gone or come:
                yield "replace", gone, come
            yield kind, left, right
            gone = come = ""
        else:  # a space between two differences belongs to them
            gone, come = gone + left, come + right
    if gone or come:
        yield "replace", gone, come


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)
