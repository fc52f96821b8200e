"""Random Markdown made of the lines that parsers disagree on, and the headings each one sees."""

from __future__ import annotations

import random

from markdown_it import MarkdownIt

from collectors.markdown import blocks

Heading = tuple[int, int, int]  # 0-based first line, end, level

_LINES = (
    "# A", "## B", "### C #", "#", "#no", "####### seven", "\\# no", "===", "---", "  ===",
    "    ---",
    "- a", "* b", "+ c", "-", "- ", "-\ta", "- \tb", "   - n", "    - m", "1. x", "2. y", "3) z",
    "10. q", "1.", "1. - a", "> q", ">", "> # H", "> - i", ">    c", "  > q", "  two", "   three",
    "    four", "\tq", "     deep", "```", "~~~", "``` x", "````", "   ```", "> ```", "- ```",
    "- > q",
    "<div>", "</div>", "<script>", "</script>", "<pre>", "</pre>", "<p>", "<b>", "<b>x", "</b>",
    "> <div>", "- <div>", "<!-- c", "-->", "<!-- c -->", "<?php", "?>", "<![CDATA[", "]]>", "<!X>",
    "text", "more text", "a | b", "- | -", "--- | ---", "***", "_ _ _", "* * *", "- - -",
    "- # h", "\x0c---", "\x0c", "a\u2028b", "\u2028", "\u00a0", "\x0b", "  \x0c", "\"t\"",
)  # fmt: skip
# On what follows a definition, and on tables of one column, parsers differ by intention.
_DISPUTED = ("[x]: /u", "[y]: <v> 't'", "[z]:", '/u "t', "[a]: /b c", "|---|", "|a|")
_PARSER = MarkdownIt("commonmark").enable("table")


def document(seed: int, *, is_disputed: bool = False) -> str:
    """A document of two to nine of the lines, some indented or quoted; the same for a seed."""
    chance = random.Random(seed)
    lines = []
    for _ in range(chance.randint(2, 9)):
        line = chance.choice(_LINES + _DISPUTED if is_disputed else _LINES)
        if chance.random() < 0.2:
            line = " " * chance.randint(1, 5) + line
        if chance.random() < 0.12:
            line = "> " + line
        lines.append(line)
        if chance.random() < 0.3:
            lines.append("")
    return "\n".join(lines) + "\n"


def our_headings(text: str) -> list[Heading]:
    return [(one.first, one.end, one.level) for one in blocks(text) if one.kind == "heading"]


def their_headings(text: str) -> list[Heading]:
    """What markdown-it-py takes for headings that are in no list and no quotation."""
    return [
        (token.map[0], token.map[1], int(token.tag[1]))
        for token in _PARSER.parse(text)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
