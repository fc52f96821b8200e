"""File changes as steps of a path's content: what a commit itself did, once, in topological order.

Views do not count: neither what a merge only shows of its parents, nor rows that are not read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.db import connection

ROWS_KEPT = 300_000  # of path histories in memory
NAMES_FOLLOWED = 8  # earlier names of one path

OWNED = """
    SELECT f.id, f.commit_id, f.kind, f.old_path_id, f.new_path_id, f.content_change_id,
           c.old_oid, c.new_oid, c.content_class, f.hunk_numbers,
           c.added_lines + c.removed_lines, f.logical_change_id
    FROM codememory_filechange f
    JOIN codememory_gitcommit g ON g.id = f.commit_id
    JOIN codememory_contentchange c ON c.id = f.content_change_id
    WHERE f.scope_id = %s AND f.logical_change_id IS NOT NULL
      AND (cardinality(g.parent_oids) < 2 OR NOT EXISTS (
          SELECT 1 FROM codememory_filechange e
          WHERE e.scope_id = f.scope_id AND e.logical_change_id = f.logical_change_id
            AND e.commit_id < f.commit_id)
        -- A merge without a row against one of its parents is that parent: all is known from there.
        AND cardinality(g.parent_oids) = (
          SELECT count(DISTINCT e.parent_index) FROM codememory_filechange e
          WHERE e.scope_id = f.scope_id AND e.commit_id = f.commit_id))
"""
# What may be taken back: spacing and what is generated come and go by themselves. Spacing that the
# language reads (indentation in Python, blanks in a string) is code.
_TELLING = """ AND f.path_class = 'NORMAL'
      AND (c.content_class NOT IN ('FORMATTING_ONLY', 'LINE_ENDINGS_ONLY') OR EXISTS (
          SELECT 1 FROM codememory_codefacts k WHERE k.scope_id = c.scope_id
            AND k.content_change_id = c.id AND k.difference = 'CODE'))
"""


class Step(NamedTuple):
    """A file change: one content of a path became another; None is a side that is not there."""

    id: int
    commit_id: int
    kind: str
    old_path: int | None
    new_path: int | None
    content: int
    old_oid: str | None
    new_oid: str | None
    content_class: str
    hunk_numbers: list[int] | None  # None: all
    lines: int  # added and removed
    change: int  # the logical change it belongs to

    @property
    def path(self) -> int:
        """Where it is after the step, or was before it was removed."""
        found = self.new_path if self.new_path is not None else self.old_path
        assert found is not None
        return found


def does_own(owned: Sequence[int] | None, touching: Sequence[int]) -> bool:
    """Whether a row that owns some hunks (None: all) did what these hunks did.

    A merge's row shows what its parents brought as well. What no stored hunk touches is its own.
    """
    return owned is None or not touching or not set(owned).isdisjoint(touching)


def select_steps(
    scope_id: int, where: str, *values: int | list[int], is_telling: bool = True
) -> list[Step]:
    """Owned file changes that `where` (on f and c) keeps, in topological order."""
    only = _TELLING if is_telling else ""
    with connection.cursor() as cursor:
        cursor.execute(f"{OWNED} {only} AND {where} ORDER BY f.id", [scope_id, *values])
        return [Step(*row) for row in cursor.fetchall()]


class PathSteps:
    """The steps of paths, read when first asked for and kept while there is room."""

    def __init__(self, scope_id: int, *, is_telling: bool = True) -> None:
        self._scope_id = scope_id
        self._is_telling = is_telling
        self._of: OrderedDict[int, list[Step]] = OrderedDict()
        self._size = 0

    def load(self, paths: Collection[int]) -> None:
        """Read the steps of several paths in one statement."""
        missing = [path for path in paths if path not in self._of]
        if not missing:
            return
        self._of.update({path: [] for path in missing})
        where = "(f.new_path_id = ANY(%s) OR f.new_path_id IS NULL AND f.old_path_id = ANY(%s))"
        found = select_steps(self._scope_id, where, missing, missing, is_telling=self._is_telling)
        for step in found:
            self._of[step.path].append(step)
            self._size += 1
        while self._size > ROWS_KEPT and len(self._of) > len(missing):
            _, dropped = self._of.popitem(last=False)
            self._size -= len(dropped)

    def before(self, path: int, row_id: int) -> list[Step]:
        """The steps of a path before a row, the last one first."""
        if path not in self._of:
            self.load([path])
        self._of.move_to_end(path)
        steps = self._of[path]
        return steps[: bisect_left(steps, row_id, key=lambda step: step.id)][::-1]

    def names_before(self, path: int, row_id: int) -> set[int]:
        """The path and what it was called before, as far as renames tell."""
        found, waiting = {path}, [(path, row_id)]
        while waiting and len(found) <= NAMES_FOLLOWED:
            name, before = waiting.pop()
            for step in self.before(name, before):
                if step.kind == "R" and step.old_path is not None and step.old_path not in found:
                    found.add(step.old_path)
                    waiting.append((step.old_path, step.id))
        return found
