"""Cuts a tree into pieces, and reads the symbols of each distinct piece only once.

Most versions of a file share nearly all of their functions with the version before: what was found
in a piece is known by its bytes and by what it stands in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache

from tree_sitter import Node

from collectors.symbol_languages import Language
from collectors.symbol_names import follow
from collectors.symbol_text import SPACE, build_piece
from collectors.symbol_tree import (
    MAX_OFFSET,
    Grammar,
    Parsed,
    Reader,
    Rule,
    Scope,
    end_before_comments,
)
from collectors.symbol_values import Piece, Placed

OPENED_BYTES = 800  # a longer piece is put together from the pieces in it
MOST_OPEN = 40  # pieces in pieces; what is deeper is read as one
KEPT_BYTES = 24 << 20
PIECE_BYTES = 700  # about what one kept piece takes, and each of its symbols
_Key = tuple[bytes, int, int, tuple[str, str, bool, int]]


class NotCutError(Exception):
    """What is in a piece depends on more than the piece."""


@cache
def is_cut(language: Language) -> bool:
    """Whether what a node defines depends on nothing beside it, and white space on nothing."""
    is_alone = not any(rule.is_rest or rule.is_joined for rule in language.rules)
    return language.parser == "tree-sitter" and is_alone and not language.keeps_words


class PieceStore:
    """Pieces by their bytes and surroundings; the longest unused go first."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._pieces: OrderedDict[_Key, Piece] = OrderedDict()
        self.size = 0

    def get(self, key: _Key) -> Piece | None:
        found = self._pieces.get(key)
        if found is not None:
            self._pieces.move_to_end(key)
        return found

    def keep(self, key: _Key, piece: Piece) -> None:
        self._pieces[key] = piece
        self.size += _size_of(key, piece)
        while self.size > self._kept_bytes and len(self._pieces) > 1:
            self.size -= _size_of(*self._pieces.popitem(last=False))


def _size_of(key: _Key, piece: Piece) -> int:
    return len(key[0]) + len(piece.code) + PIECE_BYTES * (1 + len(piece.symbols))


