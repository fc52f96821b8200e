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

    def follow(self, path: bytes, ordinal: int) -> bytes | None:
        """The present name of what was `path` at `ordinal`; None when no name of it is present."""
        return self._follow(path, ordinal, {path})

    def _follow(self, path: bytes, ordinal: int, seen: set[bytes]) -> bytes | None:
        renames = self._onward.get(path, [])
        first = bisect_right(renames, ordinal, key=lambda rename: rename[0])
        later = renames[first:]
        is_present = self._is_present(path)
        if is_present and not any(at < self._added.get(path, -1) for at, _ in later):
            return path  # never left, or left on a side branch whose rename did not prevail
        # Earlier renames come last: the commit sat on a branch that still used the old name.
        for at, new in later + renames[:first][::-1]:
            if new in seen:
                continue
            seen.add(new)
            found = self._follow(new, max(at, ordinal), seen)
            if found is not None:
                return found
        return path if is_present else None

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
