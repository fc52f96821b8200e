"""What is known of the symbols of one blob, and what happened to them between two blobs.

A `Symbol` is a tuple and not a dataclass: whole histories make millions, and they are pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from collectors.values import GapReason


class SymbolKind(StrEnum):
    FUNCTION = "FUNCTION"
    METHOD = "METHOD"  # a function of a class, struct, interface, trait or object
    CLASS = "CLASS"  # also records, objects, annotations, unions' siblings with methods
    INTERFACE = "INTERFACE"
    TRAIT = "TRAIT"
    STRUCT = "STRUCT"
    ENUM = "ENUM"
    MODULE = "MODULE"  # also namespaces and packages
    TYPE = "TYPE"
    PROPERTY = "PROPERTY"
    RELATION = "RELATION"
    MACRO = "MACRO"
    TABLE = "TABLE"
    VIEW = "VIEW"
    SECTION = "SECTION"  # a named block of configuration, a build target


class Coverage(StrEnum):
    """How much of a blob its symbols speak for."""

    FULL = "FULL"
    PARTIAL = "PARTIAL"  # the grammar did not understand all of it, or a limit was hit
    TEXTUAL_ONLY = "TEXTUAL_ONLY"  # no symbols: no grammar, or not parsed


class SymbolChangeKind(StrEnum):
    ADDED = "ADDED"
    REMOVED = "REMOVED"
    MODIFIED = "MODIFIED"  # its own body
    SIGNATURE = "SIGNATURE"  # and perhaps its body
    RENAMED = "RENAMED"  # the same body under another name
    MOVED = "MOVED"  # the same body in another path
    FORMATTING_ONLY = "FORMATTING_ONLY"
    COMMENT_ONLY = "COMMENT_ONLY"


class TableDifference(StrEnum):
    """What two versions of a file differ in, as far as the grammar tells code from comments."""

    NONE = "NONE"
    FORMATTING_ONLY = "FORMATTING_ONLY"
    COMMENT_ONLY = "COMMENT_ONLY"
    CODE = "CODE"
    UNKNOWN = "UNKNOWN"  # a side was not parsed, or not in the same language


class Symbol(NamedTuple):
    """A definition: bytes [start, end), 1-based lines [first_line, last_line].

    `name` is qualified with "." in every language; bytes that are no UTF-8 are written `\\xNN`.
    Decorators, attributes written before a template and `export` belong to it. Hashes are 16 bytes
    over the code without comments and white space (white space in strings counts; blocks made by
    indentation count): of the body, of the body with its own name taken out (`shape_hash`), of the
    body without the symbols inside (`own_hash`), of all before the body (`signature_hash`).
    `comment_hash` is over its comments, empty where there are none; `text_hash` over the bytes.
    """

    name: str
    kind: SymbolKind
    ordinal: int  # nth of this name in the blob, from 0: overloads, redefinitions
    parent: int | None  # index of the innermost enclosing symbol
    start: int
    end: int
    first_line: int
    last_line: int
    signature: str  # one line, at most SIGNATURE_LENGTH characters
    is_partial: bool  # a parse error lies inside
    body_size: int  # bytes that body_hash is over
    body_hash: bytes
    shape_hash: bytes
    own_hash: bytes
    signature_hash: bytes
    comment_hash: bytes
    text_hash: bytes


class Piece(NamedTuple):
    """What is known of a node and its symbols, whatever stands before and after it.

    Bytes count from its start, lines from 1 at its first one; a `parent` of None is whatever
    symbol it lies in. `spans` are the ranges of its outermost symbols in `code`.
    """

    symbols: tuple[Symbol, ...]
    spans: tuple[tuple[int, int], ...]
    code: bytes  # without comments and white space
    blocks: int  # that end where it ends; to be told in the code of what it ends with
    comments: tuple[bytes, ...]  # their words
    ends_in_comment: bool


class Placed(NamedTuple):
    """A piece at its place: bytes [start, end), so many lines before it, and its outer symbol."""

    piece: Piece
    start: int
    end: int
    line: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """All symbols of a blob in the order of their start; an outer one comes before its inner ones.

    `reason` says why the coverage is not FULL. With `grammar_version` and `revision` it is the
    identity of the analysis.
    """

    language: str | None
    grammar: str | None
    grammar_version: str
    revision: int
    coverage: Coverage
    reason: GapReason | None = None
    symbols: tuple[Symbol, ...] = ()
    code_hash: bytes = b""
    comment_hash: bytes = b""


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """What happened to one symbol. `before` and `after` are None on a side that has none.

    `confidence` is from 0 to 1: that this is what happened, and not something else.
    """

    kind: SymbolChangeKind
    before: Symbol | None
    after: Symbol | None
    confidence: float
    is_body_changed: bool = False
    is_signature_changed: bool = False
