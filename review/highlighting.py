"""Code in colours: which runs of a text are keywords, strings, numbers, names, comments.

Only positions come out of it: the text that is shown is never what a lexer gives back. Languages
are an explicit list, and texts beyond the bounds stay plain: lexers are built of regular
expressions, and what they read was written by anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Operator

from review.differences import Cell, DiffRow

MAX_CHARACTERS = 40_000  # of a text; a page of 400 lines is about half of it
MAX_LINE = 1_000  # characters of its longest line
# By the end of a file's name: the alias of the lexer.
LANGUAGES = {
    "bash": "bash", "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css",
    "cxx": "cpp", "dart": "dart", "dockerfile": "docker", "ex": "elixir", "exs": "elixir",
    "go": "go", "graphql": "graphql", "h": "c", "hpp": "cpp", "hs": "haskell", "htm": "html",
    "html": "html", "ini": "ini", "java": "java", "js": "javascript", "json": "json",
    "jsx": "javascript", "kt": "kotlin", "kts": "kotlin", "lua": "lua", "makefile": "make",
    "mjs": "javascript", "mk": "make", "php": "php", "pl": "perl", "proto": "protobuf",
    "ps1": "powershell", "py": "python", "pyi": "python", "r": "r", "rb": "ruby", "rs": "rust",
    "scala": "scala", "scss": "scss", "sh": "bash", "sql": "sql", "swift": "swift", "tf": "hcl",
    "toml": "toml", "ts": "typescript", "tsx": "typescript", "xml": "xml", "yaml": "yaml",
    "yml": "yaml", "zsh": "bash",
}  # fmt: skip
# What else a fenced block may call them.
NAMES = {**LANGUAGES, **{alias: alias for alias in LANGUAGES.values()}, "shell": "bash"}
MARKDOWN = frozenset({"md", "markdown", "mdx"})
# The first of these that a token's type is within; others stay ink.
CLASSES = (
    (Comment.Preproc, "kw"),
    (Comment, "co"),
    (Keyword, "kw"),
    (Operator.Word, "kw"),
    (Name.Tag, "kw"),
    (Literal.String, "st"),
    (Literal.Number, "nu"),
    (Name.Function, "fn"),
    (Name.Class, "fn"),
    (Name.Decorator, "fn"),
    (Name.Attribute, "fn"),
)
_FENCE = re.compile(r" {0,3}(```+|~~~+)[ \t]*([\w+#.-]{0,40})")


class Span(NamedTuple):
    """Characters [start, end) of a line, and their class."""

    start: int
    end: int
    kind: str


def language_of(path: str) -> str | None:
    """Return the language of a file by its name; None: it stays plain."""
    return LANGUAGES.get(_ending(path))


def highlight(path: str, lines: Sequence[str]) -> list[tuple[Span, ...]]:
    """Return the spans of each line (lines without their ends)."""
    if _ending(path) in MARKDOWN:
        return _in_fences(lines)
    return _of_language(language_of(path), lines)


def with_spans(rows: Sequence[DiffRow], old: Mapping[int, Sequence[Span]],
               new: Mapping[int, Sequence[Span]]) -> list[DiffRow]:  # fmt: skip
    """Add the spans of both sides, by line number, to the rows of a difference."""
    return [DiffRow(_with(row.old, old), _with(row.new, new)) for row in rows]


def _with(cell: Cell | None, spans: Mapping[int, Sequence[Span]]) -> Cell | None:
    found = tuple(spans.get(cell.number, ())) if cell else ()
    return replace(cell, spans=found) if cell and found else cell


def _ending(path: str) -> str:
    name = path.rpartition("/")[2].lower()
    return name.rpartition(".")[2]


def _in_fences(lines: Sequence[str]) -> list[tuple[Span, ...]]:
    """Of a Markdown document only what stands in its fenced blocks is code."""
    spans: list[tuple[Span, ...]] = [()] * len(lines)
    fence, language, first = "", None, 0
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if not fence and found:
            fence, language, first = found[1], NAMES.get(found[2].lower()), number + 1
        elif fence and found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            spans[first:number] = _of_language(language, lines[first:number])
            fence = ""
    if fence:  # the block goes on beyond what is shown
        spans[first:] = _of_language(language, lines[first:])
    return spans


def _of_language(language: str | None, lines: Sequence[str]) -> list[tuple[Span, ...]]:
    plain: list[tuple[Span, ...]] = [()] * len(lines)
    if language is None or not lines or max(map(len, lines)) > MAX_LINE:
        return plain
    text = "\n".join(lines)
    if len(text) > MAX_CHARACTERS:
        return plain
    found: list[list[Span]] = [[] for _ in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    at = 0
    for start, end, kind in _tokens(language, text):
        while starts[at + 1] <= start:
            at += 1
        number = at
        while number < len(lines) and starts[number] < end:  # a token may cross lines
            first = max(start - starts[number], 0)
            last = min(end - starts[number], len(lines[number]))
            if first < last:
                found[number].append(Span(first, last, kind))
            number += 1
    return [tuple(spans) for spans in found]


def _tokens(language: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Runs that have a class, in order and apart; what a lexer says out of order is left out."""
    reached = 0
    for start, kind, value in _lexer(language).get_tokens_unprocessed(text):
        end = start + len(value)
        name = next((name for base, name in CLASSES if kind in base), None)
        if name is None or start < reached or text[start:end] != value:
            continue
        reached = end
        yield start, end, name


@cache
def _lexer(language: str) -> Lexer:
    options = {"startinline": True} if language == "php" else {}
    return get_lexer_by_name(language, **options)
