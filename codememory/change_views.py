"""Logical changes as one of their commits shows them: which files of it say most of a question.

A change may have thousands of files. All are looked at as plain values; rows are made of the best.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import ContentChange, FileChange, GitCommit, Path, SourceKind
from codememory.plain_rows import rows_where
from codememory.serving import is_archived, serves_path
from codememory.worth import Worth
from collectors.values import PathClass

FILES_READ = 25  # of a change, whose hunks are compared with the question

_FILES = """
    SELECT file.logical_change_id, file.commit_id, file.parent_index, file.id, file.path_class,
        old.raw, new.raw
    FROM codememory_filechange AS file
    LEFT JOIN codememory_path AS old ON old.id = file.old_path_id
    LEFT JOIN codememory_path AS new ON new.id = file.new_path_id
    WHERE file.scope_id = %s AND file.logical_change_id = ANY(%s)
    ORDER BY file.commit_id, file.parent_index, file.id
"""


@dataclass(frozen=True, slots=True)
class View:
    """The best served files of a change in one commit, and all commits that show the change."""

    rows: list[FileChange]
    commits: list[str]


class _File(NamedTuple):
    commit_id: int
    parent_index: int
    id: int
    path_class: str
    old_path: bytes | None
    new_path: bytes | None

    @property
    def path(self) -> bytes:
        return self.new_path or self.old_path or b""


def views_of(
    checkout: Checkout, change_ids: Collection[int], worth: Worth, only_paths: Collection[bytes]
) -> dict[int, View]:
    """Show each change by its earliest reachable non-merge commit.

    Files under `only_paths` (if any) are preferred. What is no longer served is left out, and so
    are changes of nothing but files that are never read.
    """
    if is_archived(checkout, SourceKind.GIT):
        return {}
    of_change = _files_of(checkout.scope_id, change_ids)
    commits = {
        row.pk: row
        for row in rows_where(
            GitCommit,
            "scope_id = %s AND id = ANY(%s)",
            checkout.scope_id,
            list({file.commit_id for files in of_change.values() for file in files}),
            only=("id", "scope_id", "oid", "parent_oids", "algorithm"),
        )
    }
    best = {
        pk: _best(checkout, _shown(checkout, files, commits), worth, only_paths)
        for pk, files in of_change.items()
    }
    rows = _rows(checkout.scope_id, [file for files in best.values() for file in files], commits)
    return {
        pk: View(
            rows=[rows[file.id] for file in files],
            commits=list(dict.fromkeys(commits[file.commit_id].oid for file in of_change[pk])),
        )
        for pk, files in best.items()
        if files
    }


def is_asked(path: bytes, asked: Collection[bytes]) -> bool:
    """Whether a path is one of those asked for, or lies below one."""
    return any(path == one or path.startswith(one.rstrip(b"/") + b"/") for one in asked)


def _files_of(scope_id: int, change_ids: Collection[int]) -> dict[int, list[_File]]:
    with connection.cursor() as cursor:
        cursor.execute(_FILES, [scope_id, list(change_ids)])
        found = cursor.fetchall()
    of_change: dict[int, list[_File]] = {}
    for change_id, *columns, old, new in found:
        paths = (None if raw is None else bytes(raw) for raw in (old, new))
        of_change.setdefault(change_id, []).append(_File(*columns, *paths))
    return of_change


def _shown(
    checkout: Checkout, files: Sequence[_File], commits: Mapping[int, GitCommit]
) -> list[_File]:
    """The files as the one commit shows them that is reachable, no merge, and early."""
    first = min(
        files,
        key=lambda file: (
            not checkout.is_reachable(file.commit_id),
            len(commits[file.commit_id].parent_oids) > 1,
            file.commit_id,
        ),
    )
    shown = (first.commit_id, first.parent_index)
    return [file for file in files if (file.commit_id, file.parent_index) == shown]


def _best(
    checkout: Checkout, files: Iterable[_File], worth: Worth, only_paths: Collection[bytes]
) -> list[_File]:
    """The files that say most of what was asked; none where no file was ever read."""

    def rank(file: _File) -> tuple[bool, bool, float]:
        is_plain = file.path_class == PathClass.NORMAL
        said = worth.of(file.path.decode("utf-8", "replace"))
        return is_asked(file.path, only_paths), is_plain, said

    best: list[_File] = []
    is_any_read = False
    for file in sorted(files, key=rank, reverse=True):
        if len(best) == FILES_READ and is_any_read:
            break
        is_read = file.path_class not in UNREAD_CLASSES
        if is_read and not _is_served(checkout, file):
            continue
        is_any_read |= is_read
        if len(best) < FILES_READ:
            best.append(file)
    return best if is_any_read else []


def _is_served(checkout: Checkout, file: _File) -> bool:
    return all(serves_path(checkout, path) for path in (file.old_path, file.new_path) if path)


def _rows(
    scope_id: int, files: Sequence[_File], commits: Mapping[int, GitCommit]
) -> dict[int, FileChange]:
    """The rows with their commit, paths and content change."""
    rows = rows_where(FileChange, "scope_id = %s AND id = ANY(%s)", scope_id, [f.id for f in files])
    contents = {
        row.pk: row
        for row in rows_where(
            ContentChange,
            "scope_id = %s AND id = ANY(%s)",
            scope_id,
            list({row.content_change_id for row in rows if row.content_change_id is not None}),
        )
    }
    file_of = {file.id: file for file in files}
    for row in rows:
        file = file_of[row.pk]
        row.commit = commits[row.commit_id]
        if row.content_change_id is not None:
            row.content_change = contents[row.content_change_id]
        if file.old_path is not None:
            row.old_path = Path(pk=row.old_path_id, scope_id=scope_id, raw=file.old_path)
        if file.new_path is not None:
            row.new_path = Path(pk=row.new_path_id, scope_id=scope_id, raw=file.new_path)
    return {row.pk: row for row in rows}
