"""Groups rows of Git's raw difference into logical changes: what a commit itself did, once.

A commit with one parent owns its whole difference. A merge owns only content that is in none of
its parents; where one of its comparisons equals a known logical change, it is a view of that.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from types import MappingProxyType

from collectors.values import ContentChange, Hunk, RawChange

Pair = tuple[str | None, str | None]
ContentOf = Callable[[Pair], ContentChange | None]


@dataclass(slots=True)
class Comparison:
    """A commit against one parent, with the rows that belong to its logical change."""

    commit_oid: str
    parent_index: int
    rows: list[RawChange]
    identity: bytes | None = None
    # Row position -> numbers (from 1) of the hunks that belong; a missing position: the whole row
    # is not owned, None: all hunks are.
    owned: dict[int, tuple[int, ...] | None] = field(default_factory=dict)


def pair_of(row: RawChange) -> Pair:
    return row.old_oid, row.new_oid


def group_comparisons(changes: Iterable[RawChange]) -> list[Comparison]:
    """Group raw rows by commit and parent, in the order given."""
    grouped: dict[tuple[str, int], list[RawChange]] = defaultdict(list)
    for row in changes:
        grouped[row.commit_oid, row.parent_index].append(row)
    return [Comparison(commit, parent, rows) for (commit, parent), rows in grouped.items()]


def identity_of(
    rows: Iterable[RawChange],
    content_of: ContentOf,
    owned: Iterable[tuple[int, ...] | None] = (),
) -> bytes:
    """SHA-256 over the sorted rows: kind, modes, paths and patch, each with its length.

    Like `git patch-id` it ignores line numbers and the context around hunks, so that a cherry-pick
    is the change it was picked from; unlike it, it does not ignore white space. `owned` names, for
    each row, the hunks that count (all where it is None or missing).
    """
    digest = hashlib.sha256()
    parts = sorted(
        (
            row.kind.encode(),
            b"%o %o" % (row.old_mode, row.new_mode),
            row.old_path or b"",
            row.new_path or b"",
            *_patch(row, content_of(pair_of(row)), numbers),
        )
        for row, numbers in zip_longest(rows, owned)
    )
    for part in parts:
        for value in part:
            digest.update(b"%d:" % len(value) + value)
    return digest.digest()


def _patch(
    row: RawChange, content: ContentChange | None, numbers: tuple[int, ...] | None
) -> tuple[bytes, bytes]:
    """What a row removes and adds, as digests; its blobs where no (or not every) hunk is known."""
    if content is None or not content.hunks or content.hunks_cut:
        return (row.old_oid or "").encode(), (row.new_oid or "").encode()
    hunks: Sequence[Hunk] = content.hunks
    if numbers is not None:
        hunks = [hunks[number - 1] for number in numbers]
    return b"".join(h.old_sha256 for h in hunks), b"".join(h.new_sha256 for h in hunks)


def _new_lines(hunks: Iterable[Hunk]) -> set[int]:
    return {line for hunk in hunks for line in range(hunk.new_line, hunk.new_line + hunk.new_lines)}


def own_merged_rows(comparisons: Sequence[Comparison], content_of: ContentOf) -> None:
    """Mark, on a merge's first comparison, what is in none of its parents (if anything)."""
    first, others = comparisons[0], comparisons[1:]
    by_path = [{row.new_path or row.old_path: row for row in other.rows} for other in others]
    for position, row in enumerate(first.rows):
        path = row.new_path or row.old_path
        views = [rows[path] for rows in by_path if path in rows]
        is_gone = row.kind == "D"
        if len(views) < len(others) or any((view.kind == "D") != is_gone for view in views):
            continue
        numbers = None if is_gone else _own_hunks(row, views, content_of)
        if numbers is None or numbers:
            first.owned[position] = numbers
    if first.owned:
        rows = [first.rows[position] for position in first.owned]
        first.identity = identity_of(rows, content_of, first.owned.values())


def _own_hunks(
    row: RawChange, views: Sequence[RawChange], content_of: ContentOf
) -> tuple[int, ...] | None:
    """Numbers of the row's hunks whose new lines differ from every parent; None: the whole row."""
    mine = content_of(pair_of(row))
    theirs = [content_of(pair_of(view)) for view in views]
    if mine is None or not mine.hunks or any(other is None for other in theirs):
        return None
    lines = _new_lines(mine.hunks)
    for other in theirs:
        lines &= _new_lines(other.hunks if other else ())
    return tuple(
        number
        for number, hunk in enumerate(mine.hunks, 1)
        if not lines.isdisjoint(range(hunk.new_line, hunk.new_line + hunk.new_lines))
    )


def assign_identities(
    comparisons: Sequence[Comparison],
    content_of: ContentOf,
    known: Callable[[set[bytes]], set[bytes]],
    parents: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Give every comparison its identity and owned rows.

    `known` tells which identities are logical changes already; those of this page count too.
    `parents` tells how many parents a commit has: a merge that equals one of them shows no rows
    against it, so its comparisons alone do not say that it is a merge.
    """
    by_commit: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        by_commit[comparison.commit_oid].append(comparison)
    merges = {
        oid
        for oid, group in by_commit.items()
        if parents.get(oid, 0) > 1 or len(group) > 1 or group[0].parent_index > 0
    }
    merged = [c for c in comparisons if c.commit_oid in merges]
    views = {id(c): identity_of(c.rows, content_of) for c in merged}
    existing = known(set(views.values()))
    for oid, group in by_commit.items():
        if oid not in merges:
            _own_all(group[0], identity_of(group[0].rows, content_of))
            existing.add(group[0].identity or b"")
            continue
        seen = [c for c in group if views[id(c)] in existing]
        for comparison in seen:
            _own_all(comparison, views[id(comparison)])
        # Against a parent that it equals it has no rows: nothing is in none of its parents.
        if not seen and len(group) >= parents.get(oid, len(group)):
            own_merged_rows(group, content_of)


def _own_all(comparison: Comparison, identity: bytes) -> None:
    comparison.identity = identity
    comparison.owned = dict.fromkeys(range(len(comparison.rows)))
