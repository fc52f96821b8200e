"""Finds copies that were edited before they were committed: new files like one that was there.

Looked at are files that the same commit changed, and files of the same name or folder, a few each;
what all of them share (a licence, a form that every module fills in) says nothing.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from codememory.ancestry import Ancestry
from codememory.models import ContentChange, GitCommit, OriginKind, OriginState, Path
from codememory.owned_rows import PathSteps, Step
from collectors.likeness import LineBag, bag_of, likeness, shared_bytes
from collectors.objects import ObjectReader
from collectors.values import ContentClass

LEAST_BYTES = 200
MOST_BYTES = 256 << 10
EQUAL = 100  # percent: the very content, whatever it began as
LEAST_SCORE = 50  # percent, as Git has it
LEAST_TELLING = 30  # percent of the new file: lines that hardly another one looked at has
LEAST_LINES = 5  # of those
COMMON, COMMON_SHARE = 3, 5  # a line in more files, and in more than one of five, says nothing
CLOSE = 5  # percent below the best at which another one is as good
MOST_RIVALS = 5  # more are a family of files, and none of them the source
MOST_LOOKED_AT = 40  # files, for one new file
MOST_NAMESAKES = 1_000  # that are compared by their paths
MOST_BESIDE = 80  # files of the folder whose size is asked for
MOST_NEW = 200  # new files of one commit; of larger commits nothing is sought
BAGS_KEPT = 4_000


class _Source(NamedTuple):
    """A content of a path that a new file may be a copy of; the smaller `rank` the likelier."""

    path: int
    oid: str
    size: int
    rank: int


class _Index(NamedTuple):
    """Paths in order: all of a name, and all of a folder with one extension."""

    raws: dict[int, bytes]
    namesakes: dict[bytes, list[int]]
    beside: dict[tuple[bytes, bytes], list[int]]
    places: dict[int, tuple[int, int]]  # of a path in both lists


class CopyFinder:
    """Finds the sources of new files, batch by batch; keeps what it read while there is room."""

    def __init__(self, scope_id: int, reader: ObjectReader, blob_bytes: int) -> None:
        self._scope_id = scope_id
        self._reader = reader
        self._limit = min(blob_bytes, MOST_BYTES)
        self._paths = PathSteps(scope_id)
        self._ancestry = Ancestry(scope_id)
        self._bags: OrderedDict[str, LineBag] = OrderedDict()

    def find(self, new: Sequence[Step], steps: Sequence[Step]) -> list[tuple[Any, ...]]:
        """Rows of PathOrigin for new files without an equal source; `steps`: their commits."""
        counts = _new_files(new)
        new = [step for step in new if 0 < counts[step.commit_id] <= MOST_NEW]
        new = [step for step in new if step.content_class == ContentClass.TEXT]
        near = {step.id: self._near(step) for step in new}
        self._paths.load({path for paths in near.values() for path in paths})
        changed: dict[int, list[Step]] = defaultdict(list)
        for step in steps:
            if step.kind in {"M", "R", "D"} and step.old_oid and counts[step.commit_id]:
                changed[step.commit_id].append(step)
        states = {step.id: self._states(step, near[step.id]) for step in new}
        sizes = _sizes([*new, *steps, *(s for found in states.values() for s in found)])
        rows: list[tuple[Any, ...]] = []
        for step in new:
            sources = _sources(step, changed[step.commit_id], states[step.id], sizes)
            rows += self._judge(step, sources)
        return rows

    # What may be the source

    @cached_property
    def _index(self) -> _Index:
        rows = Path.objects.filter(scope_id=self._scope_id).values_list("pk", "raw")
        index = _Index({}, defaultdict(list), defaultdict(list), {})
        for raw, pk in sorted((bytes(raw), pk) for pk, raw in rows.iterator()):
            folder, name, extension = _parts(raw)
            namesakes, beside = index.namesakes[name], index.beside[folder, extension]
            index.raws[pk], index.places[pk] = raw, (len(namesakes), len(beside))
            namesakes.append(pk)
            beside.append(pk)
        return index

    def _near(self, step: Step) -> list[int]:
        """Paths of the same name, those that share most of the way first, and of the folder."""
        index = self._index
        raw = index.raws.get(step.path)
        if raw is None:
            return []
        folder, name, extension = _parts(raw)
        way = raw.split(b"/")
        first, second = index.places[step.path]
        namesakes = _around(index.namesakes[name], first, MOST_NAMESAKES)
        namesakes.sort(key=lambda path: -_shared(way, index.raws[path].split(b"/")))
        beside = _around(index.beside[folder, extension], second, MOST_BESIDE)
        return list(dict.fromkeys([*namesakes[:MOST_LOOKED_AT], *beside]))

    def _states(self, step: Step, near: Iterable[int]) -> list[Step]:
        """What each of these paths held when the file came: the step that left it so."""
        found = []
        for path in near:
            for earlier in self._paths.before(path, step.id):
                if earlier.commit_id != step.commit_id and self._ancestry.is_ancestor(
                    earlier.commit_id, step.commit_id
                ):
                    if earlier.new_oid is not None:
                        found.append(earlier)
                    break
        return found

    # Which of them it is

    def _judge(self, step: Step, sources: Sequence[_Source]) -> Iterable[tuple[Any, ...]]:
        oids = [oid for oid in (step.new_oid, *(one.oid for one in sources)) if oid]
        missing = [oid for oid in oids if oid not in self._bags]
        if not sources:
            return
        self._reader.prefetch(missing, limit=self._limit)
        mine = self._bag(step.new_oid)
        bags = {one.path: bag for one in sources if (bag := self._bag(one.oid)) is not None}
        if mine is None or not bags:
            return
        telling = _telling(mine, bags.values())
        scores = {
            path: min(score, EQUAL - 1)
            for path, bag in bags.items()
            if (score := likeness(mine, bag)) >= LEAST_SCORE and _says_enough(mine, bag, telling)
        }
        scores.update((one.path, EQUAL) for one in sources if one.oid == step.new_oid)
        best = max(scores.values(), default=0)
        least = best if best == EQUAL else best - CLOSE
        close = {path: score for path, score in scores.items() if score >= least}
        if len(close) > MOST_RIVALS:
            return
        state = OriginState.OPEN if len(close) > 1 else OriginState.CERTAIN
        for path, score in sorted(close.items()):
            kind = OriginKind.COPY.value
            yield self._scope_id, step.id, path, kind, score, False, state.value

    def _bag(self, oid: str | None) -> LineBag | None:
        if oid is None:
            return None
        if oid not in self._bags:
            content = self._reader.read(oid, limit=self._limit)
            if not isinstance(content, bytes):
                return None
            self._bags[oid] = bag_of(content)
            while len(self._bags) > BAGS_KEPT:
                self._bags.popitem(last=False)
        self._bags.move_to_end(oid)
        return self._bags[oid]


def large_commits(new: Sequence[Step]) -> dict[int, int]:
    """Commits with too many new files to look for their sources, with how many."""
    return {commit: count for commit, count in _new_files(new).items() if count > MOST_NEW}


def _new_files(new: Sequence[Step]) -> Counter[int]:
    """How many new files each commit has; none of a commit before which there was nothing."""
    counts = Counter(step.commit_id for step in new if step.content_class == ContentClass.TEXT)
    for root in GitCommit.objects.filter(pk__in=list(counts), parent_oids=[]):
        del counts[root.pk]
    return counts


def _around(paths: Sequence[int], place: int, most: int) -> list[int]:
    """So many of the paths around the one at a place, without it, the nearest first."""
    first = max(0, place - most // 2)
    found = [*range(first, place), *range(place + 1, min(len(paths), place + 1 + most // 2))]
    return [paths[at] for at in sorted(found, key=lambda at: abs(at - place))]


def _parts(raw: bytes) -> tuple[bytes, bytes, bytes]:
    """Folder, name and extension of a path."""
    folder, _, name = raw.rpartition(b"/")
    return folder, name, name.rpartition(b".")[2]


def _shared(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Steps that two ways have in common, from both ends."""
    most = min(len(one), len(other))
    first = next((n for n in range(most) if one[n] != other[n]), most)
    last = next((n for n in range(most) if one[-1 - n] != other[-1 - n]), most)
    return min(first + last, most)


