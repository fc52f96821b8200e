"""The symbols of one blob: definitions with name, kind, ranges, signature and hashes.

Pure: bytes in, a `SymbolTable` of tuples out, so that a process that can be killed may do it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Container, Mapping, Sequence
from functools import cache
from importlib.metadata import version

from collectors.prisma import parse_prisma
from collectors.sql import parse_sql
from collectors.symbol_languages import Language, language_named, language_of
from collectors.symbol_text import build, comment_hash
from collectors.symbol_tree import Parsed, parse_tree
from collectors.symbol_values import Coverage, Symbol, SymbolTable
from collectors.values import GapReason

EXTRACTOR_REVISION = 1  # grows with every change of what is extracted or hashed
MAX_BYTES = 2 * 1024 * 1024
_OWN_PARSERS = {"prisma": parse_prisma, "sql": parse_sql}

__all__ = [
    "EXTRACTOR_REVISION",
    "MAX_BYTES",
    "bodies_of",
    "body_key",
    "extract",
    "extract_named",
    "grammar_version",
    "hunks_of",
    "language_of",
    "symbols_touched",
]


def extract(data: bytes, language: Language | None, max_bytes: int = MAX_BYTES) -> SymbolTable:
    """Every symbol of the bytes. Never raises for what is in them.

    It may take long or, in a grammar with an error, for ever: call it where it can be killed.
    """
    if language is None:
        return _textual(None, GapReason.NO_GRAMMAR)
    if len(data) > max_bytes:
        return _textual(language, GapReason.PARSER_LIMIT)
    found = _parse(data, language)
    symbols, code_hash = build(data, found, keeps_words=language.keeps_words)
    reason = GapReason.PARSE_ERROR if found.has_error else None
    if found.is_limited:
        reason = GapReason.PARSER_LIMIT
    return SymbolTable(
        language=language.name,
        grammar=language.grammar,
        grammar_version=grammar_version(language),
        revision=EXTRACTOR_REVISION,
        coverage=Coverage.PARTIAL if reason else Coverage.FULL,
        reason=reason,
        symbols=symbols,
        code_hash=code_hash,
        comment_hash=comment_hash(data, found),
    )


def extract_named(data: bytes, language_name: str, max_bytes: int = MAX_BYTES) -> SymbolTable:
    """`extract` for a caller in another process, who hands over the language's name."""
    return extract(data, language_named(language_name), max_bytes)


@cache
def grammar_version(language: Language) -> str:
    """What parsed it: with the extractor's revision the identity of the analysis."""
    if language.parser == "tree-sitter":
        return f"tree-sitter-languages {version('tree-sitter-languages')}"
    return f"own {EXTRACTOR_REVISION}"


def body_key(symbol: Symbol) -> int:
    """64 bits of its signature and own code: the symbols inside, comments, places do not count."""
    digest = hashlib.sha256(symbol.signature_hash + symbol.own_hash).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def bodies_of(data: bytes, language_name: str) -> list[tuple[str, int, int]]:
    """Name, `body_key` and size in bytes of code of every symbol, in order."""
    table = extract(data, language_named(language_name))
    return [(one.name, body_key(one), one.body_size) for one in table.symbols]


def symbols_touched(table: SymbolTable, first_line: int, last_line: int) -> tuple[int, ...]:
    """Indexes of the innermost symbols that lines [first_line, last_line] touch, in order.

    An outer symbol is among them only for a touched line that is in none of its inner ones. An
    empty range (a side with no lines: last_line = first_line - 1) counts as the line before it.
    """
    first_line = min(first_line, last_line)
    hit = [
        (number, one)
        for number, one in enumerate(table.symbols)
        if one.first_line <= last_line and one.last_line >= first_line
    ]
    inner: dict[int, list[Symbol]] = {}
    for _, one in hit:
        if one.parent is not None:
            inner.setdefault(one.parent, []).append(one)
    return tuple(
        number
        for number, one in hit
        if _has_line_of_its_own(
            max(first_line, one.first_line),
            min(last_line, one.last_line),
            inner.get(number, []),
        )
    )


def hunks_of(
    symbols: Mapping[int, Symbol], wanted: Container[int], lines: Sequence[tuple[int, int]]
) -> dict[int, list[int]]:
    """Which ranges of lines (numbers from 1) touch the wanted symbols innermost, by their id().

    `symbols_touched` the other way round: cheaper for many hunks and few symbols. The ranges come
    in order; a symbol with all that is inside of it, by the numbers that `parent` means.
    """
    inner: dict[int, list[Symbol]] = {n: [] for n, one in symbols.items() if id(one) in wanted}
    for one in symbols.values():
        if one.parent in inner:
            inner[one.parent].append(one)
    # In order, as hunks are: those that reach a symbol stand side by side.
    firsts, lasts = [min(pair) for pair in lines], [last for _, last in lines]
    found = {}
    for number, inside in inner.items():
        one = symbols[number]
        begin, end = bisect_left(lasts, one.first_line), bisect_right(firsts, one.last_line)
        found[id(one)] = [
            n + 1 for n in range(begin, end) if _is_touched(one, firsts[n], lasts[n], inside)
        ]
    return found


def _is_touched(one: Symbol, first: int, last: int, inside: list[Symbol]) -> bool:
    hit = [each for each in inside if each.first_line <= last and each.last_line >= first]
    return _has_line_of_its_own(max(first, one.first_line), min(last, one.last_line), hit)


def _has_line_of_its_own(first: int, last: int, inner: list[Symbol]) -> bool:
    at = first
    for one in sorted(inner, key=lambda symbol: symbol.first_line):
        if one.first_line > at:
            return True
        at = max(at, one.last_line + 1)
    return at <= last


def _parse(data: bytes, language: Language) -> Parsed:
    own = _OWN_PARSERS.get(language.parser)
    return parse_tree(data, language) if own is None else own(data)


def _textual(language: Language | None, reason: GapReason) -> SymbolTable:
    return SymbolTable(
        language=language.name if language else None,
        grammar=language.grammar if language else None,
        grammar_version=grammar_version(language) if language else "",
        revision=EXTRACTOR_REVISION,
        coverage=Coverage.TEXTUAL_ONLY,
        reason=reason,
    )