class Cutter:
    """Reads one blob's tree; `data` is the blob."""

    def __init__(
        self,
        data: bytes,
        language: Language,
        grammar: Grammar,
        store: PieceStore,
        *,
        is_sound: bool,
    ) -> None:
        self._data, self._language, self._grammar = data, language, grammar
        self._store = store
        self._is_sound = is_sound  # no parse error anywhere

    def whole(self, root: Node) -> list[Placed]:
        """The pieces of a blob; what is between them says nothing. Raises NotCutError."""
        data, at, parts = self._data, 0, []
        for one in self.pieces(root.children, []):
            if text := data[at : one.start].translate(None, SPACE):
                parts.append(_unnamed(text, at, one.start))
            parts.append(one)
            at = one.end
        if text := data[at:].translate(None, SPACE):
            parts.append(_unnamed(text, at, len(data)))
        return parts

    def pieces(
        self, nodes: Sequence[Node], scopes: list[Scope], parent: int | None = None
    ) -> list[Placed]:
        """The pieces of neighbours that stand in these scopes. Raises NotCutError."""
        outer = scopes[-1] if scopes else Scope(0, "", False, None)
        around = (self._language.name, outer.name, outer.is_class_like, len(scopes))
        data, get, found = self._data, self._store.get, []
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            row, column = node.start_point
            if start == end:
                continue
            if not self._is_sound and node.has_error:
                piece = self._leaf(node, scopes)
            else:
                key = data[start:end], node.kind_id, column, around
                known = get(key)
                if known is None:
                    known = self._read(node, scopes)
                    self._store.keep(key, known)
                piece = known
            found.append(Placed(piece, start, end, row, parent))
        return found

    def _read(self, node: Node, scopes: list[Scope]) -> Piece:
        if node.end_byte - node.start_byte > OPENED_BYTES and len(scopes) < MOST_OPEN:
            role = self._grammar.roles.get(node.type, "")
            opened = None
            if role in {"", "b"}:
                opened = self._transparent(node, scopes)
            elif role in {"d", "w"} and (body := self._body(node)) is not None:
                opened = self._definition(node, body, scopes)
            if opened is not None:
                return opened
        return self._leaf(node, scopes)

    def _leaf(self, node: Node, scopes: list[Scope]) -> Piece:
        """By one query over all that is in it."""
        found = Parsed()
        captures = self._grammar.captures(node)
        if captures:
            reader = Reader(self._data, found, self._grammar)
            reader.scopes = _around(scopes)
            reader.read(captures)
        return self._built(node, found)

    def _transparent(self, node: Node, scopes: list[Scope]) -> Piece | None:
        """What defines nothing is no more than what is in it."""
        children = node.children
        if not children:
            return None
        found = Parsed()
        if self._grammar.roles.get(node.type) == "b":
            found.block_ends.append(node.end_byte)
        found.pieces = self.pieces(children, scopes)
        return self._built(node, found)

    def _body(self, node: Node) -> Node | None:
        """The body that a definition ends with, within its wrappers."""
        inner = node
        while self._grammar.roles.get(inner.type) == "w":
            if not inner.child_count:
                return None
            inner = inner.children[-1]
        rule = next(
            (r for r in self._grammar.rules.get(inner.type, ()) if self._fits(r, inner)), None
        )
        if rule is None:
            return None
        for path, is_after in rule.bodies:
            if (body := follow(inner, path)) is not None:
                has_end = body.end_byte == inner.end_byte == node.end_byte
                is_plain = self._grammar.roles.get(body.type, "") in {"", "b"}
                is_opened = has_end and is_plain and not is_after and body.child_count > 1
                return body if is_opened else None
        return None

    def _fits(self, rule: Rule, node: Node) -> bool:
        return rule.matches(node, self._data)

    def _definition(self, node: Node, body: Node, scopes: list[Scope]) -> Piece | None:
        """Its head is read as usual, its body from pieces; None where they are not apart."""
        found, start = Parsed(), body.start_byte
        reader = Reader(self._data, found, self._grammar)
        reader.scopes = _around(scopes)
        reader.read(self._grammar.captures(node, start))
        if reader.wrapper is not None and reader.wrapper.end_byte == node.end_byte:
            return None
        if self._grammar.roles.get(body.type) == "b":
            found.block_ends.append(body.end_byte)
        while reader.scopes and reader.scopes[-1].end <= start:
            reader.scopes.pop()
        parent = reader.scopes[-1].number if reader.scopes else None
        children = body.children
        comments = {
            child.start_byte for child in children if "c" in self._grammar.roles.get(child.type, "")
        }
        found.pieces = self.pieces(
            [child for child in children if child.start_byte not in comments],
            reader.scopes,
            parent,
        )
        if self._language.blocks and found.pieces and found.pieces[-1].piece.ends_in_comment:
            return None  # the definition ends before that comment, inside of the piece
        found.regions += [
            (child.start_byte, child.end_byte, True)
            for child in children
            if child.start_byte in comments
        ]
        return self._built(node, found)

    def _built(self, node: Node, found: Parsed) -> Piece:
        if found.is_limited or (
            self._language.blocks and found.definitions and not found.block_ends
        ):
            raise NotCutError
        if found.block_ends:
            end_before_comments(self._data, found)
        found.block_ends += [one.end for one in found.pieces for _ in range(one.piece.blocks)]
        start, row = node.start_byte, node.start_point[0]
        found.definitions = [
            one._replace(
                start=one.start - start,
                head=one.head - start,
                body=one.body - start,
                end=one.end - start,
                first_line=one.first_line - row,
                last_line=one.last_line - row,
            )
            for one in found.definitions
        ]
        found.regions = [(a - start, b - start, comment) for a, b, comment in found.regions]
        found.block_ends = [end - start for end in found.block_ends]
        found.pieces = [
            one._replace(start=one.start - start, end=one.end - start, line=one.line - row)
            for one in found.pieces
        ]
        return build_piece(self._data[start : node.end_byte], found, keeps_words=False)


def _unnamed(text: bytes, start: int, end: int) -> Placed:
    """What the grammar skips between nodes: a backslash before the end of a line."""
    return Placed(Piece((), (), text, 0, (), False), start, end, 0, None)


def _around(scopes: list[Scope]) -> list[Scope]:
    """The scopes for the inside of a piece: they reach beyond it, and their symbol is not in it."""
    return [one._replace(end=MAX_OFFSET, number=None) for one in scopes]
