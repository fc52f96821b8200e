"""The life of a file under all the names it had, and of a symbol in all the files it was in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from codememory.ancestry import Ancestry
from codememory.models import SymbolChange, SymbolMove, SymbolName
from codememory.owned_rows import PathSteps, Step, does_own, select_steps
from codememory.path_origins import followed_sources
from collectors.symbol_values import SymbolChangeKind

MOST_NAMES = 20  # that a file or symbol is followed through


@dataclass(slots=True)
class FileLife:
    """Steps of one file in topological order; `names` are its paths, the oldest first."""

    steps: list[Step]
    names: list[int]


def life_of_file(scope_id: int, path_id: int, before: int | None = None) -> FileLife:
    """Follow a path through renames, back and forth; with `before`, only up to that row.

    A rename that could be of several files is not followed until a person chose.

    Where a name was left and taken by another file, the file that has it last is meant.
    """
    paths, ancestry = PathSteps(scope_id, is_telling=False), Ancestry(scope_id)
    steps: dict[int, Step] = {}
    names: list[int] = []
    at = before if before is not None else 1 << 62
    if before is None:
        path_id = _last_name(scope_id, paths, path_id)
    path: int | None = path_id
    arrival: Step | None = None  # the rename by which the file left `path`
    while path is not None and path not in names and len(names) < MOST_NAMES:
        names.append(path)
        earlier = paths.before(path, at)
        sources = followed_sources(scope_id, earlier)
        origin = next((s for s in earlier if sources.get(s.id, path) != path), None)
        for step in earlier:
            if origin is None or step.id >= origin.id:
                steps[step.id] = step
        if arrival is not None:
            # Branches that did not know of the rename yet went on under the old name.
            for step in reversed(paths.before(path, 1 << 62)):
                is_after = step.id > arrival.id and step.new_path == path
                if is_after and not ancestry.is_ancestor(arrival.commit_id, step.commit_id):
                    steps[step.id] = step
        if origin is None:
            break
        arrival, path, at = origin, sources[origin.id], origin.id
    if before is None:
        steps.update((step.id, step) for step in _departures(scope_id, names, steps))
    return FileLife([steps[i] for i in sorted(steps)], names[::-1])


def _departures(scope_id: int, names: Sequence[int], steps: Mapping[int, Step]) -> list[Step]:
    """The renames by which an earlier file left a name that this one has taken since."""
    begun = [step for step in steps.values() if step.kind == "A" and step.new_path in names]
    if len(begun) < 2:
        return []
    where = "f.old_path_id = ANY(%s) AND f.kind = 'R' AND f.id < %s"
    last = max(step.id for step in begun)
    left = select_steps(scope_id, where, list(names), last, is_telling=False)
    return [step for step in left if step.new_path not in names]


def _last_name(scope_id: int, paths: PathSteps, path_id: int) -> int:
    """What a path that was renamed away is called now; itself where it is still there."""
    seen = {path_id}
    at = 0
    while len(seen) < MOST_NAMES:
        # A name that was left may have been taken again: what has it last is meant.
        here = [step.id for step in paths.before(path_id, 1 << 62) if step.kind != "D"]
        onward = _renamed_from(scope_id, path_id, max(at, *here[:1], 0))
        if onward is None or onward.new_path is None or onward.new_path in seen:
            return path_id
        seen.add(onward.new_path)
        path_id, at = onward.new_path, onward.id
    return path_id


def _renamed_from(scope_id: int, path_id: int, at: int) -> Step | None:
    where = "f.old_path_id = %s AND f.kind = 'R' AND f.id > %s"
    found = select_steps(scope_id, where, path_id, at, is_telling=False)
    return found[-1] if found else None


@dataclass(slots=True)
class SymbolLife:
    """The changes of a symbol and of what stands in it by step, and the steps themselves.

    Its own names are the oldest first.
    """

    steps: list[Step] = field(default_factory=list)
    changes: dict[int, list[SymbolChange]] = field(default_factory=dict)  # by step
    name_ids: list[int] = field(default_factory=list)
    path_ids: list[int] = field(default_factory=list)


def life_of_symbol(scope_id: int, path_id: int, name_id: int) -> SymbolLife:
    """Follow a symbol back through renames of itself and its file, and through moves."""
    life = SymbolLife()
    before: int | None = None
    moved_in: int | None = None
    seen: set[tuple[int, int]] = set()
    while (path_id, name_id) not in seen and len(seen) < MOST_NAMES:
        seen.add((path_id, name_id))
        file = life_of_file(scope_id, path_id, before)
        life.path_ids += [p for p in reversed(file.names) if p not in life.path_ids]
        # In the commit that moved it, what it left is no event of its own.
        steps = [step for step in file.steps if step.commit_id != moved_in]
        origin = _follow(scope_id, steps, name_id, life)
        if origin is None:
            break
        step, path_id, name_id = origin
        moved_in, before = step.commit_id, step.id
    life.steps.sort(key=lambda step: step.id)
    life.name_ids.reverse()
    life.path_ids.reverse()
    return life


def _follow(
    scope_id: int, steps: Sequence[Step], name_id: int, life: SymbolLife
) -> tuple[Step, int, int] | None:
    """Add the changes of a symbol in a file; returns the step and place from which it was moved."""
    changes = _changes_in(scope_id, steps)
    names = {name_id: SymbolName.objects.get(scope_id=scope_id, pk=name_id).qualified}
    if name_id not in life.name_ids:
        life.name_ids.append(name_id)
    added: tuple[Step, SymbolChange] | None = None
    for step in reversed(steps):
        told = changes.get(step.content, ())
        here = [one for one in told if does_own(step.hunk_numbers, one.hunk_numbers)]
        mine = [c for c in here if c.name_id in names]
        mine += [c for c in here if c.old_name_id in names.keys() - {c.name_id}]
        # What stands in it (the methods of a class) is a part of it.
        outer = tuple(f"{name}." for name in names.values())
        inner = [c for c in here if c not in mine and _is_in(c, outer)]
        if not mine + inner or step.id in life.changes:
            continue
        life.changes[step.id] = mine + inner
        life.steps.append(step)
        for change in mine:
            if change.kind == SymbolChangeKind.RENAMED and change.old_name_id:
                assert change.old_name is not None
                names[change.old_name_id] = change.old_name.qualified
                if change.old_name_id not in life.name_ids:
                    life.name_ids.append(change.old_name_id)
            if change.kind == SymbolChangeKind.ADDED:
                added = step, change
    return _moved_from(scope_id, added) if added else None


def _is_in(change: SymbolChange, outer: tuple[str, ...]) -> bool:
    names = [one.qualified for one in (change.name, change.old_name) if one is not None]
    return any(name.startswith(outer) for name in names)


def _changes_in(scope_id: int, steps: Iterable[Step]) -> dict[int, list[SymbolChange]]:
    rows = SymbolChange.objects.filter(
        scope_id=scope_id, content_change_id__in={step.content for step in steps}
    )
    found: dict[int, list[SymbolChange]] = {}
    for row in rows.select_related("name", "old_name").order_by("content_change_id", "position"):
        found.setdefault(row.content_change_id, []).append(row)
    return found


def _moved_from(scope_id: int, added: tuple[Step, SymbolChange]) -> tuple[Step, int, int] | None:
    """Where a symbol was before a commit moved it: the step that brought it, its path and name."""
    step, change = added
    moves = SymbolMove.objects.filter(scope_id=scope_id, added_id=change.pk)
    for move in moves.select_related("removed"):
        left = select_steps(
            scope_id,
            "f.commit_id = %s AND f.content_change_id = %s",
            step.commit_id,
            move.removed.content_change_id,
            is_telling=False,
        )
        if left and left[0].old_path is not None:
            return step, left[0].old_path, move.removed.name_id
    return None
