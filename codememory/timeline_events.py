"""Events of a history: each change with its commits, symbols, evidence, and what undid it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

from codememory.listing import evidence_ids
from codememory.models import CodeFacts, FileChange, GitCommit, Reversal, SymbolChange, SymbolMove
from codememory.owned_rows import Step, does_own
from codememory.path_origins import origins_of
from codememory.paths import shown_path
from collectors.symbol_values import SymbolChangeKind, TableDifference
from collectors.values import ContentClass, Hunk

SPACING = (ContentClass.FORMATTING_ONLY, ContentClass.LINE_ENDINGS_ONLY)
MOST_SYMBOLS = 30  # of one event
MOST_COMMITS = 20
MOST_IDS = 20


def events_of(
    scope_id: int,
    steps: Sequence[Step],
    copies: Mapping[int, Sequence[int]],
    changes: Mapping[int, list[SymbolChange]] | None,
    is_shown: Callable[[bytes], bool],
) -> list[dict[str, Any]]:
    """One event a step, in the order given. `changes`: only those symbols, and their hunks.

    `copies` has all rows that show the same step, under its first row; `is_shown` says of which
    paths may be spoken.
    """
    rows = FileChange.objects.filter(scope_id=scope_id).select_related(
        "commit", "old_path", "new_path", "content_change"
    )
    by_id = rows.in_bulk([step.id for step in steps])
    whole = list(by_id.values())
    views = _Views(scope_id, whole)
    reversals = _Reversals(scope_id, {row: step.id for step in steps for row in copies[step.id]})
    symbols = changes if changes is not None else _all_symbols(scope_id, whole)
    origins = origins_of(scope_id, whole, is_shown)
    moves = _moves(scope_id, [c for found in symbols.values() for c in found])
    facts = CodeFacts.objects.filter(
        scope_id=scope_id, content_change_id__in=[step.content for step in steps]
    )
    read = {one.content_change_id: one for one in facts.defer("hunk_keys")}
    return [
        {
            **_place(by_id[step.id]),
            **views.of(by_id[step.id]),
            **_content(by_id[step.id], symbols.get(step.id, []), moves, is_whole=changes is None),
            "origins": origins[step.id],
            "parser_coverage": read[step.content].coverage if step.content in read else None,
            "difference": _difference(by_id[step.id], read.get(step.content)),
            **reversals.of(by_id[step.id], symbols.get(step.id, []) if changes else None),
            "rationale": "UNKNOWN",
        }
        for step in steps
    ]


def text_of(raw: bytes | memoryview) -> str:
    return bytes(raw).decode("utf-8", "backslashreplace")


def _place(row: FileChange) -> dict[str, Any]:
    return {
        "id": f"F{row.pk}",
        "change": f"L{row.logical_change_id}",
        "commit": row.commit.oid,
        "kind": row.kind,
        "old_path": shown_path(bytes(row.old_path.raw)) if row.old_path else None,
        "new_path": shown_path(bytes(row.new_path.raw)) if row.new_path else None,
        "author_name": text_of(row.commit.author_name),
        "author_time": row.commit.author_time,
        "content_class": row.content_change.content_class if row.content_change else None,
    }


def _difference(row: FileChange, facts: CodeFacts | None) -> str:
    """Whether code differs, or comments or spacing alone, in the whole file."""
    found = facts.difference if facts is not None else TableDifference.UNKNOWN.value
    is_told = found not in {TableDifference.NONE, TableDifference.UNKNOWN}
    if not is_told and row.content_change and row.content_change.content_class in SPACING:
        return TableDifference.FORMATTING_ONLY.value
    return found


class _Views:
    """All commits that show the same change: cherry-picks, rebased copies, merges."""

    def __init__(self, scope_id: int, rows: Sequence[FileChange]) -> None:
        shown = FileChange.objects.filter(
            scope_id=scope_id, logical_change_id__in={row.logical_change_id for row in rows}
        )
        self._commits: dict[int | None, dict[int, None]] = defaultdict(dict)
        for change, commit in shown.order_by("commit_id").values_list(
            "logical_change_id", "commit_id"
        ):
            self._commits[change][commit] = None
        ids = {commit for found in self._commits.values() for commit in found}
        commits = GitCommit.objects.filter(scope_id=scope_id, pk__in=ids)
        self._oids = dict(commits.values_list("pk", "oid"))

    def of(self, row: FileChange) -> dict[str, Any]:
        oids = [self._oids[pk] for pk in self._commits[row.logical_change_id]]
        return {"commits": oids[:MOST_COMMITS], "commit_count": len(oids)}


def _all_symbols(scope_id: int, rows: Sequence[FileChange]) -> dict[int, list[SymbolChange]]:
    found = SymbolChange.objects.filter(
        scope_id=scope_id, content_change_id__in={row.content_change_id for row in rows}
    )
    by_content: dict[int, list[SymbolChange]] = defaultdict(list)
    for change in found.select_related("name", "old_name").order_by("position"):
        by_content[change.content_change_id].append(change)
    return {
        row.pk: [
            change
            for change in by_content.get(row.content_change_id or 0, [])
            if does_own(row.hunk_numbers, change.hunk_numbers)
        ]
        for row in rows
    }


def _content(
    row: FileChange,
    symbols: Sequence[SymbolChange],
    moves: Mapping[int, dict[str, Any]],
    *,
    is_whole: bool,
) -> dict[str, Any]:
    """Lines, symbols and evidence: of the whole change, or of the hunks that touch the symbols."""
    content = row.content_change
    assert content is not None
    hunks = content.hunks()
    numbers = list(row.hunk_numbers or range(1, len(hunks) + 1))
    if not is_whole:
        touching = {number for change in symbols for number in change.hunk_numbers}
        numbers = [number for number in numbers if number in touching]
    chosen = [hunks[number - 1] for number in numbers]
    is_counted = is_whole and row.hunk_numbers is None
    if is_counted:
        added, removed = content.added_lines, content.removed_lines
    else:
        added, removed = changed_lines(chosen, None if is_whole else symbols)
    ids = [f"{'A' if hunks[n - 1].new_lines else 'B'}{row.content_change_id}.{n}" for n in numbers]
    return {
        "added_lines": added,
        "removed_lines": removed,
        "symbols": [
            {**shown_symbol(change), **moves.get(change.pk, {})}
            for change in symbols[:MOST_SYMBOLS]
        ],
        "symbol_count": len(symbols),
        "evidence_ids": evidence_ids(row, MOST_IDS) if is_whole else ids[:MOST_IDS],
    }


def changed_lines(hunks: Sequence[Hunk], symbols: Sequence[SymbolChange] | None) -> tuple[int, int]:
    """Lines that hunks add and remove; with symbols only those that lie in one of them."""
    if symbols is None:
        return sum(h.new_lines for h in hunks), sum(h.old_lines for h in hunks)
    old = _merged((one.old_first_line, one.old_last_line) for one in symbols)
    new = _merged((one.new_first_line, one.new_last_line) for one in symbols)
    return (
        sum(_within(h.new_line, h.new_lines, new) for h in hunks),
        sum(_within(h.old_line, h.old_lines, old) for h in hunks),
    )


def _merged(ranges: Iterable[tuple[int | None, int | None]]) -> list[range]:
    """Ranges of lines, [first, last], as such that do not overlap."""
    found: list[range] = []
    there = sorted((a, b) for a, b in ranges if a is not None and b is not None)
    for first, last in there:
        if found and first < found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, last + 1))
        else:
            found.append(range(first, last + 1))
    return found


def _within(first: int, count: int, ranges: Sequence[range]) -> int:
    return sum(max(0, min(r.stop, first + count) - max(r.start, first)) for r in ranges)


def shown_symbol(change: SymbolChange) -> dict[str, Any]:
    """One symbol of an event: what happened to it, where it stands on both sides."""
    return {
        "kind": change.kind,
        "symbol_kind": change.symbol_kind,
        "name": change.name.qualified,
        "old_name": change.old_name.qualified if change.old_name else None,
        "from_path": None,
        "to_path": None,
        "old_lines": _range(change.old_first_line, change.old_last_line),
        "new_lines": _range(change.new_first_line, change.new_last_line),
        "confidence": change.confidence / 100,
    }


def _moves(scope_id: int, changes: Sequence[SymbolChange]) -> dict[int, dict[str, Any]]:
    """What to say of symbols that were moved: both ends are MOVED, each with the other's place."""
    ids = [change.pk for change in changes]
    moves = SymbolMove.objects.filter(Q(added_id__in=ids) | Q(removed_id__in=ids))
    moves = moves.filter(scope_id=scope_id).select_related("added", "removed__name").order_by("pk")
    rows = FileChange.objects.filter(
        scope_id=scope_id, commit_id__in={move.commit_id for move in moves}
    ).select_related("old_path", "new_path")
    places = {(row.commit_id, row.content_change_id): row for row in rows}
    found: dict[int, dict[str, Any]] = {}
    for move in moves:
        left = places.get((move.commit_id, move.removed.content_change_id))
        came = places.get((move.commit_id, move.added.content_change_id))
        if left is None or came is None or left.old_path is None or came.new_path is None:
            continue
        said = {"kind": SymbolChangeKind.MOVED.value, "confidence": move.confidence / 100}
        found[move.removed_id] = {**said, "to_path": shown_path(bytes(came.new_path.raw))}
        found[move.added_id] = {**said, "from_path": shown_path(bytes(left.old_path.raw))}
        if move.removed.name_id != move.added.name_id:
            found[move.added_id]["old_name"] = move.removed.name.qualified
    return found


