"""How alike two texts are, by the lines that they share, wherever these stand."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

TELLING_BYTES = 16  # shorter lines stand in every file


class LineBag(NamedTuple):
    """The lines of a text: bytes of each (all of its copies together), and bytes in all.

    White space at line ends does not count; lines are known by their hash in this process.
    """

    lines: dict[int, int]
    telling: frozenset[int]
    size: int


def bag_of(content: bytes) -> LineBag:
    lines: dict[int, int] = {}
    telling = set()
    size = 0
    for line in content.split(b"\n"):
        text = line.rstrip()
        if not text:
            continue
        key = hash(text)
        lines[key] = lines.get(key, 0) + len(text)
        size += len(text)
        if len(text.lstrip()) >= TELLING_BYTES:
            telling.add(key)
    return LineBag(lines, frozenset(telling), size)


def likeness(one: LineBag, other: LineBag) -> int:
    """Percent of the larger text that both have."""
    most = max(one.size, other.size)
    return 100 * shared_bytes(one, other, one.lines.keys()) // most if most else 0


def shared_bytes(one: LineBag, other: LineBag, keys: Collection[int]) -> int:
    """Bytes of these lines that both have."""
    few, many = sorted((one.lines, other.lines), key=len)
    return sum(min(size, many.get(key, 0)) for key, size in few.items() if key in keys)
