"""Where a line stands at HEAD: an index over the strong lines of every file, 21 bytes a line.

Built once per HEAD; the rules ask it for content that left its file.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable

from codememory.verdicts.lines import is_strong, line_hash, normalise, split_lines
from codememory.verdicts.values import Places

PATHS_HELD = 3
_NO_PATH = 0xFFFFFFFF


class LineIndex:
    """Hash of a normalised strong line -> how many files have it, and up to three of them."""

    def __init__(self, files: Iterable[tuple[bytes, bytes]]) -> None:
        self._paths: list[bytes] = []
        self._hashes = array("Q")
        self._counts = array("B")  # stops at 255: beyond three files nothing is decided
        self._path_ids = array("I")
        self._build(files)

    def _build(self, files: Iterable[tuple[bytes, bytes]]) -> None:
        found: dict[int, list[int]] = {}
        for path, content in files:
            path_id = len(self._paths)
            self._paths.append(path)
            for hashed in _strong_hashes(content):
                ids = found.get(hashed)
                if ids is None:
                    found[hashed] = [1, path_id]
                    continue
                ids[0] += 1
                if len(ids) <= PATHS_HELD:
                    ids.append(path_id)
        self._hashes = array("Q", sorted(found))
        for hashed in self._hashes:
            count, *ids = found[hashed]
            self._counts.append(min(count, 255))
            self._path_ids.extend(ids + [_NO_PATH] * (PATHS_HELD - len(ids)))

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def size(self) -> int:
        """Bytes held by the arrays and the paths."""
        arrays = (self._hashes, self._counts, self._path_ids)
        held = sum(len(values) * values.itemsize for values in arrays)
        return held + sum(map(len, self._paths))

    def where(self, hashed: int) -> Places:
        at = bisect_left(self._hashes, hashed)
        if at == len(self._hashes) or self._hashes[at] != hashed:
            return Places()
        ids = self._path_ids[at * PATHS_HELD : (at + 1) * PATHS_HELD]
        paths = tuple(self._paths[path_id] for path_id in ids if path_id != _NO_PATH)
        return Places(paths=paths, count=self._counts[at])


def _strong_hashes(content: bytes) -> set[int]:
    if b"\0" in content[:8000]:  # git's own test for binary
        return set()
    return {line_hash(normalise(line)) for line in split_lines(content) if is_strong(line)}
