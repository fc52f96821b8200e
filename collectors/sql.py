"""What SQL creates, in any dialect: tables, views, functions, procedures, types and triggers.

The grammar at hand understands few real files, and takes time that grows with the square of the
size over the others. A statement ends with its semicolon (in a routine outside of BEGIN and END), a
line `GO`, or the client's DELIMITER.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from collectors.symbol_names import decoded_name
from collectors.symbol_tree import MAX_NAME, MAX_SYMBOLS, Definition, Parsed
from collectors.symbol_values import SymbolKind

_KINDS = {
    b"table": SymbolKind.TABLE,
    b"view": SymbolKind.VIEW,
    b"function": SymbolKind.FUNCTION,
    b"procedure": SymbolKind.FUNCTION,
    b"proc": SymbolKind.FUNCTION,
    b"trigger": SymbolKind.FUNCTION,
    b"type": SymbolKind.TYPE,
    b"domain": SymbolKind.TYPE,
}
_PLAIN = (
    rb"(--[^\n]*|/\*.*?(?:\*/|\Z))|[eE]'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'?"
    rb"|'[^']*(?:''[^']*)*'?"
)
_TOKEN = re.compile(_PLAIN, re.DOTALL)
_DOLLAR = re.compile(_PLAIN + rb"|(?<![\w$])(\$(?:[A-Za-z_]\w*)?\$)", re.DOTALL)
_DELIMITER = re.compile(rb"^[ \t]*delimiter[ \t]+(\S+)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_GO = re.compile(rb"^[ \t]*go[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_NAME = rb'(?:[\w$\x80-\xff]+|"[^"\n]*"|`[^`\n]*`|\[[^\]\n]*\])'
_CREATE = re.compile(
    rb"create\s+(?:(?:or\s+replace|or\s+alter|global|local|temporary|temp|unlogged|foreign|external"
    rb"|materialized|recursive|constraint|aggregate|algorithm\s*=\s*\w+|definer\s*=\s*\S+"
    rb"|sql\s+security\s+\w+|editionable|noneditionable|force)\s+)*"
    rb"(table|view|function|procedure|proc|trigger|type|domain)\s+(?:body\s+)?"
    rb"(?:if\s+not\s+exists\s+)?(" + _NAME + rb"(?:\s*\.\s*" + _NAME + rb")*)",
    re.IGNORECASE,
)
_NOT_SPACE = re.compile(rb"\S")
_PART = re.compile(_NAME)
_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w$\x80-\xff]*|[;\x01]")
_ROUTINE_BODY = re.compile(rb"\b(?:as|is|begin|execute)\b", re.IGNORECASE)
_VIEW_BODY = re.compile(rb"\bas\b", re.IGNORECASE)
MAX_ROUTINE = 256 * 1024  # bytes in which the END of a routine is looked for
_END = b"\x01"  # put where a line or delimiter ends a statement whatever is open
_LOOPS = {b"if", b"loop", b"while", b"repeat", b"for"}


def parse_sql(data: bytes) -> Parsed:
    """Every definition; statements that create nothing, and what is no SQL, are passed over."""
    found = Parsed()
    text = _masked(data, found)
    line_starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    at = 0
    while (first := _NOT_SPACE.search(text, at)) is not None:
        created = _CREATE.match(text, first.start())
        kind = _KINDS[created[1].lower()] if created else None
        end = _statement_end(text, created.end() if created else first.start(), kind)
        if created is not None and kind is not None:
            if len(found.definitions) >= MAX_SYMBOLS:
                found.is_limited = True
                break
            found.definitions.append(_definition(data, text, created, kind, end, line_starts))
        at = end + 1
    return found


def _masked(data: bytes, found: Parsed) -> bytes:
    """The text with spaces for comments, strings and quoted bodies; their regions are noted."""
    delimiters = {match[1] for match in _DELIMITER.finditer(data)} - {b";"}
    token = _TOKEN if delimiters else _DOLLAR
    masked = bytearray(data)
    at = 0
    while (match := token.search(data, at)) is not None:
        start, at = match.span()
        if match.lastindex == 2:
            close = data.find(match[2], at)
            inner_end = close if close != -1 else len(data)
            for inner in _TOKEN.finditer(data, at, inner_end):
                found.regions.append((*inner.span(), inner[1] is not None))
            at = min(len(data), inner_end + len(match[2]))
        else:
            found.regions.append((start, at, match[1] is not None))
        masked[start:at] = b" " * (at - start)
    text = _GO.sub(lambda line: line[0].upper().replace(b"GO", _END + b" "), bytes(masked))
    text = _DELIMITER.sub(lambda line: _END + b" " * (len(line[0]) - 1), text)
    for one in delimiters:
        text = text.replace(one, _END + b" " * (len(one) - 1))
    return text


def _statement_end(text: bytes, start: int, kind: SymbolKind | None) -> int:
    """Where its terminator stands, or the end of the text."""
    plain = text.find(b";", start)
    plain = len(text) if plain == -1 else plain
    hard = text.find(_END, start, plain)
    plain = plain if hard == -1 else hard
    if kind is not SymbolKind.FUNCTION:
        return plain
    depth, before = 0, b""
    for match in _WORD.finditer(text, start, start + MAX_ROUTINE):
        word = match[0].lower()
        if word == _END or (word == b";" and depth <= 0):
            return match.start()
        if before == b"end":
            # END IF and the like close what was not counted: END was, and is given back
            depth += word in _LOOPS
        elif word in {b"begin", b"case"}:
            depth += 1
        if word == b"end":
            depth -= 1
        before = word
    return plain if depth > 0 else min(len(text), start + MAX_ROUTINE)


def _definition(
    data: bytes,
    text: bytes,
    created: re.Match[bytes],
    kind: SymbolKind,
    end: int,
    line_starts: list[int],
) -> Definition:
    start = created.start()
    stop = start + len(data[start:end].rstrip())
    if kind is SymbolKind.TABLE:
        body = text.find(b"(", created.end(), end)
    else:
        pattern = _ROUTINE_BODY if kind is SymbolKind.FUNCTION else _VIEW_BODY
        match = pattern.search(text, created.end(), end)
        body = match.start() if match else -1
    parts = [part.strip(b'"`[]') for part in _PART.findall(created[2])]
    name = b".".join(parts)[:MAX_NAME]
    return Definition(
        decoded_name(name),
        parts[-1],
        kind,
        None,
        start,
        start,
        body if body != -1 else stop,
        stop,
        bisect_right(line_starts, start),
        bisect_right(line_starts, max(start, stop - 1)),
        is_partial=False,
    )