def _range(first: int | None, last: int | None) -> list[int] | None:
    return [first, last] if first is not None and last is not None else None


class _Reversals:
    """What each row undoes, what undid it, and what brought it back by undoing that."""

    def __init__(self, scope_id: int, first_of: Mapping[int, int]) -> None:
        """`first_of` names the first row of each copy: what undid a copy undid them all."""
        ids = list(first_of)
        undone = Reversal.objects.filter(scope_id=scope_id, earlier_id__in=ids)
        undone = undone.select_related("symbol", "later__commit").order_by("pk")
        undoes = Reversal.objects.filter(scope_id=scope_id, later_id__in=ids)
        undoes = undoes.select_related("symbol", "earlier__commit").order_by("pk")
        self._reverted_by = _by(undone, "earlier_id", first_of)
        self._reverts = _by(undoes, "later_id", first_of)
        later = {reversal.later_id for reversal in undone}
        again = Reversal.objects.filter(scope_id=scope_id, earlier_id__in=later)
        again = again.select_related("symbol", "later__commit").order_by("pk")
        self._restored = _by(again, "earlier_id", {})

    def of(self, row: FileChange, symbols: Sequence[SymbolChange] | None) -> dict[str, Any]:
        """Where it is of symbols, only reversals that touch one of them."""
        reverted_by = [r for r in self._reverted_by[row.pk] if _touches(r, symbols, "earlier")]
        return {
            "reverts": [
                _end(r, r.earlier) for r in self._reverts[row.pk] if _touches(r, symbols, "later")
            ],
            "reverted_by": [_end(r, r.later) for r in reverted_by],
            "restored_by": [
                _end(again, again.later)
                for reversal in reverted_by
                for again in self._restored[reversal.later_id]
                if _brings_back(again, reversal)
            ],
        }