def _sizes(steps: Iterable[Step]) -> dict[str, int]:
    """Bytes of contents by their object id."""
    rows = ContentChange.objects.filter(pk__in={step.content for step in steps})
    sizes: dict[str, int] = {}
    for old, old_size, new, new_size in rows.values_list(
        "old_oid", "old_size", "new_oid", "new_size"
    ):
        sizes.update((oid, size or 0) for oid, size in ((old, old_size), (new, new_size)) if oid)
    return sizes


def _sources(
    step: Step, changed: Sequence[Step], states: Sequence[Step], sizes: Mapping[str, int]
) -> list[_Source]:
    """What is of a size that may be alike, the likeliest first."""
    size = sizes.get(step.new_oid or "", 0)
    if not LEAST_BYTES <= size <= MOST_BYTES:
        return []
    told = [(one.old_path, one.old_oid, -1) for one in changed]
    told += [(one.new_path, one.new_oid, rank) for rank, one in enumerate(states)]
    found: dict[int, _Source] = {}
    for path, oid, rank in told:
        if path is None or oid is None or path == step.new_path or path in found:
            continue
        other = sizes.get(oid) or 0
        # Line ends may differ, and count for nothing.
        if max(other, size) <= 2.2 * min(other, size):
            found[path] = _Source(path, oid, other, rank)
    ranked = sorted(found.values(), key=lambda one: (one.rank, abs(one.size - size)))
    return ranked[:MOST_LOOKED_AT]


def _telling(mine: LineBag, bags: Collection[LineBag]) -> frozenset[int]:
    """The new file's lines that hardly another of the files has."""
    common = max(COMMON, len(bags) // COMMON_SHARE)
    held = Counter(key for bag in bags for key in mine.telling & bag.telling)
    return frozenset(key for key in mine.telling if held[key] <= common)


def _says_enough(mine: LineBag, bag: LineBag, telling: frozenset[int]) -> bool:
    shared = telling & bag.telling
    told = shared_bytes(mine, bag, shared)
    return len(shared) >= LEAST_LINES and 100 * told >= LEAST_TELLING * mine.size
