"""The block structure of a Markdown text as line ranges; `documents.py` maps them to bytes.

Follows the specification's own strategy line by line, without their text: which open containers a
line goes on, what it opens, and what is left. Only top-level blocks are told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from collectors.markdown_starts import (
    ATX,
    BLANK_LINE,
    FENCE,
    MARKER,
    RULE,
    SETEXT,
    definition_lines,
    html_end,
    is_table_head,
)

MAX_DEPTH = 100  # of quotations and list items in each other; deeper marks are text


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: 0-based lines [first, end), without blank lines around it."""

    kind: str
    first: int
    end: int
    level: int = 0
    is_setext: bool = False


@dataclass(slots=True)
class _Container:
    """A quotation, or a list item: how far its content is indented, and its list's mark."""

    first: int
    end: int
    mark: str  # ">" of a quotation, else what lists are told apart by
    indent: int = 0
    is_empty: bool = True


@dataclass(slots=True)
class _Leaf:
    """The innermost open block, which holds lines."""

    kind: str
    first: int
    end: int
    texts: list[str] = field(default_factory=list)  # of a paragraph
    table: int | None = None  # the line that a table's header is
    close: re.Pattern[str] = BLANK_LINE  # of a fence or of HTML

    @property
    def is_paragraph(self) -> bool:
        return self.kind == "paragraph" and self.table is None


