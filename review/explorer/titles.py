"""Titles by rule: a change is called by its symbols or its paths, never by what a message says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codememory.models import FileChange, SymbolChange
from codememory.paths import shown_path

MOST_NAMES = 3
KINDS = {
    "A": "added",
    "D": "removed",
    "M": "changed",
    "R": "renamed",
    "C": "copied",
    "T": "changed in type",
}
SYMBOL_KINDS = {
    "ADDED": "added",
    "REMOVED": "removed",
    "MODIFIED": "body changed",
    "SIGNATURE": "signature changed",
    "RENAMED": "renamed",
    "MOVED": "moved",
    "FORMATTING_ONLY": "formatting only",
    "COMMENT_ONLY": "comments only",
}
CONTENT_CLASSES = {
    "BINARY": "Not text: its bytes changed, and are not shown.",
    "FORMATTING_ONLY": "Spacing only.",
    "LINE_ENDINGS_ONLY": "Line ends only.",
    "MODE_ONLY": "Its mode changed, its content did not.",
    "SUBMODULE": "A submodule: it points to another commit of another repository.",
    "SYMLINK": "A symbolic link.",
    "OVERSIZE": "Larger than the policy lets be read.",
    "UNREAD": "Its content could not be read.",
}
QUIET = frozenset({"FORMATTING_ONLY", "COMMENT_ONLY"})


@dataclass(frozen=True, slots=True)
class Title:
    """`names` are code (symbols, or else paths), `more` how many there are beside them."""

    names: list[str]
    more: int
    verb: str


def title_of(
    rows: Sequence[FileChange], symbols: Sequence[SymbolChange], files: int | None = None
) -> Title:
    """Call a change by the symbols it touches most, else by its paths; `files` counts them all."""
    telling = [one for one in symbols if one.kind not in QUIET]
    names = list(dict.fromkeys(one.name.qualified for one in telling))
    if names:
        kinds = {one.kind for one in telling}
        only = next(iter(kinds)) if len(kinds) == 1 else ""
        verb = {"ADDED": "added", "REMOVED": "removed", "RENAMED": "renamed"}.get(only, "changed")
        return Title(names[:MOST_NAMES], max(0, len(names) - MOST_NAMES), verb)
    paths = list(dict.fromkeys(path_of(row) for row in rows))
    letters = {row.kind for row in rows}
    verb = KINDS.get(next(iter(letters)), "changed") if len(letters) == 1 else "changed"
    shown = paths[:MOST_NAMES]
    return Title(shown, max(0, (files or len(paths)) - len(shown)), verb)


def path_of(row: FileChange) -> str:
    """Where a file change is: its new path, or the old one where it is removed."""
    path = row.new_path or row.old_path
    return shown_path(bytes(path.raw)) or "" if path else ""
