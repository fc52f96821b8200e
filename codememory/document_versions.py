"""Finds the changes of documents among the stored file changes, and reads their versions."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import connection

from codememory.models import Path
from collectors.document_reader import DocumentReader
from collectors.documents import is_document
from collectors.ignoring import Eligibility
from collectors.objects import ObjectReader
from collectors.policy import Policy
from collectors.sections import OwnSection
from collectors.values import Document, Gap, GapReason

BATCH_ROWS = 200
BATCH_BYTES = 8 << 20
CACHE_BYTES = 16 << 20
COMMIT_SECONDS = 120.0  # of reading the versions of one commit
REGULAR_FILE, FILE_TYPE = 0o100000, 0o170000

_OF_DOCUMENTS = """
    FROM codememory_filechange row
    JOIN codememory_gitcommit commit ON commit.id = row.commit_id
    JOIN codememory_contentchange content ON content.id = row.content_change_id
    WHERE row.scope_id = %(scope)s AND row.id > %(after)s
      AND (row.new_path_id = ANY(%(paths)s) OR row.old_path_id = ANY(%(paths)s))
"""
_NEXT = f"""
    SELECT row.id, row.commit_id, commit.oid, cardinality(commit.parent_oids), row.parent_index,
           row.old_path_id, row.new_path_id, row.old_mode, row.new_mode,
           content.old_oid, content.new_oid
    {_OF_DOCUMENTS} ORDER BY row.id LIMIT {BATCH_ROWS}
"""
# What merges show at some paths, against each of their parents.
_MERGED = """
    SELECT row.commit_id, COALESCE(row.new_path_id, row.old_path_id), row.old_path_id, row.old_mode,
           content.old_oid
    FROM codememory_filechange row
    JOIN codememory_contentchange content ON content.id = row.content_change_id
    WHERE row.scope_id = %s AND row.commit_id = ANY(%s)
      AND COALESCE(row.new_path_id, row.old_path_id) = ANY(%s)
    ORDER BY row.parent_index
"""


class Side(NamedTuple):
    """A version of a document: the path's row and the blob."""

    path_id: int
    oid: str


