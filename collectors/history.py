"""Reads a page of commits: their raw rows against every parent, and what changed in the contents.

Called by the run slices of `codememory`, which write a page and its cursor in one transaction.
Reading (`begin_page`, `take_work`) and comparing (`compare_work`, which is pure) are apart, so that
comparing can go on in another process.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from collectors.git import Shadow
from collectors.objects import ObjectReader
from collectors.pair_work import Pair, Work, compare_work
from collectors.paths import is_safe
from collectors.policy import Policy, stricter
from collectors.redact import find_secrets, mask, redact
from collectors.sound_trees import walk_commits
from collectors.trees import MAX_COMMIT_BYTES, SUBMODULE, is_oid
from collectors.values import (
    Commit,
    ContentChange,
    ContentClass,
    Gap,
    GapReason,
    PathClass,
    RawChange,
    Redaction,
    Signature,
)

Known = Callable[[list[Pair]], set[Pair]]

MAX_NAME_BYTES = 256
WORK_BYTES = 8 << 20
WORK_PAIRS = 100
_UNREAD_CLASSES = {PathClass.EXCLUDED, PathClass.PROTECTED}
_NO_TEXT = {ContentClass.SUBMODULE, ContentClass.MODE_ONLY}
_SYMLINK = 0o120000
_SIGNATURE = re.compile(rb"(.*?) ?<([^>]*)> (-?\d+) ([+-]\d{4})\s*", re.DOTALL)
_LATEST = 2**63 - 1


@dataclass(slots=True)
class HistoryPage:
    """What a page of commits shows. Its texts can be asked for while its reader is open."""

    commits: list[Commit] = field(default_factory=list)
    changes: list[RawChange] = field(default_factory=list)
    content_changes: list[ContentChange] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    metrics: Counter[str] = field(default_factory=Counter)
    listed: int = 0  # how many of the given commits it took
    last: str = ""  # of them, the last one
    # Pairs still to be compared, with their class where the modes already say it.
    waiting: dict[Pair, ContentClass | None] = field(default_factory=dict)
    _reader: ObjectReader | None = None
    _policy: Policy | None = None

    def path_class(self, change: RawChange) -> PathClass:
        """The class of a row: of its new path, but unread when either side is."""
        assert self._policy is not None
        return classify_change(change, self._policy)

    def take_work(self, most_bytes: int = WORK_BYTES) -> Work:
        """Take pairs off `waiting` and read their blobs, about `most_bytes` of them.

        What is not compared, as it cannot be read or is no text, goes to `content_changes`.
        """
        reader, policy = self._reader, self._policy
        assert reader is not None
        assert policy is not None
        hits, read = reader.cache_hits, reader.bytes_read
        pairs: list[tuple[Pair, ContentClass | None]] = []
        blobs: dict[str, bytes] = {}
        size = 0
        with _timed(self, "contents"):
            while self.waiting and size < most_bytes:
                group = list(islice(self.waiting.items(), WORK_PAIRS))
                reader.prefetch(
                    (oid for pair, by_mode in group if by_mode is None for oid in pair if oid),
                    limit=policy.max_blob_bytes,
                )
                for pair, by_mode in group:
                    del self.waiting[pair]
                    sides = {} if by_mode in _NO_TEXT else _read_sides(pair, reader, policy)
                    if by_mode in _NO_TEXT:
                        self.add([ContentChange(*pair, by_mode)])
                    elif gaps := [side for side in sides.values() if isinstance(side, Gap)]:
                        self.add([_unread_change(pair, gaps, reader)])
                    else:
                        found = {o: s for o, s in sides.items() if isinstance(s, bytes)}
                        size += sum(len(text) for oid, text in found.items() if oid not in blobs)
                        blobs |= found
                        pairs.append((pair, by_mode))
                    if size >= most_bytes:
                        break
        self.metrics["cache_hits"] += reader.cache_hits - hits
        self.metrics["bytes_read"] += reader.bytes_read - read
        return Work(tuple(pairs), blobs)

    def add(self, found: Iterable[ContentChange]) -> None:
        """Add content changes with their gaps."""
        for change in found:
            self.content_changes.append(change)
            self.gaps += change.gaps

    def sides(self, pair: Pair) -> tuple[bytes | None, bytes | None]:
        """Both sides with secrets masked in place, so that the offsets and lines of hunks hold.

        None for a side that is absent or cannot be read.
        """
        return self._masked(pair[0]), self._masked(pair[1])

    def hunk_sides(self, change: ContentChange) -> Iterable[tuple[bytes, bytes]]:
        """The redacted text of each hunk, before and after, in the order of `change.hunks`."""
        old, new = self._original(change.old_oid), self._original(change.new_oid)
        for hunk in change.hunks:
            yield (
                self._cut(change.old_oid, old, hunk.old_start, hunk.old_end),
                self._cut(change.new_oid, new, hunk.new_start, hunk.new_end),
            )

    def _original(self, oid: str | None) -> bytes | None:
        assert self._reader is not None
        assert self._policy is not None
        if oid is None:
            return None
        content = self._reader.read(oid, limit=self._policy.max_blob_bytes)
        return content if isinstance(content, bytes) else None

    def _masked(self, oid: str | None) -> bytes | None:
        content = self._original(oid)
        if content is None or oid is None:
            return None
        return mask(content, self._find_secrets(oid, content))

    def _cut(self, oid: str | None, content: bytes | None, start: int, end: int) -> bytes:
        if content is None or oid is None or start == end:
            return b""
        assert self._policy is not None
        spans = self._find_secrets(oid, content)
        return redact(content, spans, self._policy.redaction_key, start, end)[0]

    def _find_secrets(self, oid: str, content: bytes) -> tuple[Redaction, ...]:
        assert self._reader is not None
        spans = self._reader.spans.get(oid)
        if spans is None:
            spans = self._reader.spans[oid] = find_secrets(content)
        return spans


def classify_change(change: RawChange, policy: Policy) -> PathClass:
    return classify_paths(change.old_path, change.new_path, policy)


def classify_paths(old_path: bytes | None, new_path: bytes | None, policy: Policy) -> PathClass:
    """The class of a row by its paths: of the new one, but unread when either is."""
    old = policy.classify(old_path)[0] if old_path else None
    new = policy.classify(new_path)[0] if new_path else None
    if old in _UNREAD_CLASSES or new in _UNREAD_CLASSES:
        return stricter(old or PathClass.NORMAL, new or PathClass.NORMAL)
    return new or old or PathClass.NORMAL


def read_page(
    shadow: Shadow, reader: ObjectReader, oids: Sequence[str], policy: Policy, known: Known
) -> HistoryPage:
    """What these commits show, as many of them as a page may hold (at least one).

    `known` tells the pairs that are analysed already.
    """
    page = begin_page(shadow, reader, oids, policy, known)
    while page.waiting:
        page.add(compare_work(page.take_work(), policy))
    end_page(page)
    return page


def begin_page(
    shadow: Shadow, reader: ObjectReader, oids: Sequence[str], policy: Policy, known: Known
) -> HistoryPage:
    """The commits and their rows; what changed in contents is left `waiting`."""
    page = HistoryPage(_reader=reader, _policy=policy, listed=len(oids))
    hits, read = reader.cache_hits, reader.bytes_read
    with _timed(page, "commits"):
        page.commits = read_commits(reader, oids, policy, page.gaps)
    with _timed(page, "changes"):
        _read_changes(page, shadow, reader, oids)
    page.last = oids[page.listed - 1]
    page.waiting = _distinct_pairs(page, policy)
    found = known(list(page.waiting))
    page.metrics["known_pairs"] += len(found)
    for pair in found:
        del page.waiting[pair]
    page.metrics["cache_hits"] += reader.cache_hits - hits
    page.metrics["bytes_read"] += reader.bytes_read - read
    return page


def end_page(page: HistoryPage) -> None:
    """Count what the page holds."""
    page.metrics["commits"] += len(page.commits)
    page.metrics["file_changes"] += len(page.changes)
    page.metrics["content_changes"] += len(page.content_changes)
    page.metrics["hunks"] += sum(len(change.hunks) for change in page.content_changes)
    for gap in page.gaps:
        page.metrics[f"gap_{gap.reason}"] += 1


def read_commits(
    reader: ObjectReader, oids: Iterable[str], policy: Policy, gaps: list[Gap] | None = None
) -> list[Commit]:
    """The commits in order; one that cannot be read is left out and goes to `gaps`."""
    oids = list(oids)
    reader.prefetch(oids, "commit", MAX_COMMIT_BYTES)
    commits = []
    for oid in oids:
        content = reader.read(oid, "commit", MAX_COMMIT_BYTES)
        if isinstance(content, bytes):
            commits.append(parse_commit(oid, content, policy))
        elif gaps is not None:
            gaps.append(Gap(content.reason, oid=oid, commit_oid=oid, detail=content.detail))
    return commits


def parse_commit(oid: str, content: bytes, policy: Policy) -> Commit:
    head, _, message = content.partition(b"\n\n")
    headers: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        headers.setdefault(name, []).append(value)  # a folded line has an empty name
    text, _ = redact(message, find_secrets(message), policy.redaction_key)
    return Commit(
        oid=oid,
        tree_oid=headers.get(b"tree", [b""])[0].decode("ascii", "replace"),
        parents=tuple(p.decode("ascii") for p in headers.get(b"parent", ()) if is_oid(p, oid)),
        author=_parse_signature(headers.get(b"author", [b""])[0], policy),
        committer=_parse_signature(headers.get(b"committer", [b""])[0], policy),
        message=text[: policy.max_message_bytes],
        message_truncated=len(text) > policy.max_message_bytes,
    )


def _parse_signature(line: bytes, policy: Policy) -> Signature:
    """What stands there; a broken line keeps its text as the name, at time 0."""
    found = _SIGNATURE.fullmatch(line)
    if not found:
        return Signature(_name(line, policy), b"", 0, 0)
    zone = int(found[4])
    minutes = abs(zone) // 100 * 60 + abs(zone) % 100
    return Signature(
        name=_name(found[1], policy),
        email=_name(found[2], policy),
        time=max(-_LATEST, min(int(found[3][:20]), _LATEST)),
        offset=minutes if zone >= 0 else -minutes,
    )


def _name(text: bytes, policy: Policy) -> bytes:
    return redact(text, find_secrets(text), policy.redaction_key)[0][:MAX_NAME_BYTES]


def _read_changes(
    page: HistoryPage, shadow: Shadow, reader: ObjectReader, oids: Sequence[str]
) -> None:
    prepared, taken = walk_commits(page.commits, set(shadow.shallow_boundary()), reader)
    if taken < len(page.commits):
        page.listed = oids.index(page.commits[taken].oid)
        del page.commits[taken:]
    pairs = [
        (commit.oid, parent) for commit in page.commits for parent in commit.parents or (None,)
    ]
    for comparison in shadow.changes(pairs, prepared):
        page.changes += comparison.rows
        page.gaps += comparison.gaps


def _distinct_pairs(page: HistoryPage, policy: Policy) -> dict[Pair, ContentClass | None]:
    """Each pair that may be read, with its class where the modes already say it."""
    pairs: dict[Pair, ContentClass | None] = {}
    submodules: set[bytes] = set()
    for change in page.changes:
        if not all(path is None or is_safe(path) for path in (change.old_path, change.new_path)):
            page.gaps.append(
                Gap(
                    GapReason.UNSAFE_PATH,
                    path=change.new_path or change.old_path,
                    commit_oid=change.commit_oid,
                )
            )
        path_class = classify_change(change, policy)
        if path_class in _UNREAD_CLASSES:
            page.metrics[f"skipped_{path_class}"] += 1
            continue
        if SUBMODULE in {change.old_mode, change.new_mode}:
            # Its commits are another repository's: one gap for the place, not one for each of them.
            submodules.add(change.new_path or change.old_path or b"")
        pairs.setdefault((change.old_oid, change.new_oid), _class_by_mode(change))
    page.gaps += [Gap(GapReason.SUBMODULE_NOT_READ, path) for path in sorted(submodules)]
    return pairs


def _class_by_mode(change: RawChange) -> ContentClass | None:
    modes = {change.old_mode, change.new_mode}
    if SUBMODULE in modes:
        return ContentClass.SUBMODULE
    if change.old_oid == change.new_oid:
        return ContentClass.MODE_ONLY
    return ContentClass.SYMLINK if _SYMLINK in modes else None


def _read_sides(pair: Pair, reader: ObjectReader, policy: Policy) -> dict[str, bytes | Gap]:
    return {oid: reader.read(oid, limit=policy.max_blob_bytes) for oid in pair if oid is not None}


def _unread_change(pair: Pair, gaps: list[Gap], reader: ObjectReader) -> ContentChange:
    is_oversize = all(gap.reason is GapReason.OVERSIZE for gap in gaps)
    sizes = reader.sizes(oid for oid in pair if oid)
    return ContentChange(
        *pair,
        content_class=ContentClass.OVERSIZE if is_oversize else ContentClass.UNREAD,
        old_size=sizes.get(pair[0] or ""),
        new_size=sizes.get(pair[1] or ""),
        gaps=tuple(gaps),
    )


@contextmanager
def _timed(page: HistoryPage, phase: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    # In microseconds: counters of whole numbers add up without surprise.
    page.metrics[f"{phase}_us"] += int((time.perf_counter() - start) * 1_000_000)
