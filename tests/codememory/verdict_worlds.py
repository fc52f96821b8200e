"""A small world of texts for the verdict rules, and cases made by comparing two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha1, sha256

import pygit2

from codememory.verdicts import (
    ChangedSymbol,
    CurrentFile,
    CurrentSymbol,
    HunkCase,
    Inverse,
    LineIndex,
    Places,
    Source,
    Verdict,
    judge_hunk,
)
from collectors.symbol_changes import compare
from collectors.symbol_languages import language_named
from collectors.symbols import bodies_of, body_key, extract, symbols_touched
from collectors.values import Hunk

PATH = b"shop/cart.py"

BASE = b"""\
import decimal


class Cart:
    def __init__(self, owner):
        self.owner = owner
        self.rows = []

    def total(self):
        return sum(row.price for row in self.rows)

    def clear(self):
        self.rows = []
"""


def oid_of(content: bytes) -> str:
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def hunks_of(old: bytes, new: bytes) -> list[Hunk]:
    """The hunks between two texts, without context."""
    patch = pygit2.Patch.create_from(old, new, context_lines=0)
    return [_hunk(old, new, found) for found in patch.hunks]


def _hunk(old: bytes, new: bytes, found: pygit2.DiffHunk) -> Hunk:
    old_start, old_end = _byte_range(old, found.old_start, found.old_lines)
    new_start, new_end = _byte_range(new, found.new_start, found.new_lines)
    return Hunk(
        found.old_start,
        found.old_lines,
        found.new_start,
        found.new_lines,
        old_start,
        old_end,
        new_start,
        new_end,
        sha256(old[old_start:old_end]).digest(),
        sha256(new[new_start:new_end]).digest(),
    )


def _byte_range(content: bytes, line: int, count: int) -> tuple[int, int]:
    lines = content.splitlines(keepends=True)
    first = line - 1 if count else line
    start = sum(map(len, lines[:first]))
    return start, start + sum(map(len, lines[first : first + count]))


def case_of(
    old: bytes | None, new: bytes | None, *, path: bytes = PATH, number: int = 0
) -> HunkCase:
    """The case of one hunk between two versions; None is a side that does not exist."""
    return HunkCase(
        commit_oid="c" * 40,
        ordinal=1,
        old_path=None if old is None else path,
        new_path=None if new is None else path,
        old_oid=None if old is None else oid_of(old),
        new_oid=None if new is None else oid_of(new),
        old_content=old,
        new_content=new,
        hunk=hunks_of(old or b"", new or b"")[number],
    )


@dataclass
class TextWorld:
    """Files as they are now and as they were before the change."""

    now: Mapping[bytes, bytes]
    before: Mapping[bytes, bytes] = field(default_factory=dict)
    renames: Mapping[bytes, bytes] = field(default_factory=dict)
    source: Source = Source.WORKTREE
    is_dirty: bool = False
    undone: Inverse | None = None
    known_twin: HunkCase | None = None
    has_symbols: bool = False

    def current(self, path: bytes) -> CurrentFile | None:
        content = self.now.get(path)
        if content is None:
            return None
        return CurrentFile(path, content, oid_of(content), self.source, self.is_dirty)

    def followed_paths(self, path: bytes, _case: HunkCase) -> tuple[bytes, ...]:
        path = self.renames.get(path, path)
        return (path,) if path in self.now else ()

    def where(self, line_hash: int) -> Places:
        return LineIndex(self.now.items()).where(line_hash)

    def content_before(self, path: bytes, _case: HunkCase) -> bytes | None:
        return self.before.get(path)

    def twin(self, _case: HunkCase) -> HunkCase | None:
        return self.known_twin

    def inverse(self, _case: HunkCase) -> Inverse | None:
        return self.undone

    def changed_symbols(self, case: HunkCase) -> list[ChangedSymbol]:
        return changed_symbols(case) if self.has_symbols else []

    def symbols_now(self, path: bytes) -> list[CurrentSymbol] | None:
        content = self.now.get(path)
        if content is None or not self.has_symbols:
            return None
        return [CurrentSymbol(*one) for one in bodies_of(content, "Python")]


def changed_symbols(case: HunkCase) -> list[ChangedSymbol]:
    """The symbols of the after image that a case's hunk touches, read of the texts."""
    hunk, language = case.hunk, language_named("Python")
    assert hunk is not None
    old = None if case.old_content is None else extract(case.old_content, language)
    new = extract(case.new_content or b"", language)
    first = hunk.new_line + (not hunk.new_lines)  # git names the line before a place without lines
    touched = symbols_touched(new, first, first + hunk.new_lines - 1)
    return [
        ChangedSymbol(
            one.after.name,
            body_key(one.before) if one.before else None,
            body_key(one.after),
            one.after.first_line,
            one.after.last_line,
        )
        for one in compare(old, new)
        if one.after is not None and new.symbols.index(one.after) in touched
    ]


def judge(old: bytes | None, new: bytes | None, now: bytes | None) -> Verdict:
    """The verdict of the first hunk from `old` to `new` when its file says `now`."""
    world = TextWorld({} if now is None else {PATH: now}, {} if old is None else {PATH: old})
    return judge_hunk(case_of(old, new), world)
