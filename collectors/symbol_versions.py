"""Keeps what was read of the newest versions of files, and reads the next version by what changed.

Lives in the process that parses. What it gives is what `collectors.symbols.extract` gives.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from tree_sitter import Tree

from collectors.symbol_languages import Language, language_named
from collectors.symbol_pieces import Cutter, NotCutError, PieceStore, is_cut
from collectors.symbol_text import digest, place, whole_code
from collectors.symbol_tree import MAX_SYMBOLS, Grammar, grammar_of
from collectors.symbol_values import Coverage, Placed, Symbol, SymbolTable
from collectors.symbols import EXTRACTOR_REVISION, MAX_BYTES, extract, grammar_version
from collectors.values import GapReason

KEPT_BYTES = 12 << 20  # of blobs whose versions are known
TREE_BYTES = 3 << 20  # of blobs whose trees are known; a tree takes about twelve times as much
VERSION_BYTES = 4096  # what a version takes besides its pieces
VersionKey = tuple[str, str]  # object id and language


class CodeAndComments(NamedTuple):
    code: bytes  # without white space
    comments: list[bytes]  # their words


@dataclass(slots=True)
class Version:
    """One blob: its pieces in order, or only its table where it is not cut."""

    language: Language
    size: int
    coverage: Coverage
    reason: GapReason | None
    pieces: Sequence[Placed] = ()
    plain: SymbolTable | None = None

    def part(self, first: int, last: int) -> CodeAndComments:
        """Of the pieces [first, last)."""
        pieces = self.pieces[first:last]
        code = b"".join(whole_code(one.piece) for one in pieces)
        return CodeAndComments(code, [text for one in pieces for text in one.piece.comments])

    def firsts(self) -> list[int]:
        """The number of each piece's first symbol."""
        return list(accumulate((len(one.piece.symbols) for one in self.pieces), initial=0))

    def table(self) -> SymbolTable:
        """What `extract` says of it."""
        if self.plain is not None:
            return self.plain
        symbols: list[Symbol] = []
        seen: dict[str, int] = {}
        for one in self.pieces:
            symbols += place(one, len(symbols), seen)
        code, comments = self.part(0, len(self.pieces))
        return SymbolTable(
            language=self.language.name,
            grammar=self.language.grammar,
            grammar_version=grammar_version(self.language),
            revision=EXTRACTOR_REVISION,
            coverage=self.coverage,
            reason=self.reason,
            symbols=tuple(symbols),
            code_hash=digest(code),
            comment_hash=digest(b"\n".join(comments)) if comments else b"",
        )


class VersionStore:
    """Versions by blob and language, with the trees of some of them."""

    def __init__(
        self,
        kept_bytes: int = KEPT_BYTES,
        tree_bytes: int = TREE_BYTES,
        pieces: PieceStore | None = None,
    ) -> None:
        self._kept_bytes, self._tree_bytes = kept_bytes, tree_bytes
        self._versions: OrderedDict[VersionKey, Version] = OrderedDict()
        self._size = 0
        self._trees: OrderedDict[VersionKey, tuple[Tree, bytes]] = OrderedDict()
        self._tree_size = 0
        self._pieces = pieces or PieceStore()
        self.parsed = self.bytes_parsed = self.hits = self.edited = 0

    def get(self, key: VersionKey) -> Version | None:
        found = self._versions.get(key)
        if found is not None:
            self.hits += 1
            self._versions.move_to_end(key)
        return found

    def read(
        self,
        key: VersionKey,
        data: bytes,
        before: VersionKey | None = None,
        ranges: Sequence[int] = (),
    ) -> Version:
        """Read a blob, as what `ranges` made of another one if that one's tree is known.

        `ranges` are eight integers a hunk, as `ContentChange` stores them.
        """
        language = language_named(key[1])
        self.parsed += 1
        self.bytes_parsed += len(data)
        found = None
        if is_cut(language) and len(data) <= MAX_BYTES:
            found = self._cut(key, data, language, before, ranges)
        if found is None:
            table = extract(data, language)
            found = Version(language, len(data), table.coverage, table.reason, plain=table)
        self._versions[key] = found
        self._size += found.size + VERSION_BYTES
        return found

    def drop_oldest(self) -> list[VersionKey]:
        """Make room; returns what is no longer known."""
        dropped = []
        while self._size > self._kept_bytes and len(self._versions) > 1:
            key, version = self._versions.popitem(last=False)
            self._size -= version.size + VERSION_BYTES
            dropped.append(key)
        return dropped

    def _cut(
        self,
        key: VersionKey,
        data: bytes,
        language: Language,
        before: VersionKey | None,
        ranges: Sequence[int],
    ) -> Version | None:
        grammar = grammar_of(language.name)
        tree = self._parse(grammar, data, before, ranges)
        is_sound = not tree.root_node.has_error
        if is_sound:
            self._keep_tree(key, tree, data)
        elif (repaired := grammar.repaired(data)) != data:
            tree = grammar.parser.parse(repaired)
        has_error = tree.root_node.has_error
        cutter = Cutter(data, language, grammar, self._pieces, is_sound=not has_error)
        try:
            pieces = cutter.whole(tree.root_node)
        except NotCutError:
            return None
        if sum(len(one.piece.symbols) for one in pieces) > MAX_SYMBOLS:
            return None
        if has_error:
            reason = GapReason.PARSE_ERROR
            return Version(language, len(data), Coverage.PARTIAL, reason, pieces)
        return Version(language, len(data), Coverage.FULL, None, pieces)

    def _parse(
        self, grammar: Grammar, data: bytes, before: VersionKey | None, ranges: Sequence[int]
    ) -> Tree:
        """With the tree before where there is one: only what changed is read again."""
        old = self._take_tree(before) if before else None
        if old is not None and _is_made_by(old[1], data, ranges):
            _edit(old[0], ranges)
            tree = grammar.parser.parse(data, old[0])
            if not tree.root_node.has_error:  # how an error is recovered from may depend on it
                self.edited += 1
                return tree
        return grammar.parser.parse(data)

    def _take_tree(self, key: VersionKey) -> tuple[Tree, bytes] | None:
        """A tree is changed by being edited, so it is good for one successor."""
        found = self._trees.pop(key, None)
        if found is not None:
            self._tree_size -= len(found[1])
        return found

    def _keep_tree(self, key: VersionKey, tree: Tree, data: bytes) -> None:
        self._trees[key] = tree, data
        self._tree_size += len(data)
        while self._tree_size > self._tree_bytes and len(self._trees) > 1:
            _, (_, dropped) = self._trees.popitem(last=False)
            self._tree_size -= len(dropped)


def _is_made_by(old: bytes, new: bytes, ranges: Sequence[int]) -> bool:
    """Whether the versions are equal outside of the ranges; an edit that is not true misleads."""
    old_at = new_at = 0
    for at in range(0, len(ranges), 8):
        old_start, old_end, new_start, new_end = ranges[at + 4 : at + 8]
        if old_start < old_at or old[old_at:old_start] != new[new_at:new_start]:
            return False
        old_at, new_at = old_end, new_end
    return bool(ranges) and old[old_at:] == new[new_at:]


def _edit(tree: Tree, ranges: Sequence[int]) -> None:
    """From the last to the first, so that the offsets of the others stay what they are."""
    for at in range(len(ranges) - 8, -1, -8):
        line, old_lines, _, new_lines, start, old_end, new_start, new_end = ranges[at : at + 8]
        row = line - 1
        tree.edit(
            start,
            old_end,
            start + new_end - new_start,
            (row, 0),
            (row + old_lines, 0),
            (row + new_lines, 0),
        )
