"""Walks trees by their own re-hashed objects: what differs, within a budget, and what is wrong.

git neither verifies a tree that it compares nor stops at one that unfolds to billions of paths.
What is found here goes to git only where all of it is sound; it alone knows renames.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from collectors.objects import ObjectReader
from collectors.paths import MAX_PATH_BYTES
from collectors.values import Gap, GapReason, RawChange

MAX_ROWS = 100_000  # of one comparison; a gap names the path after which they are left out
MAX_TREES = 200_000  # visited for one comparison, or for one listing
MAX_PREFETCHED = 2_000  # trees
MAX_TREE_BYTES = 8 << 20  # one folder of some 150,000 files; unfolded it takes ten times as much
_KEPT_ENTRIES = 200_000
_KEPT_COMPARED = 10_000  # pairs of folders, of few differences each
_KEPT_DIFFERENCES = 50
_TREE = 0o040000
SUBMODULE = 0o160000
MAX_COMMIT_BYTES = 16 << 20
_FOLDER_MODES = {b"40000", b"040000"}
_MODES = {b"100644", b"100755", b"100664", b"120000", b"160000"} | _FOLDER_MODES


class Entry(NamedTuple):
    """A file, link or submodule of a tree: git's own idea of its mode, and its object."""

    mode: int
    oid: str


class Difference(NamedTuple):
    path: bytes
    old: Entry | None
    new: Entry | None


class _Step(NamedTuple):
    """A folder to be opened, with its tree on either side; or a row to be told."""

    path: bytes
    old: str | None
    new: str | None
    row: Difference | None = None


class _Named(NamedTuple):
    """What is called so directly in a folder, on either side."""

    name: bytes
    is_folder: bool
    before: Entry | None
    after: Entry | None


_Entries = frozenset[tuple[bytes, bytes, bytes]]  # mode, name and object id as they stand there
_Pair = tuple[str | None, str | None]  # trees; None: the empty one


@dataclass(slots=True)
class TreeDifference:
    """What differs between two trees in the order of paths; with gaps it may not be all."""

    rows: list[Difference] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def as_changes(self, commit: str, parent_index: int) -> list[RawChange]:
        """The rows as git would print them without looking for renames."""
        return [_as_change(commit, parent_index, row) for row in self.rows]


class TreeWalker:
    """Reads trees with the caller's reader; keeps those parsed last."""

    def __init__(self, reader: ObjectReader, max_rows: int = MAX_ROWS) -> None:
        self._reader = reader
        self._max_rows = max_rows
        self._id_bytes = reader.id_bytes
        self._pattern = re.compile(rb"([0-7]+) ([^\0]*)\0([\s\S]{%d})" % self._id_bytes)
        self._kept: OrderedDict[str, _Entries] = OrderedDict()
        self._compared: OrderedDict[_Pair, list[_Named]] = OrderedDict()
        self._count = 0
        self._wrong: dict[str, str] = {}

    def prefetch(self, pairs: Iterable[_Pair]) -> None:
        """Read what comparing these trees will need, all of one depth in one exchange."""
        level, seen = set(pairs), set[_Pair]()
        left = MAX_PREFETCHED
        while level and left > 0:
            wanted = {oid for pair in level for oid in pair if oid and oid not in self._kept}
            left -= len(wanted)
            self._reader.prefetch(wanted, "tree", MAX_TREE_BYTES)
            seen |= level
            level = {pair for old, new in level for pair in self._folders(old, new)} - seen

    def _folders(self, old: str | None, new: str | None) -> list[_Pair]:
        steps = self._open(_Step(b"", old, new), [])
        return [(step.old, step.new) for step in steps if step.row is None]

    def child(self, tree: str, name: bytes) -> Entry | None:
        """The file, link or submodule of this name directly in a tree."""
        entries = self._parse(tree)
        found = {} if isinstance(entries, Gap) else _by_name(entries)
        return found.get((name, False))

    def compare(self, old: str | None, new: str | None) -> TreeDifference:
        """What differs between two trees. None: the empty tree."""
        found = TreeDifference()
        found.rows.extend(self.walk(old, new, found.gaps))
        return found

    def walk(self, old: str | None, new: str | None, gaps: list[Gap]) -> Iterator[Difference]:
        """Yield what differs, in git's order; what is wrong or left out goes to `gaps`."""
        rows = visited = 0
        last = b""
        # The last one is next: pushed in reverse, paths come in git's order.
        waiting: list[_Step] = [_Step(b"", old, new)]
        while waiting:
            step = waiting.pop()
            if step.row is not None:
                if rows == self._max_rows:
                    gaps.append(_left_out(last, rows))
                    return
                rows, last = rows + 1, step.path
                yield step.row
                continue
            visited += 1
            if visited > MAX_TREES:
                gaps.append(_left_out(last, rows))
                return
            if len(step.path) > MAX_PATH_BYTES:
                oid = step.new or step.old
                gaps.append(Gap(GapReason.UNSAFE_PATH, step.path[:MAX_PATH_BYTES], oid))
                continue
            waiting.extend(reversed(self._open(step, gaps)))

    def _open(self, step: _Step, gaps: list[Gap]) -> list[_Step]:
        """What differs directly in a folder."""
        old, new = self._entries(step, step.old, gaps), self._entries(step, step.new, gaps)
        if old is None or new is None:
            return []  # nothing can be said of what lies below
        steps = []
        for name, is_folder, before, after in self._differing((step.old, step.new), old, new):
            path = step.path + name
            if is_folder:
                oids = (before.oid if before else None, after.oid if after else None)
                steps.append(_Step(path + b"/", *oids))
            else:
                steps.append(_Step(path, None, None, Difference(path, before, after)))
        return steps

    def _differing(self, pair: _Pair, old: _Entries, new: _Entries) -> list[_Named]:
        """What two folders do not share, in git's order; asked for twice, so kept for a while."""
        found = self._compared.get(pair)
        if found is None:
            olds, news = _by_name(old - new), _by_name(new - old)
            keys = olds.keys() | news.keys()
            found = [
                _Named(*key, before, after)
                for key in (sorted(keys, key=_git_order) if len(keys) > 1 else keys)
                # The same: modes that differ in writing only.
                if (before := olds.get(key)) != (after := news.get(key))
            ]
            if len(found) <= _KEPT_DIFFERENCES:
                self._compared[pair] = found
                if len(self._compared) > _KEPT_COMPARED:
                    self._compared.popitem(last=False)
        return found

    def _entries(self, step: _Step, oid: str | None, gaps: list[Gap]) -> _Entries | None:
        if oid is None:
            return frozenset()
        found = self._parse(oid)
        folder = step.path.rstrip(b"/") or None
        if isinstance(found, Gap):
            gaps.append(Gap(found.reason, folder, oid, detail=found.detail))
            return None
        if detail := self._wrong.get(oid):
            gaps.append(Gap(GapReason.INVALID_TREE, folder, oid, detail=detail))
        return found

    def _parse(self, oid: str) -> _Entries | Gap:
        if oid in self._kept:
            self._kept.move_to_end(oid)
            return self._kept[oid]
        content = self._reader.read(oid, "tree", MAX_TREE_BYTES)
        if isinstance(content, Gap):
            return content
        listed: list[tuple[bytes, bytes, bytes]] = self._pattern.findall(content)
        kept, detail = _sound(listed)
        size = sum(len(mode) + len(name) for mode, name, _ in listed)
        if size + len(listed) * (self._id_bytes + 2) != len(content):
            detail = "no list of entries"
        if detail:
            self._wrong[oid] = detail
        entries = self._kept[oid] = frozenset(kept)
        self._count += len(entries)
        while self._count > _KEPT_ENTRIES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._count -= len(dropped)
        return entries


