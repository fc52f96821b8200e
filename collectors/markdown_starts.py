"""How the blocks of Markdown begin and end: the patterns of `markdown.py`, in lines without tabs.

Each is matched at a position of a line after its indentation; none backtracks over its repeats.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

ATX = re.compile(r"(#{1,6})(?: |$)")
SETEXT = re.compile(r"(=+|-+) *$")
RULE = re.compile(r"(?:(?:- *+){3,}|(?:_ *+){3,}|(?:\* *+){3,})$")
FENCE = re.compile(r"(`{3,})(?!.*`)|(~{3,})")
MARKER = re.compile(r"([-*+])(?= |$)|(\d{1,9})([.)])(?= |$)", re.ASCII)
BLANK_LINE = re.compile(r"(?!)")  # ends no line: the block ends at a blank one

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6"
    "|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option"
    "|p|param|search|section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE = (
    r"\s++[a-zA-Z_:][a-zA-Z0-9:._-]*+(?:\s*+=\s*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?+"
)
_TAG = rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?>{_ATTRIBUTE})*+\s*+/?>|</[A-Za-z][A-Za-z0-9-]*+\s*+>)"
# The kinds of HTML blocks: how one starts, and what ends it.
_HTML = (
    (r"<(?:script|pre|textarea|style)(?:\s|>|$)", r"</(?:script|pre|textarea|style)>"),
    (r"<!--", r"-->"),
    (r"<\?", r"\?>"),
    (r"<![A-Za-z]", r">"),
    (r"<!\[CDATA\[", r"\]\]>"),
)
_HTML_STARTS = (
    *((re.compile(start, re.IGNORECASE), re.compile(end, re.IGNORECASE)) for start, end in _HTML),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", re.IGNORECASE), BLANK_LINE),
)
_TAG_ALONE = re.compile(rf"{_TAG}\s*+$")

_LABEL = re.compile(r"\[(?=[^\]]*+\S)((?:[^\\\[\]]|\\.){1,999})\]:", re.DOTALL)
_TO_TARGET = re.compile(r"[ ]*\n?[ ]*")
_TARGET = re.compile(r"<(?:[^<>\n\\]|\\.)*+>|(?!<)[^\x00-\x20\x7f]++")
_TITLE = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)", re.DOTALL)
_LINE_END = re.compile(r" *(?:\n|$)")


def html_end(line: str, at: int, *, is_in_paragraph: bool) -> re.Pattern[str] | None:
    """What ends the HTML block that starts here; None where none does."""
    for start, end in _HTML_STARTS:
        if start.match(line, at):
            return end
    # A tag of any other name needs a line of its own, and ends no paragraph.
    return BLANK_LINE if not is_in_paragraph and _TAG_ALONE.match(line, at) else None


def definition_lines(lines: Sequence[str]) -> int:
    """How many lines at the start of a paragraph are definitions of links."""
    if not lines or not lines[0].startswith("["):
        return 0
    text = "\n".join(lines)
    at = 0
    while (end := _definition_end(text, at)) is not None:
        at = end
        if at >= len(text):
            return len(lines)
    return text.count("\n", 0, at)


def _definition_end(text: str, at: int) -> int | None:
    """The start of the line after the definition at `at`; None where there is none."""
    label = _LABEL.match(text, at)
    if label is None:
        return None
    start = _TO_TARGET.match(text, label.end())
    target = _TARGET.match(text, start.end() if start else label.end())
    if target is None or not _is_balanced(target[0]):
        return None
    plain = _LINE_END.match(text, target.end())
    gap = _TO_TARGET.match(text, target.end())
    if gap is not None and gap.end() > target.end():
        title = _TITLE.match(text, gap.end())
        after = _LINE_END.match(text, title.end()) if title else None
        if after is not None:
            return after.end()
    return plain.end() if plain else None


def _is_balanced(target: str) -> bool:
    if target.startswith("<"):
        return True
    depth = 0
    for mark in re.findall(r"\\.|[()]", target):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if depth < 0:
            return False
    return depth == 0


def is_table_head(header: str, delimiter: str) -> bool:
    """Whether two lines begin a table."""
    if "|" not in header or "|" not in delimiter:
        return False
    cells = _cells(delimiter)
    for cell in cells:
        dashes = cell.strip(" ").removeprefix(":").removesuffix(":")
        if not dashes or dashes.strip("-"):
            return False
    return len(cells) == len(_cells(header))


def _cells(row: str) -> list[str]:
    plain = row.replace("\\|", "  ").strip(" ")
    return plain.removeprefix("|").removesuffix("|").split("|")