def _by(
    reversals: Iterable[Reversal], link: str, first_of: Mapping[int, int]
) -> dict[int, list[Reversal]]:
    found: dict[int, list[Reversal]] = defaultdict(list)
    for reversal in reversals:
        end = getattr(reversal, link)
        found[first_of.get(end, end)].append(reversal)
    return found


def _brings_back(again: Reversal, reversal: Reversal) -> bool:
    """Whether what undoes a reversal in part undoes that part of it."""
    if again.level == "FILE" or reversal.level == "FILE":
        return True
    if again.symbol_id is not None and again.symbol_id == reversal.symbol_id:
        return True
    return bool(set(again.earlier_hunks) & set(reversal.later_hunks))


def _touches(reversal: Reversal, symbols: Sequence[SymbolChange] | None, side: str) -> bool:
    if symbols is None or reversal.level == "FILE":
        return True
    if reversal.level == "SYMBOL":
        return any(reversal.symbol_id in {s.name_id, s.old_name_id} for s in symbols)
    numbers = set(getattr(reversal, f"{side}_hunks"))
    return any(numbers & set(change.hunk_numbers) for change in symbols)


def _end(reversal: Reversal, row: FileChange) -> dict[str, Any]:
    return {
        "id": f"F{row.pk}",
        "change": f"L{row.logical_change_id}",
        "commit": row.commit.oid,
        "level": reversal.level,
        "symbol": reversal.symbol.qualified if reversal.symbol else None,
        "is_whole": reversal.is_whole,
        "share": reversal.share / 100,
    }