def _sound(
    listed: list[tuple[bytes, bytes, bytes]],
) -> tuple[list[tuple[bytes, bytes, bytes]], str]:
    """The entries that can be told apart, and what is wrong with the others."""
    if _is_sound(listed):
        return listed, ""
    kept, names, wrong = [], set(), set()
    last = b""
    for mode, name, oid in listed:
        place = name + b"/" if mode.lstrip(b"0") == b"40000" else name
        if not name or b"/" in name:
            wrong.add("a name that is none")
            continue
        if name in names:
            wrong.add("a name twice")
            continue
        if place < last:
            wrong.add("not in order")
        if mode not in _MODES:
            wrong.add("an unknown mode")
        last = max(last, place)
        names.add(name)
        kept.append((mode, name, oid))
    return kept, ", ".join(sorted(wrong))


def _is_sound(listed: list[tuple[bytes, bytes, bytes]]) -> bool:
    """Whether nothing is wrong: what is true of nearly every tree, found without a loop."""
    names = [name for _, name, _ in listed]
    places = [n + b"/" if m in _FOLDER_MODES else n for m, n, _ in listed]
    return (
        _MODES.issuperset({mode for mode, _, _ in listed})
        and len(set(names)) == len(names)
        and b"" not in names
        and b"/" not in b"".join(names)
        and places == sorted(places)
    )


def _canonical(mode: int) -> int:
    """The mode that git itself makes of what stands in a tree."""
    kind = mode & 0o170000
    if kind == 0o100000:
        return 0o100755 if mode & 0o100 else 0o100644
    return kind if kind in {0o120000, _TREE} else SUBMODULE


_CANONICAL = {mode: _canonical(int(mode, 8)) for mode in _MODES}


def _git_order(key: tuple[bytes, bool]) -> bytes:
    name, is_tree = key
    return name + b"/" if is_tree else name


def _by_name(entries: _Entries) -> dict[tuple[bytes, bool], Entry]:
    found = {}
    for mode, name, oid in entries:
        entry = Entry(_CANONICAL.get(mode) or _canonical(int(mode, 8)), oid.hex())
        found[name, entry.mode == _TREE] = entry
    return found


def _left_out(path: bytes, rows: int) -> Gap:
    return Gap(GapReason.BUDGET, path, detail=f"{rows} rows read; those after this path left out")


def _as_change(commit: str, parent_index: int, row: Difference) -> RawChange:
    old, new = row.old, row.new
    if old and new:
        kind = "M" if old.mode & 0o170000 == new.mode & 0o170000 else "T"
    else:
        kind = "A" if new else "D"
    return RawChange(
        commit_oid=commit,
        parent_index=parent_index,
        kind=kind,
        old_mode=old.mode if old else 0,
        new_mode=new.mode if new else 0,
        old_oid=old.oid if old else None,
        new_oid=new.oid if new else None,
        old_path=row.path if old else None,
        new_path=row.path if new else None,
    )


def tree_of(commit: bytes, id_bytes: int) -> str | Gap:
    """The root tree that a commit's content names."""
    found = re.match(rb"tree ([0-9a-f]{%d})\n" % (2 * id_bytes), commit)
    return found[1].decode() if found else Gap(GapReason.INVALID_TREE, detail="names no tree")


def is_oid(text: bytes, like: str) -> bool:
    """Whether a text is a full object id, of the format of another."""
    return len(text) == len(like) and not text.strip(b"0123456789abcdef")
