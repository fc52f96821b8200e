"""Which line of a file version is which line of the file now: `git diff -w`, in process, cached.

One comparison serves every hunk of a file version.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from threading import Lock

import pygit2
from pygit2.enums import DiffOption

from codememory.verdicts.lines import TextFacts

# libgit2 has no histogram; patience is its nearest, and comparing is without whitespace as -w is.
_FLAGS = DiffOption.IGNORE_WHITESPACE | DiffOption.PATIENCE | DiffOption.FORCE_TEXT
MAPS_HELD = 256


def keep_map(before: TextFacts, now: TextFacts) -> list[int]:
    """For each line of `before` its index in `now`, or -1 where it was not kept in place."""
    patch = pygit2.Patch.create_from(before.content, now.content, flag=_FLAGS, context_lines=0)
    kept = [-1] * len(before.lines)
    left = right = 0
    for hunk in patch.hunks:
        # A side without lines names the line before the place; others name their first line.
        old_first = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        while left < old_first:
            kept[left] = right
            left, right = left + 1, right + 1
        left += hunk.old_lines
        right += hunk.new_lines
    while left < len(kept):
        kept[left] = right
        left, right = left + 1, right + 1
    return kept


class TextCache:
    """Facts of texts and maps between them, least recently used first out.

    Bounded by the bytes of the texts behind the entries; threads may share one.
    """

    def __init__(self, budget: int = 16 << 20) -> None:
        self._budget = budget
        self._spent = 0
        self._facts: OrderedDict[bytes, TextFacts] = OrderedDict()
        self._maps: OrderedDict[tuple[bytes, bytes], list[int]] = OrderedDict()
        self._lock = Lock()

    def facts(self, content: bytes) -> TextFacts:
        key = _key(content)
        with self._lock:
            found = self._facts.get(key)
            if found is not None:
                self._facts.move_to_end(key)
                return found
        made = TextFacts(content)
        with self._lock:
            if key not in self._facts:
                self._facts[key] = made
                self._spent += len(content)
            while self._spent > self._budget and len(self._facts) > 1:
                _, dropped = self._facts.popitem(last=False)
                self._spent -= len(dropped.content)
        return made

    def kept(self, before: bytes, now: bytes) -> list[int]:
        """`keep_map` of the two texts, compared once."""
        key = (_key(before), _key(now))
        with self._lock:
            found = self._maps.get(key)
            if found is not None:
                self._maps.move_to_end(key)
                return found
        made = keep_map(self.facts(before), self.facts(now))
        with self._lock:
            self._maps[key] = made
            while len(self._maps) > MAPS_HELD:
                self._maps.popitem(last=False)
        return made


def _key(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


SHARED = TextCache()
