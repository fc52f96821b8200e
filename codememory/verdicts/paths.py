"""The names a file had: renames followed forward to HEAD and back to a commit.

Built from the rename and addition rows of history, on every parent, in topological order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable


class PathHistory:
    """Answers what a path of one commit is called now, and what a path of now was called then."""

    def __init__(
        self,
        renames: Iterable[tuple[int, bytes, bytes]],
        additions: Iterable[tuple[int, bytes]],
        is_present: Callable[[bytes], bool],
    ) -> None:
        """`renames` are (ordinal, old, new), `additions` (ordinal, path); in ordinal order."""
        self._onward: dict[bytes, list[tuple[int, bytes]]] = {}
        self._back: dict[bytes, list[tuple[int, bytes]]] = {}
        for ordinal, old, new in renames:
            self._onward.setdefault(old, []).append((ordinal, new))
            self._back.setdefault(new, []).append((ordinal, old))
        self._added: dict[bytes, int] = {}
        for ordinal, path in additions:
            self._added[path] = max(ordinal, self._added.get(path, -1))
        self._is_present = is_present

    def follow(self, path: bytes, ordinal: int) -> tuple[bytes, ...]:
        """The present names of what was `path` at `ordinal`, the likeliest first; () when gone.

        There are several when a name was left and taken again: a file split in two, for one.
        """
        found: dict[bytes, None] = {}
        self._follow(path, ordinal, {path}, found)
        return tuple(found)

    def _follow(
        self, path: bytes, ordinal: int, seen: set[bytes], found: dict[bytes, None]
    ) -> None:
        renames = self._onward.get(path, [])
        first = bisect_right(renames, ordinal, key=lambda rename: rename[0])
        later, earlier = renames[first:], renames[:first][::-1]
        is_present = self._is_present(path)
        was_taken_again = any(at < self._added.get(path, -1) for at, _ in later)
        if is_present and not was_taken_again:
            found[path] = None  # never left, or left on a side branch that did not prevail
        # Earlier renames come last: the commit sat on a branch that still used the old name.
        for at, new in later if is_present else later + earlier:
            if new not in seen:
                seen.add(new)
                self._follow(new, max(at, ordinal), seen, found)
        if is_present:
            found[path] = None

    def before(self, path: bytes, ordinal: int) -> bytes:
        """The name at `ordinal` of what is `path` now."""
        at, seen = 1 << 62, {path}
        while True:
            names = self._back.get(path, [])
            earlier = [(when, old) for when, old in names if ordinal <= when < at]
            if not earlier or earlier[-1][1] in seen:
                return path
            at, path = earlier[-1]
            seen.add(path)