class _Row(NamedTuple):
    id: int
    commit_id: int
    commit_oid: str
    parents: int
    parent_index: int
    old_path_id: int | None
    new_path_id: int | None
    old_mode: int
    new_mode: int
    old_oid: str | None
    new_oid: str | None

    @property
    def path_id(self) -> int | None:
        return self.new_path_id if self.new_path_id is not None else self.old_path_id


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A file change of a document. `olds` has a side for each parent, None where it had no such
    document; without any the commit did nothing here itself, and only `new` is of interest.
    """

    row_id: int
    commit_id: int
    commit_oid: str
    olds: tuple[Side | None, ...]
    new: Side | None


@dataclass(frozen=True, slots=True)
class Version:
    """A version that was read; without `sections` where they cannot be compared."""

    document: Document
    sections: Sequence[OwnSection] | None
    text: str


@dataclass(slots=True)
class Versions:
    """Reads versions by blob; the newest stay, since one commit's after is the next's before."""

    reader: ObjectReader
    documents: DocumentReader
    policy: Policy
    paths: dict[int, bytes]
    _kept: OrderedDict[str, Version] = field(default_factory=OrderedDict)
    seconds: float = 0.0  # spent on reading; the caller sets it back for each commit
    _bytes: int = 0

    def read(self, side: Side) -> Version | Gap:
        found = self._kept.get(side.oid)
        if found is not None:
            self._kept.move_to_end(side.oid)
            return found
        path = self.paths[side.path_id]
        if self.seconds > COMMIT_SECONDS:
            return Gap(GapReason.BUDGET, path, side.oid, detail=f"after {COMMIT_SECONDS:g} s")
        content = self.reader.read(side.oid, "blob", self.policy.max_document_bytes)
        if isinstance(content, Gap):
            return Gap(content.reason, path, side.oid, detail=content.detail)
        started = time.monotonic()
        reading = self.documents.with_sections(path, side.oid, content)
        self.seconds += time.monotonic() - started
        version = Version(reading.document, reading.sections, reading.text)
        self._kept[side.oid] = version
        self._bytes += version.document.size
        while self._bytes > CACHE_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.document.size
        return version


def document_paths(scope_id: int, eligibility: Eligibility) -> dict[int, bytes]:
    """Every path of the project, of any time, that names a document which may be read."""
    rows = Path.objects.filter(scope_id=scope_id).values_list("pk", "raw")
    found = ((pk, bytes(raw)) for pk, raw in rows.iterator())
    return {pk: raw for pk, raw in found if is_document(raw) and eligibility.left_out(raw) is None}


def count_changes(scope_id: int, paths: Collection[int], after: int) -> int:
    """How many stored changes of these documents come after this one."""
    with connection.cursor() as cursor:
        asked: dict[str, Any] = {"scope": scope_id, "after": after, "paths": list(paths)}
        cursor.execute(f"SELECT count(*) {_OF_DOCUMENTS}", asked)
        return int(cursor.fetchone()[0])


def next_changes(
    scope_id: int, paths: Collection[int], after: int, reader: ObjectReader
) -> list[DocumentChange]:
    """The changes that follow, whole commits as far as one batch can hold them."""
    with connection.cursor() as cursor:
        cursor.execute(_NEXT, {"scope": scope_id, "after": after, "paths": list(paths)})
        found = [_Row(*row) for row in cursor.fetchall()]
    rows = _within_bytes(found, reader)
    if len(rows) < len(found) or len(found) == BATCH_ROWS:
        # The last commit may go on after this: it comes whole next time if another came before it.
        rows = [row for row in rows if row.commit_id != rows[-1].commit_id] or rows
    reader.prefetch(oid for row in rows for oid in (row.old_oid, row.new_oid) if oid)
    return _as_changes(scope_id, rows, paths)


def _within_bytes(rows: list[_Row], reader: ObjectReader) -> list[_Row]:
    sizes = reader.sizes(oid for row in rows for oid in (row.old_oid, row.new_oid) if oid)
    total = 0
    for position, row in enumerate(rows):
        total += sum(sizes[oid] or 0 for oid in (row.old_oid, row.new_oid) if oid)
        if total > BATCH_BYTES and position:
            return rows[:position]
    return rows


def _as_changes(
    scope_id: int, rows: Sequence[_Row], paths: Collection[int]
) -> list[DocumentChange]:
    merged = _merged(scope_id, [row for row in rows if row.parents > 1], paths)
    changes = []
    for row in rows:
        olds: tuple[Side | None, ...] = ()
        if row.parents <= 1:
            olds = (_side(row.old_path_id, row.old_mode, row.old_oid, paths),)
        elif row.parent_index == 0:
            # What some parent has too is no work of the merge.
            sides = merged[row.commit_id, row.path_id]
            olds = tuple(sides) if len(sides) == row.parents else ()
        new = _side(row.new_path_id, row.new_mode, row.new_oid, paths)
        changes.append(DocumentChange(row.id, row.commit_id, row.commit_oid, olds, new))
    return changes


def _merged(
    scope_id: int, rows: Sequence[_Row], paths: Collection[int]
) -> dict[tuple[int, int | None], list[Side | None]]:
    found: dict[tuple[int, int | None], list[Side | None]] = defaultdict(list)
    if rows:
        commits = list({row.commit_id for row in rows})
        with connection.cursor() as cursor:
            cursor.execute(_MERGED, [scope_id, commits, list({row.path_id for row in rows})])
            for commit_id, path_id, old_path_id, mode, oid in cursor.fetchall():
                found[commit_id, path_id].append(_side(old_path_id, mode, oid, paths))
    return found


def _side(path_id: int | None, mode: int, oid: str | None, paths: Collection[int]) -> Side | None:
    if path_id is None or oid is None or path_id not in paths:
        return None
    return Side(path_id, oid) if mode & FILE_TYPE == REGULAR_FILE else None
