"""Reads what content changes did to symbols, from the rows of the changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import connection

from codememory.hunk_keys import stored_keys
from codememory.models import ContentChange
from codememory.symbol_lanes import StartedLanes, SymbolLanes
from codememory.symbol_reader import Reading, Sides
from collectors.symbol_values import Coverage, TableDifference
from collectors.symbol_values import SymbolChange as Change
from collectors.values import ContentClass, Gap, PathClass

BATCH = 300
MOST_OF_A_COMMIT = 2_000  # content changes that one batch takes to hold a commit whole
COMPARED = (ContentClass.TEXT, ContentClass.FORMATTING_ONLY, ContentClass.LINE_ENDINGS_ONLY)
# Each content change with the first file change that shows it, of a path that is read if there is
# such a one. The first, so that it is the same one before and after more of history is read.
_CHANGES = """
    SELECT c.id, c.old_oid, c.new_oid, view.commit_id, view.commit_oid, view.is_owned,
           view.old_path_id, view.new_path_id, view.old_path, view.new_path, view.path_class
    FROM codememory_contentchange c
    CROSS JOIN LATERAL (
        SELECT f.commit_id, g.oid AS commit_oid, f.logical_change_id IS NOT NULL AS is_owned,
               f.old_path_id, f.new_path_id, o.raw AS old_path, n.raw AS new_path, f.path_class
        FROM codememory_filechange f
        JOIN codememory_gitcommit g ON g.id = f.commit_id
        LEFT JOIN codememory_path o ON o.id = f.old_path_id
        LEFT JOIN codememory_path n ON n.id = f.new_path_id
        WHERE f.scope_id = c.scope_id AND f.content_change_id = c.id
        ORDER BY f.path_class <> 'NORMAL', f.id LIMIT 1
    ) view
    WHERE c.scope_id = %s AND {which} AND c.content_class = ANY(%s)
      AND (cardinality(c.hunk_ranges) > 0 OR c.hunks_cut > 0)
    ORDER BY c.id LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class ChangedContent:
    """A content change with the file change that shows it."""

    row_id: int
    old_oid: str | None
    new_oid: str | None
    commit_id: int
    commit_oid: str
    is_owned: bool
    old_path_id: int | None
    new_path_id: int | None
    old_path: bytes | None
    new_path: bytes | None
    path_class: str


@dataclass(slots=True)
class ReadContent:
    """What was found out of a content change. `touched`: the hunks of each change, from 1."""

    content: ChangedContent
    language: str | None
    coverage: Coverage
    reason: str | None
    difference: TableDifference
    hunk_keys: list[int]
    changes: tuple[Change, ...] = ()
    touched: tuple[tuple[int, ...], ...] = ()
    gaps: list[Gap] = field(default_factory=list)


@dataclass(slots=True)
class StartedContents:
    """Content changes that are being read; those of paths that are not read are left out."""

    contents: Sequence[ChangedContent]
    hunks: dict[int, tuple[list[int], bytes]]  # ranges and digests by content change
    started: StartedLanes


def next_contents(scope_id: int, after_id: int) -> list[ChangedContent]:
    """Content changes in order of their rows; those of a commit are not parted if possible."""
    most = BATCH
    while True:
        found = _select(scope_id, "c.id > %s", after_id, most + 1)
        if len(found) <= most:
            return found
        last = found[-1].commit_id
        whole = [one for one in found if one.commit_id != last] or found
        if whole is not found or most >= MOST_OF_A_COMMIT:
            # Only what precedes the commit that is cut, so that the position has no holes.
            first = next((n for n, one in enumerate(found) if one.commit_id == last), 0)
            return found[:first] if first else found[:most]
        most *= 4


def left_behind(scope_id: int, after_id: int) -> list[ChangedContent]:
    """Content changes at or before a position that have no facts.

    They can be read only now, or nothing showed them on a path that is read when they were passed.
    """
    which = (
        "c.id <= %s AND NOT EXISTS (SELECT 1 FROM codememory_codefacts k"
        " WHERE k.scope_id = c.scope_id AND k.content_change_id = c.id)"
    )
    return _select(scope_id, which, after_id, BATCH)


def _select(scope_id: int, which: str, after_id: int, most: int) -> list[ChangedContent]:
    classes = [one.value for one in COMPARED]
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES.format(which=which), [scope_id, after_id, classes, most])
        rows = cursor.fetchall()
    return [ChangedContent(*row) for row in rows]


def start_contents(
    scope_id: int, contents: Sequence[ChangedContent], reader: SymbolLanes
) -> StartedContents:
    """Have both sides of each parsed and compared."""
    rows = ContentChange.objects.filter(scope_id=scope_id, pk__in=[c.row_id for c in contents])
    hunks = {
        row_id: (ranges, bytes(digests))
        for row_id, ranges, digests in rows.values_list("pk", "hunk_ranges", "hunk_digests")
    }
    sides = [_sides(one, hunks[one.row_id][0]) for one in contents if is_read(one)]
    return StartedContents(contents, hunks, reader.start(sides))


def finish_contents(started: StartedContents, reader: SymbolLanes) -> list[ReadContent]:
    """What was found out of each; nothing is written."""
    readings = iter(reader.finish(started.started))
    return [
        _read(one, next(readings), *started.hunks[one.row_id])
        if is_read(one)
        else ReadContent(
            one, None, Coverage.TEXTUAL_ONLY, one.path_class, TableDifference.UNKNOWN, []
        )
        for one in started.contents
    ]


def is_read(one: ChangedContent) -> bool:
    """Whether it is shown on a path that is read."""
    return one.path_class == PathClass.NORMAL


def _sides(one: ChangedContent, ranges: list[int]) -> Sides:
    return Sides(_side(one.old_oid, one.old_path), _side(one.new_oid, one.new_path), ranges)


def _side(oid: str | None, path: bytes | None) -> tuple[str, bytes] | None:
    return None if oid is None or path is None else (oid, path)


def _read(one: ChangedContent, reading: Reading, ranges: list[int], digests: bytes) -> ReadContent:
    found = reading.found
    return ReadContent(
        content=one,
        language=reading.language,
        coverage=found.coverage,
        reason=found.reason.value if found.reason else None,
        difference=found.difference,
        hunk_keys=stored_keys(ranges, digests),
        changes=found.changes,
        touched=found.touched,
        gaps=[
            Gap(gap.reason, path, gap.oid, one.commit_oid, gap.detail) for gap, path in reading.gaps
        ],
    )
