"""What a change takes back and what took it back, and the changes before and after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from codememory.checkout import Checkout
from codememory.models import FileChange, GitCommit, LogicalChange, Reversal
from codememory.serving import serves_change
from review.explorer.titles import path_of

REVERSALS = 500  # that are looked at
ENDS = 20  # other changes that are named
NEIGHBOURS = 3


@dataclass(slots=True)
class End:
    """Another change, and how much of one of the two is undone."""

    number: int
    commit: GitCommit
    is_whole: bool = False
    share: int = 0  # percent of the earlier commit's own lines
    symbols: dict[str, None] = field(default_factory=dict)

    @property
    def part(self) -> float:
        return self.share / 100


@dataclass(frozen=True, slots=True)
class Ends:
    """Other changes by what they are to this one."""

    reverts: list[End]
    reverted_by: list[End]
    restored_by: list[End]

    @property
    def is_empty(self) -> bool:
        return not (self.reverts or self.reverted_by or self.restored_by)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A change of the same file before or after this one."""

    number: int
    row: FileChange


def ends_of(checkout: Checkout, number: int) -> Ends:
    """Return the other ends of this change's reversals, whichever commit shows it."""
    rows = Reversal.objects.filter(scope_id=checkout.scope_id)
    undoes = rows.filter(later__logical_change_id=number)
    undone = list(_with_ends(rows.filter(earlier__logical_change_id=number)))
    again = rows.filter(earlier_id__in=[one.later_id for one in undone])
    restored = [one for one in _with_ends(again) if one.later.logical_change_id != number]
    return Ends(
        _grouped((one, one.earlier) for one in _with_ends(undoes)),
        _grouped((one, one.later) for one in undone),
        _grouped((one, one.later) for one in restored),
    )


def _with_ends(rows: QuerySet[Reversal]) -> list[Reversal]:
    found = rows.select_related("symbol", "later__commit", "earlier__commit").order_by("pk")
    return list(found[:REVERSALS])


def _grouped(ends: Iterable[tuple[Reversal, FileChange]]) -> list[End]:
    found: dict[int, End] = {}
    for reversal, row in ends:
        if row.logical_change_id is None:
            continue
        end = found.setdefault(row.logical_change_id, End(row.logical_change_id, row.commit))
        end.is_whole |= reversal.is_whole
        end.share = max(end.share, reversal.share)
        if reversal.symbol is not None:
            end.symbols[reversal.symbol.qualified] = None
    return list(found.values())[:ENDS]


def neighbours_of(
    checkout: Checkout, rows: Sequence[FileChange], change: LogicalChange, *, is_later: bool
) -> list[Neighbour]:
    """The changes of the first file next to this one; the newest first."""
    path_id = next((row.new_path_id or row.old_path_id for row in rows), None)
    if path_id is None:
        return []
    at = rows[0].commit_id
    found = FileChange.objects.filter(
        scope_id=checkout.scope_id, new_path_id=path_id, logical_change__isnull=False
    ).exclude(logical_change=change)
    found = found.filter(commit_id__gt=at) if is_later else found.filter(commit_id__lt=at)
    ordered = found.order_by("commit_id" if is_later else "-commit_id")
    near = list(ordered.select_related("commit", "old_path", "new_path")[: NEIGHBOURS * 3])
    by_change = {r.logical_change_id or 0: r for r in reversed(near) if serves_change(checkout, r)}
    named = [Neighbour(number, row) for number, row in by_change.items() if path_of(row)]
    named.sort(key=lambda one: -one.row.commit_id)
    return named[-NEIGHBOURS:] if is_later else named[:NEIGHBOURS]
