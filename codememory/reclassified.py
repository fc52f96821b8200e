"""Brings stored file changes up to date when another policy gives their paths another class.

A run under a new generation lists all commits again: of those whose rows have another class now,
all rows are brought up to date, and what no row shows any more is forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import connection

from codememory.models import EntryKind, FileChange, GitCommit, LogicalChange, Observation
from codememory.search.entries import remove_entries
from collectors.history import HistoryPage, classify_paths
from collectors.policy import Policy

_FIELDS = (
    "commit", "parent_index", "old_path", "new_path", "path_class", "content_change",
    "unread_old_oid", "unread_new_oid", "logical_change", "hunk_numbers",
)  # fmt: skip
# One statement a page: row by row it took longer than reading the page.
_REWRITE = """
    UPDATE codememory_filechange AS row
    SET path_class = u.path_class, content_change_id = u.content_id,
        unread_old_oid = u.old_oid, unread_new_oid = u.new_oid,
        logical_change_id = u.change_id, hunk_numbers = u.numbers::int[]
    FROM unnest(%s::bigint[], %s::int[], %s::bigint[], %s::bigint[], %s::text[], %s::bigint[],
                %s::text[], %s::text[], %s::bigint[], %s::text[])
        AS u (commit_id, parent_index, old_path_id, new_path_id, path_class, content_id,
              old_oid, new_oid, change_id, numbers)
    WHERE row.scope_id = %s AND row.commit_id = u.commit_id AND row.parent_index = u.parent_index
      AND row.old_path_id IS NOT DISTINCT FROM u.old_path_id
      AND row.new_path_id IS NOT DISTINCT FROM u.new_path_id
"""


def reclassified_commits(scope_id: int, page: HistoryPage, policy: Policy) -> set[int]:
    """Return the stored commits of a page with a row that the policy gives another class."""
    oids = [commit.oid for commit in page.commits]
    commits = GitCommit.objects.filter(scope_id=scope_id, oid__in=oids).values_list("pk", flat=True)
    rows = FileChange.objects.filter(scope_id=scope_id, commit_id__in=list(commits))
    found = set()
    for commit_id, old, new, path_class in rows.values_list(
        "commit_id", "old_path__raw", "new_path__raw", "path_class"
    ):
        if classify_paths(_bytes(old), _bytes(new), policy) != path_class:
            found.add(commit_id)
    return found


def _bytes(raw: bytes | memoryview | None) -> bytes | None:
    return None if raw is None else bytes(raw)


def shown_changes(scope_id: int, commit_ids: Collection[int]) -> set[int]:
    """Return the logical changes that commits show: see `forget_unshown`."""
    rows = FileChange.objects.filter(scope_id=scope_id, commit_id__in=commit_ids)
    found = rows.exclude(logical_change=None).values_list("logical_change_id", flat=True)
    return {pk for pk in found if pk is not None}


def rewrite_file_changes(scope_id: int, rows: Iterable[Mapping[str, Any]]) -> None:
    """Bring stored rows up to date, given by field; arrays of numbers in their text form."""
    rows = list(rows)
    if not rows:
        return
    columns = [[row[name] for row in rows] for name in _FIELDS]
    with connection.cursor() as cursor:
        cursor.execute(_REWRITE, [*columns, scope_id])


def forget_unshown(scope_id: int, change_ids: Collection[int]) -> None:
    """Delete those logical changes that no file change shows any more, and their index entries."""
    if not change_ids:
        return
    rows = FileChange.objects.filter(scope_id=scope_id, logical_change_id__in=change_ids)
    gone = set(change_ids) - set(rows.values_list("logical_change_id", flat=True))
    remove_entries(scope_id, EntryKind.CHANGE, gone)
    Observation.objects.filter(scope_id=scope_id, logical_change_id__in=gone).delete()
    LogicalChange.objects.filter(scope_id=scope_id, pk__in=gone).delete()
