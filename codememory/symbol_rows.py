"""Writes what was read of symbols as rows: names, facts of content changes, symbol changes, moves.

Everything happens inside the caller's fenced transaction.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from codememory.bulk import insert_rows, int_array
from codememory.models import CodeFacts, Run, SourceKind, SymbolChange, SymbolMove, SymbolName
from codememory.models.symbols import LEAF_CHARACTERS
from codememory.stored_gaps import store_gaps
from codememory.symbol_facts import ChangedContent, ReadContent
from collectors.symbol_moves import match_moved
from collectors.symbol_values import Symbol, SymbolChangeKind
from collectors.symbol_values import SymbolChange as Change
from collectors.symbols import EXTRACTOR_REVISION, body_key

NAMES_KEPT = 200_000


class SymbolNames:
    """Row ids of qualified names, remembered while there is room."""

    def __init__(self, scope_id: int) -> None:
        self._scope_id = scope_id
        self._ids: dict[str, int] = {}

    def store(self, names: Collection[str]) -> dict[str, int]:
        if len(self._ids) > NAMES_KEPT:
            self._ids.clear()
        missing = {name_digest(name): name for name in names if name not in self._ids}
        if missing:
            self._find(missing)
            rows = [
                (self._scope_id, storable(name), storable(leaf_of(name)), digest)
                for digest, name in sorted(missing.items())
                if name not in self._ids
            ]
            insert_rows(SymbolName, ["scope", "qualified", "leaf", "digest"], rows)
            self._find({d: name for d, name in missing.items() if name not in self._ids})
        return self._ids

    def _find(self, missing: dict[bytes, str]) -> None:
        rows = SymbolName.objects.filter(scope_id=self._scope_id, digest__in=list(missing))
        for row_id, digest in rows.values_list("id", "digest"):
            self._ids[missing[bytes(digest)]] = row_id


def name_digest(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()


def leaf_of(name: str) -> str:
    return name.rpartition(".")[2][:LEAF_CHARACTERS]


def storable(text: str) -> str:
    """What a text column can hold of it."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def store_facts(run: Run, read: Sequence[ReadContent], names: SymbolNames) -> dict[str, int]:
    """Write a batch; returns how many rows of each kind are new."""
    scope_id, generation = run.scope_id, run.policy_generation
    insert_rows(
        CodeFacts,
        [
            "scope", "content_change", "language", "coverage", "reason", "difference", "hunk_keys",
            "policy_generation", "extractor_revision",
        ],
        [
            (
                scope_id, one.content.row_id, one.language, one.coverage.value, one.reason,
                one.difference.value, int_array(one.hunk_keys), generation, EXTRACTOR_REVISION,
            )
            for one in read
        ],
    )  # fmt: skip
    ids = _store_changes(scope_id, read, names)
    moves = _store_moves(scope_id, read, ids)
    gaps = [gap for one in read for gap in one.gaps]
    paths = {p: i for one in read for p, i in _paths(one.content) if p is not None and i}
    return {
        "contents": len(read),
        "symbol_changes": len(ids),
        "symbol_moves": moves,
        "new_gaps": store_gaps(scope_id, run.pk, SourceKind.GIT, gaps, paths),
    }


def _paths(one: ChangedContent) -> tuple[tuple[bytes | None, int | None], ...]:
    return (one.old_path, one.old_path_id), (one.new_path, one.new_path_id)


def _store_changes(
    scope_id: int, read: Sequence[ReadContent], names: SymbolNames
) -> dict[tuple[int, int], int]:
    """Returns the ids of new symbol changes by content change and position."""
    wanted = {
        side.name for one in read for c in one.changes for side in (c.before, c.after) if side
    }
    ids = names.store(wanted)
    rows = [
        _row(scope_id, one, position, change, ids)
        for one in read
        for position, change in enumerate(one.changes)
    ]
    columns = [
        "scope", "content_change", "position", "kind", "symbol_kind", "name", "old_name",
        "confidence", "old_first_line", "old_last_line", "new_first_line", "new_last_line",
        "old_body", "new_body", "hunk_numbers",
    ]  # fmt: skip
    returning = ["content_change_id", "position", "id"]
    return {
        (content, position): row_id
        for content, position, row_id in insert_rows(SymbolChange, columns, rows, returning)
    }


def _row(
    scope_id: int, one: ReadContent, position: int, change: Change, ids: dict[str, int]
) -> tuple[Any, ...]:
    before, after = change.before, change.after
    shown = after or before
    assert shown is not None
    is_renamed = before is not None and after is not None and before.name != after.name
    return (
        scope_id,
        one.content.row_id,
        position,
        change.kind.value,
        shown.kind.value,
        ids[shown.name],
        ids[before.name] if before is not None and is_renamed else None,
        round(change.confidence * 100),
        before.first_line if before else None,
        before.last_line if before else None,
        after.first_line if after else None,
        after.last_line if after else None,
        body_key(before) if before else None,
        body_key(after) if after else None,
        int_array(one.touched[position]),
    )


def _store_moves(
    scope_id: int, read: Sequence[ReadContent], ids: dict[tuple[int, int], int]
) -> int:
    """Pair what a commit removed in one file with what it added in another."""
    by_commit: dict[int, list[ReadContent]] = defaultdict(list)
    for one in read:
        if one.changes and one.content.is_owned:
            by_commit[one.content.commit_id].append(one)
    rows = []
    for commit_id, group in by_commit.items():
        removed, added = _left_and_arrived(group)
        if not removed or not added:
            continue
        matches = match_moved([r[1:] for r in removed], [a[1:] for a in added])
        for a, b, change in matches:
            old, new = ids.get(removed[a][0]), ids.get(added[b][0])
            if old is not None and new is not None:
                rows.append((scope_id, commit_id, old, new, round(change.confidence * 100)))
    return len(insert_rows(SymbolMove, ["scope", "commit", "removed", "added", "confidence"], rows))


_Place = tuple[tuple[int, int], bytes, Symbol]


def _left_and_arrived(group: Sequence[ReadContent]) -> tuple[list[_Place], list[_Place]]:
    removed: list[_Place] = []
    added: list[_Place] = []
    for one in group:
        for position, change in enumerate(one.changes):
            at = one.content.row_id, position
            if change.kind is SymbolChangeKind.REMOVED and change.before:
                removed.append((at, one.content.old_path or b"", change.before))
            elif change.kind is SymbolChangeKind.ADDED and change.after:
                added.append((at, one.content.new_path or b"", change.after))
    return removed, added
