"""Whether a narrowed memory applies to a question: its path or symbol is touched by what is asked.

A question touches a path by naming it, a file below it or a folder above it; a symbol by naming
it, its owner or a part of it. A task that has the name among its words names it too, where the
name is no plain word; and a symbol is named by a path below which it was ever changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codememory.models import FileChange, Memory, NarrowKind, SymbolChange
from codememory.path_filter import at_or_below, of_paths
from codememory.paths import raw_path
from codememory.symbol_lookup import names_like

SHORTEST_NAME = 4  # characters of a name that counts where a task says it in words
MOST_ASKED = 50  # paths or symbols of a question that are compared
_TELLING = re.compile(r"[_./\d]|[a-z][A-Z]")  # what words of a sentence do not hold
_IN_A_NAME = r"[\w.$-]"


def plain_symbol(text: str) -> str:
    """A symbol's name as it is stored: dots between its parts, no path before it."""
    return text.strip().replace("::", ".").replace("#", ".").rpartition(":")[2]


def applies(
    memory: Memory, text: str, paths: Sequence[bytes] = (), symbols: Sequence[str] = ()
) -> bool:
    """Whether a memory applies to a question of these words, paths and symbols."""
    asked = [plain_symbol(symbol) for symbol in symbols[:MOST_ASKED]]
    if memory.narrow_kind == NarrowKind.PATH:
        return _touches_path(memory, text, paths[:MOST_ASKED], asked)
    if memory.narrow_kind == NarrowKind.SYMBOL:
        return _touches_symbol(memory, text, paths[:MOST_ASKED], asked)
    return True


def applies_to(memory: Memory) -> dict[str, str] | None:
    """Where a memory holds, for an answer; None: in the whole project."""
    if not memory.narrow_kind:
        return None
    return {memory.narrow_kind.lower(): memory.narrow_to}


def _touches_path(
    memory: Memory, text: str, paths: Sequence[bytes], symbols: Sequence[str]
) -> bool:
    own = raw_path(memory.narrow_to).rstrip(b"/")
    if any(_is_within(path, own) or _is_within(own, path) for path in paths):
        return True
    if _says(text, memory.narrow_to) or _says(text, memory.narrow_to.rpartition("/")[2]):
        return True
    return any(_is_changed_in(memory.scope_id, symbol, own) for symbol in symbols)


def _touches_symbol(
    memory: Memory, text: str, paths: Sequence[bytes], symbols: Sequence[str]
) -> bool:
    own = memory.narrow_to
    if any(_is_related(own, symbol) for symbol in symbols):
        return True
    if _says(text, own) or _says(text, own.rpartition(".")[2]):
        return True
    return any(_is_changed_in(memory.scope_id, own, path) for path in paths)


def _is_within(path: bytes, folder: bytes) -> bool:
    folder = folder.rstrip(b"/")
    return not folder or path.rstrip(b"/") == folder or path.startswith(folder + b"/")


def _is_related(one: str, other: str) -> bool:
    """The same name, or one of them is the owner of the other; a leaf alone may be any of it."""
    if not other:
        return False
    for long, short in ((one, other), (other, one)):
        if f".{long}".endswith(f".{short}") or f"{long}.".startswith(f"{short}."):
            return True
    return False


def _says(text: str, name: str) -> bool:
    """Whether a text holds a name as a word of its own; "create" and "docs" are anybody's words."""
    if len(name) < SHORTEST_NAME or not _TELLING.search(name):
        return False
    word = rf"(?<!{_IN_A_NAME}){re.escape(name)}(?!\w)(?!\.\w)"
    return re.search(word, text) is not None


def _is_changed_in(scope_id: int, symbol: str, path: bytes) -> bool:
    """Whether any stored change of a file at or below the path touched the symbol."""
    names = [row.pk for row in names_like(scope_id, symbol)]
    if not names:
        return False
    told = SymbolChange.objects.filter(scope_id=scope_id, name_id__in=names)
    changes = FileChange.objects.filter(
        scope_id=scope_id, content_change_id__in=told.values("content_change_id")
    )
    return changes.filter(of_paths(at_or_below(scope_id, path))).exists()
