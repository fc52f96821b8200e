"""The newest changes of a project, each called by what it touched."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from codememory.checkout import Checkout
from codememory.models import FileChange, GitCommit, LogicalChange, SymbolChange
from codememory.serving import served_rows
from review.explorer.titles import Title, title_of

ROWS = 1_500  # of file changes that are looked at for a page
SYMBOLS = 3_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A change as one commit shows it."""

    change: LogicalChange
    commit: GitCommit
    title: Title


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of changes, the newest first; `next` is the commit row after which the next begins."""

    entries: list[Entry]
    next: str | None


def newest_changes(checkout: Checkout, *, limit: int, before: int | None) -> Timeline:
    """Return the changes of the newest commits before a row; each change once."""
    owned = FileChange.objects.filter(scope_id=checkout.scope_id, logical_change__isnull=False)
    rows = owned if before is None else owned.filter(commit_id__lt=before)
    pairs = rows.order_by("-commit_id", "-logical_change_id").values_list(
        "commit_id", "logical_change_id"
    )
    page = list(pairs.distinct()[: limit + 1])
    shown = page[:limit]
    found = _rows(checkout, shown)
    symbols = _symbols(checkout, found)
    changes = LogicalChange.objects.in_bulk([change for _, change in shown])
    commits = GitCommit.objects.in_bulk([commit for commit, _ in shown])
    entries: dict[int, Entry] = {}
    for commit, change in shown:
        mine = served_rows(checkout, found[commit, change])
        if not mine or change in entries:
            continue
        touched = [one for row in mine for one in symbols[row.content_change_id or 0]]
        title = title_of(mine, touched, changes[change].files)
        entries[change] = Entry(changes[change], commits[commit], title)
    is_more = len(page) > limit
    return Timeline(list(entries.values()), str(shown[-1][0]) if is_more else None)


def _rows(
    checkout: Checkout, pairs: list[tuple[int, int]]
) -> dict[tuple[int, int], list[FileChange]]:
    rows = (
        FileChange.objects.filter(
            scope_id=checkout.scope_id,
            commit_id__in=[commit for commit, _ in pairs],
            logical_change_id__in=[change for _, change in pairs],
        )
        .select_related("old_path", "new_path")
        .order_by("-commit_id", "pk")
    )
    found: dict[tuple[int, int], list[FileChange]] = defaultdict(list)
    for row in rows[:ROWS]:
        found[row.commit_id, row.logical_change_id or 0].append(row)
    return found


def _symbols(
    checkout: Checkout, found: dict[tuple[int, int], list[FileChange]]
) -> dict[int, list[SymbolChange]]:
    contents = {row.content_change_id for rows in found.values() for row in rows}
    rows = SymbolChange.objects.filter(
        scope_id=checkout.scope_id, content_change_id__in=contents - {None}
    )
    by_content: dict[int, list[SymbolChange]] = defaultdict(list)
    for one in rows.select_related("name").order_by("content_change_id", "position")[:SYMBOLS]:
        by_content[one.content_change_id].append(one)
    return by_content
