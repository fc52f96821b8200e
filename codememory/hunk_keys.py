"""Short keys of hunks: the reverse of a hunk is found by the key of its digests swapped."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from collectors.values import Hunk

TRIVIAL = 0
TRIVIAL_BYTES = 24  # on both sides together: too little to say that it is the same text again


def hunk_key(old_sha256: bytes, new_sha256: bytes) -> int:
    """64 bits, signed as PostgreSQL has them, that stand for both sides; never TRIVIAL."""
    digest = hashlib.sha256(old_sha256 + new_sha256).digest()
    return int.from_bytes(digest[:8], "big", signed=True) or 1


def key_of(hunk: Hunk) -> int:
    return TRIVIAL if is_trivial(hunk) else hunk_key(hunk.old_sha256, hunk.new_sha256)


def reverse_key_of(hunk: Hunk) -> int:
    """The key that a hunk has which does the exact reverse of this one."""
    return TRIVIAL if is_trivial(hunk) else hunk_key(hunk.new_sha256, hunk.old_sha256)


def keys_of(hunks: Sequence[Hunk]) -> list[int]:
    return [key_of(hunk) for hunk in hunks]


def stored_keys(ranges: Sequence[int], digests: bytes) -> list[int]:
    """`keys_of` for hunks as a content change stores them: eight integers, two digests each."""
    keys = []
    for at in range(0, len(ranges), 8):
        old_start, old_end, new_start, new_end = ranges[at + 4 : at + 8]
        sides = digests[at * 8 : at * 8 + 64]
        is_small = old_end - old_start + new_end - new_start < TRIVIAL_BYTES
        keys.append(TRIVIAL if is_small else hunk_key(sides[:32], sides[32:]))
    return keys


def is_trivial(hunk: Hunk) -> bool:
    size = hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start
    return size < TRIVIAL_BYTES