class _Scanner:
    """The blocks of a text while its lines come by."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self.stack: list[_Container] = []
        self.leaf: _Leaf | None = None
        self.list_mark = ""  # of the list that was told last, if nothing came after it

    def read(self, number: int, line: str) -> None:
        at, matched = self._go_on(line)
        if matched < len(self.stack) or not self._is_held(number, line, at):
            self._open(number, line, at, matched)
        if self.stack and line:
            self.stack[0].end = number + 1

    def _go_on(self, line: str) -> tuple[int, int]:
        """How far the open containers go on in this line, and how many do."""
        at = matched = start = 0
        for container in self.stack:
            start = _after_spaces(line, max(at, start))  # each line's spaces are passed once
            if container.mark == ">":
                if start - at > 3 or not line.startswith(">", start):
                    break
                at = start + 1 + line.startswith(" ", start + 1)
            elif start == len(line):
                if container.is_empty:
                    break
                at = start
            elif start - at >= container.indent:
                at += container.indent
            else:
                break
            matched += 1
        return at, matched

    def _is_held(self, number: int, line: str, at: int) -> bool:
        """Whether the open fence, code or HTML takes the line; what ends there is closed."""
        leaf = self.leaf
        if leaf is None or leaf.kind == "paragraph":
            return False
        start = _after_spaces(line, at)
        is_blank = start == len(line)
        if leaf.kind == "code":
            if not is_blank and start - at < 4:
                return False
        elif leaf.kind == "html" and is_blank and leaf.close is BLANK_LINE:
            self._close_leaf()
            return True
        if not is_blank:
            leaf.end = number + 1
        if leaf.kind == "fence":
            is_end = start - at < 4 and leaf.close.match(line, start)
        else:
            is_end = leaf.kind == "html" and leaf.close.search(line, at)
        if is_end:
            self._close_leaf()
        return True

    def _open(self, number: int, line: str, at: int, matched: int) -> None:
        while True:
            start = _after_spaces(line, at)
            if start == len(line):
                self._blank(matched)
                return
            if start - at > 3:
                break
            opened = self._container(number, line, at, matched)
            if opened is None:
                if self._is_block(number, line, start, matched):
                    return
                break
            at = opened
            matched = len(self.stack)
        self._text(number, line, at, start, matched)

    def _blank(self, matched: int) -> None:
        if matched < len(self.stack):
            self._close(matched)
        elif self.leaf is not None and self.leaf.kind == "paragraph":
            self._close_leaf()

    def _container(self, number: int, line: str, at: int, matched: int) -> int | None:
        """Open the quotation or list item that starts here; where its content starts."""
        start = _after_spaces(line, at)
        if len(self.stack) >= MAX_DEPTH and matched >= MAX_DEPTH:
            return None
        if line[start] == ">":
            self._close(matched)
            self._push(_Container(number, number + 1, ">"))
            return start + 1 + line.startswith(" ", start + 1)
        marker = MARKER.match(line, start)
        if marker is None or _is_rule(line, start) or self._is_underline(line, start, matched):
            return None
        after = _after_spaces(line, marker.end())
        is_blank = after == len(line)
        if self._is_in_paragraph(matched) and (is_blank or int(marker[2] or 1) != 1):
            return None
        spaces = after - marker.end()
        if is_blank or spaces > 4:
            spaces = 1
        content = min(len(line), marker.end() + spaces)
        self._close(matched)
        indent = marker.end() + spaces - at
        self._push(_Container(number, number + 1, marker[1] or marker[3], indent))
        return content

    def _is_in_paragraph(self, matched: int) -> bool:
        """Whether the line would go on a paragraph of the very container that it is in."""
        return matched == len(self.stack) and self.leaf is not None and self.leaf.is_paragraph

    def _is_underline(self, line: str, start: int, matched: int) -> bool:
        return self._is_in_paragraph(matched) and SETEXT.match(line, start) is not None

    def _is_block(self, number: int, line: str, start: int, matched: int) -> bool:
        """Whether a block of its own starts here, which is opened."""
        first = line[start]
        if first == "#" and (heading := ATX.match(line, start)):
            self._close(matched)
            self._tell(Block("heading", number, number + 1, len(heading[1])))
        elif first in "`~" and (fence := FENCE.match(line, start)):
            mark = fence[1] or fence[2]
            self._close(matched)
            close = re.compile(f"{mark[0]}{{{len(mark)},}} *$")
            self.leaf = _Leaf("fence", number, number + 1, close=close)
        elif first == "<" and (end := self._html(line, start)):
            self._close(matched)
            self.leaf = _Leaf("html", number, number + 1, close=end)
            if end.search(line, start):
                self._close_leaf()
        elif first in "=-" and self._is_underline(line, start, matched):
            self._underline(number, line, start)
        elif first in "-_*" and _is_rule(line, start):
            self._close(matched)
            self._tell(Block("rule", number, number + 1))
        else:
            return False
        self._fill()
        return True

    def _html(self, line: str, start: int) -> re.Pattern[str] | None:
        is_in_paragraph = self.leaf is not None and self.leaf.kind == "paragraph"
        return html_end(line, start, is_in_paragraph=is_in_paragraph)

    def _underline(self, number: int, line: str, start: int) -> None:
        """Make a heading of the paragraph, but for definitions before it."""
        leaf = self.leaf
        assert leaf is not None  # narrows the type
        defined = definition_lines(leaf.texts)
        if defined == len(leaf.texts):
            self._close_leaf()
            self.leaf = _Leaf("paragraph", number, number + 1, [line[start:]])
            return
        if defined:
            self._tell(Block("definition", leaf.first, leaf.first + defined))
        level = 1 if line[start] == "=" else 2
        self._tell(Block("heading", leaf.first + defined, number + 1, level, is_setext=True))
        self.leaf = None

    def _text(self, number: int, line: str, at: int, start: int, matched: int) -> None:
        leaf = self.leaf
        if leaf is not None and leaf.is_paragraph:
            # A line may go on a paragraph without the marks of the containers around it.
            leaf.end = number + 1
            text = line[start:]
            if matched == len(self.stack) and is_table_head(leaf.texts[-1], text):
                leaf.table = number - 1
            leaf.texts.append(text)
            return
        is_row = leaf is not None and leaf.table is not None and start - at < 4
        if leaf is not None and is_row and matched == len(self.stack):
            leaf.end = number + 1
            return
        self._close(matched)
        if start - at > 3:
            self.leaf = _Leaf("code", number, number + 1)
        else:
            self.leaf = _Leaf("paragraph", number, number + 1, [line[start:]])
        self._fill()

    def _push(self, container: _Container) -> None:
        self._fill()
        self.stack.append(container)

    def _fill(self) -> None:
        if self.stack:
            self.stack[-1].is_empty = False

    def _close(self, depth: int) -> None:
        """Close the open leaf, and the containers from this depth on."""
        self._close_leaf()
        if self.stack and depth == 0:
            outer = self.stack[0]
            kind = "quote" if outer.mark == ">" else "list"
            self.stack.clear()
            if kind == "list" and self.list_mark == outer.mark:
                first = self.found.pop().first
                self.found.append(Block("list", first, outer.end))
            else:
                self._tell(Block(kind, outer.first, outer.end))
                self.list_mark = outer.mark if kind == "list" else ""
        del self.stack[depth:]

    def _close_leaf(self) -> None:
        leaf, self.leaf = self.leaf, None
        if leaf is None or self.stack:
            return
        if leaf.kind != "paragraph":
            self._tell(Block("fence" if leaf.kind == "code" else leaf.kind, leaf.first, leaf.end))
            return
        end = leaf.end if leaf.table is None else leaf.table
        text = leaf.first + definition_lines(leaf.texts[: end - leaf.first])
        if leaf.first < text:
            self._tell(Block("definition", leaf.first, text))
        if text < end:
            self._tell(Block("paragraph", text, end))
        if leaf.table is not None:
            self._tell(Block("table", leaf.table, leaf.end))

    def _tell(self, block: Block) -> None:
        if not self.stack:
            self.found.append(block)
            self.list_mark = ""

    def end(self) -> list[Block]:
        self._close(0)
        return self.found


def blocks(text: str) -> list[Block]:
    """The top-level blocks of a text whose line ends are all LF, in order; blank lines are none."""
    scanner = _Scanner()
    for number, line in enumerate(text.split("\n")):
        # A tab is as many spaces as bring it to the next multiple of four, wherever it stands.
        scanner.read(number, line.expandtabs(4).rstrip(" "))
    return scanner.end()


def _after_spaces(line: str, at: int) -> int:
    end = len(line)
    while at < end and line[at] == " ":
        at += 1
    return at


def _is_rule(line: str, at: int) -> bool:
    # The last mark is looked at first: many nested items would each read the line to its end.
    return line[-1] == line[at] and RULE.match(line, at) is not None


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
    return MARKER.match(line.expandtabs(4), len(line) - len(text)) is not None
