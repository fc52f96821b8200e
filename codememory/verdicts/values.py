"""What the verdict rules take and give: the case, the world it is judged against, and the verdict.

Plain values: the database and git reach the rules only through the `World` protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Protocol

from collectors.values import Hunk, PathClass


class VerdictKind(StrEnum):
    CURRENT_SUPPORTED = "CURRENT_SUPPORTED"
    HISTORICAL = "HISTORICAL"
    RECHECK_REQUIRED = "RECHECK_REQUIRED"
    UNKNOWN = "UNKNOWN"


class Method(StrEnum):
    """The rule that decided. Each belongs to one verdict kind; `METHOD_KINDS` says which."""

    BLOB_MATCH = "BLOB_MATCH"
    LINES_IN_PLACE = "LINES_IN_PLACE"
    LINES_WEAK_IN_PLACE = "LINES_WEAK_IN_PLACE"
    LINES_MOVED_IN_FILE = "LINES_MOVED_IN_FILE"
    REFORMATTED = "REFORMATTED"
    LINES_MOVED_FILE = "LINES_MOVED_FILE"
    SYMBOL_MATCH = "SYMBOL_MATCH"
    SITE_INTACT = "SITE_INTACT"
    SITE_EDITED = "SITE_EDITED"
    ABSENT = "ABSENT"
    SEGMENT_MATCH = "SEGMENT_MATCH"
    SEGMENT_MOVED = "SEGMENT_MOVED"
    WEAK_ONLY = "WEAK_ONLY"
    LINES_PARTIAL = "LINES_PARTIAL"
    CONTENT_ELSEWHERE = "CONTENT_ELSEWHERE"
    PARTLY_RESTORED = "PARTLY_RESTORED"
    SEGMENT_CHANGED = "SEGMENT_CHANGED"
    REVERTED = "REVERTED"
    REMOVED = "REMOVED"
    REPLACED = "REPLACED"
    FILE_GONE = "FILE_GONE"
    NOT_REACHABLE = "NOT_REACHABLE"
    RESTORED = "RESTORED"
    CONTEXT_GONE = "CONTEXT_GONE"
    SEGMENT_GONE = "SEGMENT_GONE"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"
    NOT_JUDGED = "NOT_JUDGED"  # generated, lock, vendored, excluded files; changes without lines
    FORMAT_ONLY = "FORMAT_ONLY"
    DUPLICATED_LINES = "DUPLICATED_LINES"  # the removed lines also stand elsewhere in the file
    MOVED_BY_CHANGE = "MOVED_BY_CHANGE"  # the same commit added the removed lines: see that side


_CURRENT, _HISTORICAL = VerdictKind.CURRENT_SUPPORTED, VerdictKind.HISTORICAL
_RECHECK, _UNKNOWN = VerdictKind.RECHECK_REQUIRED, VerdictKind.UNKNOWN

METHOD_KINDS: dict[Method, VerdictKind] = {
    Method.BLOB_MATCH: _CURRENT,
    Method.LINES_IN_PLACE: _CURRENT,
    Method.LINES_WEAK_IN_PLACE: _CURRENT,
    Method.LINES_MOVED_IN_FILE: _CURRENT,
    Method.REFORMATTED: _CURRENT,
    Method.LINES_MOVED_FILE: _CURRENT,
    Method.SYMBOL_MATCH: _CURRENT,
    Method.SITE_INTACT: _CURRENT,
    Method.SITE_EDITED: _CURRENT,
    Method.ABSENT: _CURRENT,
    Method.SEGMENT_MATCH: _CURRENT,
    Method.SEGMENT_MOVED: _CURRENT,
    Method.WEAK_ONLY: _RECHECK,
    Method.LINES_PARTIAL: _RECHECK,
    Method.CONTENT_ELSEWHERE: _RECHECK,
    Method.PARTLY_RESTORED: _RECHECK,
    Method.SEGMENT_CHANGED: _RECHECK,
    Method.REVERTED: _HISTORICAL,
    Method.REMOVED: _HISTORICAL,
    Method.REPLACED: _HISTORICAL,
    Method.FILE_GONE: _HISTORICAL,
    Method.NOT_REACHABLE: _HISTORICAL,
    Method.RESTORED: _HISTORICAL,
    Method.CONTEXT_GONE: _HISTORICAL,
    Method.SEGMENT_GONE: _HISTORICAL,
    Method.SOURCE_UNAVAILABLE: _UNKNOWN,
    Method.NOT_JUDGED: _UNKNOWN,
    Method.FORMAT_ONLY: _UNKNOWN,
    Method.DUPLICATED_LINES: _UNKNOWN,
    Method.MOVED_BY_CHANGE: _UNKNOWN,
}


class Flag(StrEnum):
    HEAD_ONLY = "HEAD_ONLY"  # judged against HEAD's blob: the file may not or cannot be read
    DIRTY = "DIRTY"  # judged against uncommitted bytes
    REAPPLIED = "REAPPLIED"  # undone in between, and in place again
    TWIN = "TWIN"  # judged by the reachable change with the same content
    VALUE_RESTORED = "VALUE_RESTORED"  # too little text to call it a revert with certainty


class Source(StrEnum):
    WORKTREE = "WORKTREE"
    HEAD = "HEAD"


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that was asked: what it compared, in counts and paths, and what came out."""

    rule: str
    compared: str
    answer: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Does it still hold? `path` is where it is now, `cites` the commit that did it or the twin."""

    verdict: VerdictKind
    method: Method
    share: float | None = None  # surviving part, by characters
    path: bytes | None = None
    cites: str | None = None
    flags: tuple[Flag, ...] = ()
    steps: tuple[Step, ...] = ()

    def flagged(self, *flags: Flag) -> Verdict:
        added = tuple(flag for flag in flags if flag not in self.flags)
        return replace(self, flags=self.flags + added) if added else self


@dataclass(frozen=True, slots=True)
class CurrentFile:
    """A file as it is now. `content` None: it is there, and its bytes could not be had."""

    path: bytes
    content: bytes | None
    oid: str | None = None
    source: Source = Source.WORKTREE
    is_dirty: bool = False


@dataclass(frozen=True, slots=True)
class HunkCase:
    """One hunk of a change, with both images whole.

    An oid with content None means that the object is missing. `hunk` None means that the change has
    no lines to compare (binary, mode only, submodule): only whole blobs are compared then.
    """

    commit_oid: str
    ordinal: int  # position of the commit in topological order, parents first
    old_path: bytes | None
    new_path: bytes | None
    old_oid: str | None
    new_oid: str | None
    old_content: bytes | None
    new_content: bytes | None
    hunk: Hunk | None
    is_reachable: bool = True
    path_class: PathClass = PathClass.NORMAL
    moved_to: bytes | None = None  # the same commit added the removed lines in this file


@dataclass(frozen=True, slots=True)
class Places:
    """Files that have a line now: `count` of them, and the first few paths."""

    paths: tuple[bytes, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Inverse:
    """A later commit that took this hunk back, and the share of the whole commit it took back."""

    commit_oid: str
    share: float


class ChangedSymbol(NamedTuple):
    """A symbol that a hunk touches, with what it says itself before and after the change.

    Both are numbers that only equality is asked of; None: no such side. Lines are those of the
    after image, from 1, inclusive.
    """

    name: str
    before: int | None
    after: int | None
    first_line: int
    last_line: int


class CurrentSymbol(NamedTuple):
    """A symbol of a file as it is now: `body` as in ChangedSymbol, `size` in bytes of code."""

    name: str
    body: int
    size: int


class World(Protocol):
    """What the rules may ask. Every answer must be of the one worktree that is judged."""

    def current(self, path: bytes, /) -> CurrentFile | None:
        """The file at this path now; None when there is none."""

    def followed_paths(self, path: bytes, case: HunkCase, /) -> tuple[bytes, ...]:
        """The names now of the file that `path` was at the case's commit, likeliest first."""

    def where(self, line_hash: int, /) -> Places:
        """Files of HEAD that have a strong line with this `lines.line_hash`."""

    def content_before(self, path: bytes, case: HunkCase, /) -> bytes | None:
        """What the file now at `path` held at the parent of the case's commit; None: no file."""

    def twin(self, case: HunkCase, /) -> HunkCase | None:
        """The same hunk in a reachable commit of the same content; the nearest when several."""

    def inverse(self, case: HunkCase, /) -> Inverse | None:
        """A later commit with a hunk that removes just what this one added and adds the removed."""

    def changed_symbols(self, case: HunkCase, /) -> Sequence[ChangedSymbol]:
        """The symbols of the after image that the hunk touches and whose code the change made what
        it is; () when there are none, or none were read."""

    def symbols_now(self, path: bytes, /) -> Sequence[CurrentSymbol] | None:
        """The symbols of the file at this path now; None when they are not read."""
