"""Secrets in tables: columns of pipe tables and of separated values, headed by a secret's name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.secret_prose import HARD, SOFT, is_secret_of, is_strong, may_be_secret
from collectors.secret_shapes import Span

_HEAD = re.compile(
    rb"(?:(?P<soft>" + SOFT + rb")|" + HARD + rb")[\w\x80-\xff]{0,8}"
    rb"(?:[ ]?\([^)|]{0,40}\))?[\s\"'`*_:]*\Z",
    re.IGNORECASE,
)
_NO_HEAD = re.compile(
    rb"(?:hash|id|name|type|file|path|url|length|age|field|policy|reset)s?[\s\"'`*_:]*\Z",
    re.IGNORECASE,
)
_RULE = re.compile(rb"[ \t>+-]{0,8}[|+]?[ \t]*:?[-=]{2,}[ \t:|+=-]*\r?\Z")
_CELL = re.compile(rb"(?:[^|\\]|\\.?){0,2000}", re.DOTALL)
_SEPARATED = re.compile(
    rb"[+-]?[ \t]{0,8}[\"']?\w[\w .\x80-\xff-]{0,40}[\"']?"
    rb"(?:[,;\t][ ]?[\"']?(?:[\w\x80-\xff][\w .\x80-\xff-]{0,40})?[\"']?){1,60}\r?\Z"
)
_FIELD = re.compile(
    rb"[ ]?(?:\"((?:[^\"]|\"\"){0,2000})\"|'([^'\n]{0,2000})'(?=[,;\t\r]|\Z)|([^,;\t\r]{0,2000}))"
)
_IN_CELL = re.compile(rb"`([^`]{6,200})`|([^\s\"'`<>]{6,200})")
_MOST_ROWS = 5_000
_LONGEST_ROW = 8_000

Column = tuple[int, bool]


def is_headed(line: bytes) -> bool:
    """Whether a named line may be the first of a table that has a column of secrets."""
    if len(line) > _LONGEST_ROW:
        return False
    if b"|" in line:
        return bool(_columns(line, _pipe_cells(line)))
    is_separated = b"," in line or b";" in line or b"\t" in line
    return (
        is_separated
        and _SEPARATED.match(line) is not None
        and bool(_columns(line, _fields(line, _separator(line))))
    )


def find_in_table(content: bytes, start: int, end: int) -> Iterator[Span]:
    """The secrets of the table that the line `content[start:end]` heads."""
    head = content[start:end]
    is_piped = b"|" in head
    separator = _separator(head)
    cells = _pipe_cells(head) if is_piped else _fields(head, separator)
    columns = _columns(head, cells)
    rows = _rows(content, end)
    if is_piped and not _RULE.match(next(rows, (0, b""))[1]):
        return
    for at, row in rows:
        fields = _pipe_cells(row) if is_piped else _fields(row, separator)
        if is_piped and _RULE.match(row) and not row.lstrip().startswith(b"|"):
            continue  # a grid has a rule below each row
        if _is_over(row, fields, cells, columns, is_piped=is_piped):
            return
        for number, is_soft in columns:
            if number < len(fields):
                yield from _find_in_cell(row, at, fields[number], is_soft=is_soft)


def _is_over(
    row: bytes,
    fields: list[tuple[int, int]],
    cells: list[tuple[int, int]],
    columns: list[Column],
    *,
    is_piped: bool,
) -> bool:
    """Whether a line is no row, or the head of the next table, which is read for itself."""
    if is_piped:
        return b"|" not in row or len(row) > _LONGEST_ROW or _RULE.match(row) is not None
    if len(fields) != len(cells):
        return True
    return any(_HEAD.search(row[slice(*fields[number])]) for number, _ in columns)


def _find_in_cell(row: bytes, at: int, cell: tuple[int, int], *, is_soft: bool) -> Iterator[Span]:
    words = list(_IN_CELL.finditer(row, *cell))
    for word in words:
        start, end = word.span(word.lastindex or 0)
        frame = re.match(rb"(\*{1,2})(.{6,})\1\Z", row[start:end])
        if frame:
            start, end = start + frame.start(2), start + frame.end(2)
        value = row[start:end]
        is_alone = not row[cell[0] : word.start()].strip() and not row[word.end() : cell[1]].strip()
        if not may_be_secret(value):
            continue
        if is_strong(value) or (is_alone and is_secret_of(value, is_soft=is_soft)):
            yield at + start, at + end, "password" if is_soft else "token"


def _columns(line: bytes, cells: list[tuple[int, int]]) -> list[Column]:
    """The numbers of the columns that are headed by a secret's name, and whether by a password's"""
    found = []
    for number, (start, end) in enumerate(cells):
        cell = line[start:end]
        if len(cell.split()) > 6 or _NO_HEAD.search(cell):
            continue
        if head := _HEAD.search(cell):
            found.append((number, head["soft"] is not None))
    return found if len(cells) > 1 else []


def _rows(content: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    for _ in range(_MOST_ROWS):
        at += 1
        if at >= len(content):
            return
        end = content.find(b"\n", at)
        end = len(content) if end < 0 else end
        if end == at:
            return
        yield at, content[at:end]
        at = end


def _pipe_cells(line: bytes) -> list[tuple[int, int]]:
    cells = []
    at = 0
    while at <= len(line) and (cell := _CELL.match(line, at)):
        cells.append(cell.span())
        if line[cell.end() : cell.end() + 1] != b"|":
            break
        at = cell.end() + 1
    return cells


def _separator(line: bytes) -> bytes:
    return max((b",", b";", b"\t"), key=line.count)


def _fields(line: bytes, separator: bytes) -> list[tuple[int, int]]:
    """Where the values lie that the separator stands between; none where it is no such line."""
    cells: list[tuple[int, int]] = []
    if len(line) > _LONGEST_ROW:
        return cells
    at = 0
    while at <= len(line):
        if not (field := _FIELD.match(line, at)):
            return []
        span = field.span(field.lastindex or 0)
        end = field.end()
        if line[end : end + 1] not in {separator, b"", b"\r"}:
            end = line.find(separator, end)
            end = len(line) if end < 0 else end
            span = (span[0], end)
        cells.append(span)
        if line[end : end + 1] != separator:
            break
        at = end + 1
    return cells
