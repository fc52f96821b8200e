"""Reads what content changes did to symbols: tables of both blobs, compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from codememory.hunk_keys import keys_of
from codememory.models import ContentChange
from codememory.symbol_tables import SymbolTables
from collectors.symbol_changes import compare, difference
from collectors.symbol_languages import language_of
from collectors.symbol_values import Coverage, SymbolTable, TableDifference
from collectors.symbol_values import SymbolChange as Change
from collectors.symbols import symbols_touched
from collectors.values import ContentClass, Gap, Hunk, PathClass

BATCH = 150
MOST_OF_A_COMMIT = 2_000  # content changes that one batch takes to hold a commit whole
COMPARED = (ContentClass.TEXT, ContentClass.FORMATTING_ONLY, ContentClass.LINE_ENDINGS_ONLY)
# Each content change with the file change that shows it best: of a path that is read and as the
# commit's own doing, if there is such a one; the earliest of those.
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
        ORDER BY f.path_class <> 'NORMAL', f.logical_change_id IS NULL, f.id LIMIT 1
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
    """What was found out of a content change."""

    content: ChangedContent
    language: str | None
    coverage: Coverage
    reason: str | None
    difference: TableDifference
    hunk_keys: list[int]
    changes: tuple[Change, ...] = ()
    hunks_of: dict[int, list[int]] = field(default_factory=dict)  # by id() of a symbol
    gaps: list[Gap] = field(default_factory=list)


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
    """Content changes at or before a position that have no facts: they can be read only now."""
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


def read_contents(
    scope_id: int, contents: Sequence[ChangedContent], tables: SymbolTables
) -> list[ReadContent]:
    """Parse and compare both sides of each; nothing is written."""
    rows = ContentChange.objects.filter(scope_id=scope_id).in_bulk([c.row_id for c in contents])
    tables.prefetch(side for one in contents for side in _sides(one))
    return [_read(one, rows[one.row_id].hunks(), tables) for one in contents]


def _sides(one: ChangedContent) -> Iterable[tuple[str, Any]]:
    if one.path_class != PathClass.NORMAL:
        return
    for oid, path in ((one.old_oid, one.old_path), (one.new_oid, one.new_path)):
        language = language_of(path) if path is not None else None
        if oid is not None and language is not None:
            yield oid, language


def _read(one: ChangedContent, hunks: Sequence[Hunk], tables: SymbolTables) -> ReadContent:
    if one.path_class != PathClass.NORMAL:
        return ReadContent(
            one, None, Coverage.TEXTUAL_ONLY, one.path_class, TableDifference.UNKNOWN, []
        )
    gaps: list[Gap] = []
    before = _table(one.old_oid, one.old_path, one, tables, gaps)
    after = _table(one.new_oid, one.new_path, one, tables, gaps)
    there = [table for table in (before, after) if table is not None]
    coverage = max((table.coverage for table in there), key=_COVERAGES.index)
    found = ReadContent(
        content=one,
        language=there[-1].language,
        coverage=coverage,
        reason=next((table.reason.value for table in there if table.reason), None),
        difference=TableDifference.CODE
        if before is None or after is None
        else difference(before, after),
        hunk_keys=keys_of(hunks),
        changes=compare(before, after),
        gaps=gaps,
    )
    if found.changes:
        _attach_hunks(found, hunks, before, after)
    return found


_COVERAGES = [Coverage.FULL, Coverage.PARTIAL, Coverage.TEXTUAL_ONLY]


def _table(
    oid: str | None,
    path: bytes | None,
    one: ChangedContent,
    tables: SymbolTables,
    gaps: list[Gap],
) -> SymbolTable | None:
    if oid is None or path is None:
        return None
    table, gap = tables.table(oid, language_of(path))
    if gap is not None:
        gaps.append(Gap(gap.reason, path, oid, one.commit_oid, gap.detail))
    return table


def _attach_hunks(
    found: ReadContent,
    hunks: Sequence[Hunk],
    before: SymbolTable | None,
    after: SymbolTable | None,
) -> None:
    """Note which hunks touch which symbols innermost, on either side."""
    for number, hunk in enumerate(hunks, 1):
        ranges = (
            (before, hunk.old_line, hunk.old_lines),
            (after, hunk.new_line, hunk.new_lines),
        )
        for table, line, lines in ranges:
            if table is None:
                continue
            for index in symbols_touched(table, line, line + lines - 1):
                numbers = found.hunks_of.setdefault(id(table.symbols[index]), [])
                if not numbers or numbers[-1] != number:
                    numbers.append(number)
