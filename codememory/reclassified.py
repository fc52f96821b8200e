"""Brings stored file changes up to date when another policy gives their paths another class.

A run under a new generation lists all commits again: of those whose rows have another class now,
all rows are brought up to date, and what no row shows any more is forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from codememory.models import EntryKind, FileChange, GitCommit, LogicalChange, Observation
from codememory.search.entries import remove_entries
from collectors.history import HistoryPage, classify_paths
from collectors.policy import Policy

_KEY = ("scope", "commit", "parent_index", "old_path", "new_path")


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


def rewrite_file_changes(rows: Iterable[Mapping[str, Any]]) -> None:
    """Bring stored rows up to date, given by field: what is new in them, beside their key."""
    for row in rows:
        key = {name: row[name] for name in _KEY}
        news = {name: value for name, value in row.items() if name not in key}
        if (numbers := news["hunk_numbers"]) is not None:  # the text form of an array
            news["hunk_numbers"] = [int(n) for n in numbers.strip("{}").split(",") if n]
        FileChange.objects.filter(**key).update(**news)


def forget_unshown(scope_id: int, change_ids: Collection[int]) -> None:
    """Delete those logical changes that no file change shows any more, and their index entries."""
    if not change_ids:
        return
    rows = FileChange.objects.filter(scope_id=scope_id, logical_change_id__in=change_ids)
    gone = set(change_ids) - set(rows.values_list("logical_change_id", flat=True))
    remove_entries(scope_id, EntryKind.CHANGE, gone)
    Observation.objects.filter(scope_id=scope_id, logical_change_id__in=gone).delete()
    LogicalChange.objects.filter(scope_id=scope_id, pk__in=gone).delete()
