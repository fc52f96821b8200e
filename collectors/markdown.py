"""The block structure of a Markdown text as line ranges; `documents.py` maps them to bytes.

mistune decides what is a block; only top-level blocks are asked for, so nested input stays cheap.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from re import Match
from typing import Any

from mistune import BlockParser, BlockState

_KINDS = {
    "heading": "heading",
    "paragraph": "paragraph",
    "block_code": "fence",
    "block_html": "html",
    "block_quote": "quote",
    "list": "list",
    "thematic_break": "rule",
    "definition": "definition",
}


_QUOTE_ENDS = ["blank_line", "thematic_break", "fenced_code", "list", "block_html"]


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: 0-based lines [first, end); blank lines at its end are not cut off."""

    kind: str
    first: int
    end: int
    level: int = 0
    is_setext: bool = False


class _NotingState(BlockState):
    """Notes where each token begins, which mistune's tokens do not say, and keeps no text."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.rule_start: int | None = None

    def append_token(self, token: dict[str, Any]) -> None:
        # Some rules move the cursor before they append: their match began at `rule_start`.
        token["start"] = self.cursor if self.rule_start is None else self.rule_start
        self.tokens.append(token)

    def add_paragraph(self, text: str) -> None:  # noqa: ARG002
        # Text is taken from the original bytes; adding it line by line here would be quadratic.
        if self._is_in_paragraph():
            return
        self.tokens.append({"type": "paragraph", "text": "", "start": self.cursor})

    def append_paragraph(self) -> int | None:
        return self.find_line_end() if self._is_in_paragraph() else None

    def _is_in_paragraph(self) -> bool:
        last = self.last_token()
        return bool(last) and last["type"] == "paragraph"


class _TopLevelParser(BlockParser):
    """Finds top-level blocks only, and gives every token its start."""

    state_cls = _NotingState

    def compile_sc(self, rules: list[str] | None = None) -> re.Pattern[str]:
        # mistune lets a heading go on a quotation, as only a paragraph may.
        return super().compile_sc([*rules, "atx_heading"] if rules == _QUOTE_ENDS else rules)

    def parse(self, state: BlockState, rules: list[str] | None = None) -> None:
        # What is inside a list item or a quotation never changes where the outer block ends.
        if state.parent is None:
            super().parse(state, rules)

    def parse_method(self, m: Match[str], state: BlockState) -> int | None:
        assert isinstance(state, _NotingState)  # narrows the type
        outer, known = state.rule_start, len(state.tokens)
        state.rule_start = m.start()
        end = super().parse_method(m, state)
        state.rule_start = outer
        # Lists and quotations are inserted before the last token, which mistune takes to be what
        # ended them, also where the line that did so went to the paragraph before.
        for token in state.tokens[max(0, known - 1) :]:
            token.setdefault("start", m.start())
        return end

    def parse_atx_heading(self, m: Match[str], state: BlockState) -> int:
        # The text is taken by `atx_text`: the inherited pattern is quadratic in trailing spaces.
        level = len(m.group("atx_1"))
        state.append_token({"type": "heading", "attrs": {"level": level}, "style": "atx"})
        return m.end() + 1

    def parse_ref_link(self, m: Match[str], state: BlockState) -> int | None:
        # mistune gives no token for a definition; neighbouring ones are one block here.
        before = state.tokens[-1]["type"] if state.tokens else ""
        end = super().parse_ref_link(m, state)
        if end and before not in {"paragraph", "definition"}:
            state.append_token({"type": "definition"})
        return end


_PARSER = _TopLevelParser()


def blocks(text: str) -> list[Block]:
    """The top-level blocks of a text whose line ends are all LF, in order; blank lines are none."""
    state = _NotingState()
    state.process(text)
    _PARSER.parse(state)
    starts = [0]
    while (newline := text.find("\n", starts[-1])) != -1:
        starts.append(newline + 1)
    lines = text.split("\n")
    tokens = sorted(state.tokens, key=lambda token: int(token["start"]))
    found: list[Block] = []
    for index, token in enumerate(tokens):
        kind = _KINDS.get(token["type"])
        if kind is None:
            continue
        first = bisect_right(starts, token["start"]) - 1
        end = len(lines)
        if index + 1 < len(tokens):
            end = bisect_right(starts, tokens[index + 1]["start"]) - 1
        if kind == "paragraph":
            found += _with_table(lines, first, end)
        else:
            level = token.get("attrs", {}).get("level", 0) if kind == "heading" else 0
            found.append(Block(kind, first, end, level, token.get("style") == "setext"))
    return found


def _with_table(lines: list[str], first: int, end: int) -> list[Block]:
    """A paragraph, and the table that its lines may hold after it (a table ends a paragraph)."""
    for row in range(first + 1, end):
        if "|" in lines[row] and _is_table_head(lines[row - 1], lines[row]):
            before = [Block("paragraph", first, row - 1)] if row - 1 > first else []
            return [*before, Block("table", row - 1, end)]
    return [Block("paragraph", first, end)]


def _is_table_head(header: str, delimiter: str) -> bool:
    cells = _cells(delimiter)
    for cell in cells:
        dashes = cell.strip(" \t").removeprefix(":").removesuffix(":")
        if not dashes or dashes.strip("-"):
            return False
    return len(cells) == len(_cells(header))


def _cells(row: str) -> list[str]:
    plain = row.replace("\\|", "  ").strip(" \t")
    return plain.removeprefix("|").removesuffix("|").split("|")


def atx_text(line: str) -> str:
    """The text of an ATX heading: a closing run of `#` goes, `C#` keeps its own."""
    text = line.strip().lstrip("#").strip()
    without = text.rstrip("#")
    if without != text and (not without or without[-1] in " \t"):
        return without.rstrip()
    return text


def is_item_start(line: str) -> bool:
    """Whether a line begins a list item that is not nested (indented by less than four)."""
    text = line.lstrip(" ")
    if len(line) - len(text) > 3:
        return False
    marker, rest = text[:1], text[1:]
    if marker.isdecimal() and marker.isascii():
        digits = len(text) - len(text.lstrip("0123456789"))
        marker, rest = text[digits : digits + 1], text[digits + 1 :]
        return digits <= 9 and marker in {".", ")"} and (not rest or rest[0] in " \t")
    return marker in {"-", "*", "+"} and (not rest or rest[0] in " \t")
