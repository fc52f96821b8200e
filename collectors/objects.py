"""Reads git objects through long-lived `cat-file` processes; every byte is hashed again.

git itself does not verify that content hashes to its name, so a forged object would pass for
evidence. Content is kept in a bounded cache: one commit's after side is the next one's before.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Self

from collectors.errors import GitFailedError
from collectors.process import Child, checked_oid
from collectors.values import Gap, GapReason, Redaction

_BATCH_BYTES = 32 << 20  # what one prefetch may hold at a time
_SIZES_KEPT = 200_000


class ObjectReader:
    """Use as a context manager. Not for use by two threads."""

    def __init__(
        self,
        start: Callable[[Sequence[str]], Child],
        object_format: str,
        cache_bytes: int = 32 << 20,
    ) -> None:
        self._start = start
        self._object_format = object_format
        self._cache_bytes = cache_bytes
        self._cached = 0
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        # Where the secrets of a cached content are; forgotten together with it.
        self.spans: dict[str, tuple[Redaction, ...]] = {}
        self._known: dict[str, tuple[str, int] | None] = {}
        self._corrupt: set[str] = set()
        self._checker: Child | None = None
        self._reader: Child | None = None
        self.cache_hits = 0
        self.objects_read = 0
        self.bytes_read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def id_bytes(self) -> int:
        """How long an object id is in a tree."""
        return hashlib.new(self._object_format, usedforsecurity=False).digest_size

    def close(self) -> None:
        for child in (self._checker, self._reader):
            if child is not None:
                child.kill()
        self._checker = self._reader = None
        self._cache.clear()
        self.spans.clear()
        self._cached = 0

    def forget(self) -> bool:
        """Forget what was read, and go on with the same git; False: it cannot be asked again."""
        self._cache.clear()
        self.spans.clear()
        self._known.clear()
        self._corrupt.clear()
        self._cached = 0
        children = [child for child in (self._checker, self._reader) if child is not None]
        return all(child.is_quiet() for child in children)

    def sizes(self, oids: Iterable[str]) -> dict[str, int | None]:
        """Size of each object as git announces it; None where it is missing."""
        wanted = list(dict.fromkeys(oids))
        self._look_up(wanted)
        return {oid: found[1] if (found := self._known[oid]) else None for oid in wanted}

    def read(self, oid: str, kind: str = "blob", limit: int = 2 << 20) -> bytes | Gap:
        content = self._cache.get(oid)
        if content is not None and len(content) <= limit and self._known[oid] == (
            kind, len(content),
        ):  # fmt: skip
            self._cache.move_to_end(oid)
            self.cache_hits += 1
            return content
        gap = self._refuse(oid, kind, limit)
        if gap is None:
            self._fetch([oid])
            gap = self._refuse(oid, kind, limit)
        return gap or self._cache[oid]

    def prefetch(self, oids: Iterable[str], kind: str = "blob", limit: int = 2 << 20) -> None:
        """Fill the cache in one exchange. What does not fit is read later, one at a time."""
        wanted = [oid for oid in dict.fromkeys(oids) if oid not in self._cache]
        self._look_up(wanted)
        batch, total = [], 0
        for oid in wanted:
            if self._refuse(oid, kind, limit) is None:
                found = self._known[oid]
                total += found[1] if found else 0
                if total > min(_BATCH_BYTES, self._cache_bytes // 2):
                    break
                batch.append(oid)
        self._fetch(batch)

    def is_readable(self, oid: str) -> bool:
        """Whether an object of any kind is there and is what its name says."""
        self._look_up([oid])
        found = self._known[oid]
        return found is not None and isinstance(self.read(oid, found[0], 64 << 20), bytes)

    def _refuse(self, oid: str, kind: str, limit: int) -> Gap | None:
        self._look_up([oid])
        found = self._known[oid]
        if found is None:
            return Gap(GapReason.MISSING_OBJECT, oid=oid)
        if oid in self._corrupt:
            return Gap(GapReason.OBJECT_CORRUPT, oid=oid)
        if found[0] != kind:
            return Gap(GapReason.INVALID_TREE, oid=oid, detail=f"{found[0]}, not {kind}")
        if found[1] > limit:
            return Gap(GapReason.OVERSIZE, oid=oid, detail=f"{found[1]} bytes")
        return None

    def _look_up(self, oids: list[str]) -> None:
        unknown = [oid for oid in oids if oid not in self._known]
        if not unknown:
            return
        if len(self._known) > _SIZES_KEPT:
            self._known = {oid: self._known[oid] for oid in oids if oid in self._known} | {
                oid: self._known[oid] for oid in self._cache
            }
        if self._checker is None:
            self._checker = self._start(["cat-file", "--batch-check"])
        self._checker.write(_as_lines(unknown))
        for oid in unknown:
            words = self._checker.read_until(b"\n").decode("ascii").split(" ")
            is_found = len(words) == 3 and words[0] == oid
            self._known[oid] = (words[1], int(words[2])) if is_found else None

    def _fetch(self, oids: list[str]) -> None:
        """Read objects that were looked up; one that cannot be read is marked as corrupt."""
        at = 0
        while at < len(oids):
            if self._reader is None:
                self._reader = self._start(["cat-file", "--batch"])
                self._reader.write(_as_lines(oids[at:]))
            elif at == 0:
                self._reader.write(_as_lines(oids))
            try:
                self._take(self._reader, oids[at])
            except GitFailedError as error:
                self._reader.kill()
                self._reader = None
                if error.retryable:
                    raise
                self._corrupt.add(oids[at])  # git gave up on this very object
            at += 1

    def _take(self, reader: Child, oid: str) -> None:
        words = reader.read_until(b"\n").decode("ascii").split(" ")
        if len(words) != 3 or words[0] != oid:
            self._known[oid] = None
            return
        kind, size = words[1], int(words[2])
        content = reader.read_exactly(size + 1)[:-1]
        self.objects_read += 1
        self.bytes_read += size
        digest = hashlib.new(self._object_format, b"%s %d\0" % (kind.encode(), size))
        digest.update(content)
        if digest.hexdigest() != oid:
            self._corrupt.add(oid)
            return
        self._known[oid] = (kind, size)
        self._keep(oid, content)

    def _keep(self, oid: str, content: bytes) -> None:
        self._cache[oid] = content
        self._cached += len(content)
        while self._cached > self._cache_bytes and len(self._cache) > 1:
            oid, dropped = self._cache.popitem(last=False)
            self.spans.pop(oid, None)
            self._cached -= len(dropped)


def _as_lines(oids: Sequence[str]) -> bytes:
    return "".join(checked_oid(oid) + "\n" for oid in oids).encode("ascii")
