"""What a later file change undoes of an earlier one, and the rows that say so with its share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from codememory.bulk import insert_rows, int_array
from codememory.models import ContentChange, Reversal, ReversalLevel
from codememory.owned_rows import Step, select_steps
from collectors.values import Hunk

ADDITION_SHARE = 80  # percent: what was only added and goes later is no reversal below it
SYMBOL_SHARE = 95  # the same for a symbol alone: next to nothing else of the commit may be left


class RestoredSymbol(NamedTuple):
    """A symbol of an earlier change whose state a later one brings back, with its lines there."""

    name_id: int
    hunks: list[int]
    is_addition: bool
    old_lines: range
    new_lines: range


@dataclass(slots=True)
class Found:
    """What a later step undoes of an earlier one. Without `is_file`: the hunks and symbols."""

    later: Step
    earlier: Step
    is_file: bool = False
    hunks: dict[int, int] = field(default_factory=dict)  # number in the earlier: in the later
    symbols: list[RestoredSymbol] = field(default_factory=list)
    later_hunks: set[int] = field(default_factory=set)  # of the symbols


@dataclass(slots=True)
class _Commit:
    """The earlier commit of a pair: its steps, and how much of them the later one undoes."""

    steps: dict[int, Step] = field(default_factory=dict)
    lines: int = 0


def store_reversals(scope_id: int, found: Sequence[Found]) -> int:
    """Write what was found, with its share of the earlier commit; returns how many rows are new."""
    if not found:
        return 0
    commits = _earlier_commits(scope_id, found)
    hunks_of = _hunks_of_earlier(scope_id, found)
    undone: dict[tuple[int, int], int] = defaultdict(int)
    whole: dict[tuple[int, int], set[int]] = defaultdict(set)
    for one in found:
        pair = one.later.commit_id, one.earlier.commit_id
        hunks = hunks_of.get(one.earlier.content, [])
        undone[pair] += _undone_lines(one, hunks)
        if one.is_file or (hunks and set(one.hunks) >= _owned_numbers(one.earlier, hunks)):
            whole[pair].add(one.earlier.id)
    rows: list[tuple[Any, ...]] = []
    for one in found:
        pair = one.later.commit_id, one.earlier.commit_id
        commit = commits[one.earlier.commit_id]
        share = min(100, round(100 * undone[pair] / max(1, commit.lines)))
        is_whole = set(commit.steps) <= whole[pair]
        rows += _rows(scope_id, one, hunks_of.get(one.earlier.content, []), share, is_whole)
    columns = [
        "scope", "later", "earlier", "level", "later_hunks", "earlier_hunks", "symbol", "share",
        "is_whole",
    ]  # fmt: skip
    return len(insert_rows(Reversal, columns, rows))


def _earlier_commits(scope_id: int, found: Sequence[Found]) -> dict[int, _Commit]:
    ids = list({one.earlier.commit_id for one in found})
    commits: dict[int, _Commit] = defaultdict(_Commit)
    for step in select_steps(scope_id, "f.commit_id = ANY(%s)", ids):
        if step.old_oid != step.new_oid or step.kind == "R":
            commits[step.commit_id].steps[step.id] = step
            commits[step.commit_id].lines += max(1, step.lines)
    return commits


def _hunks_of_earlier(scope_id: int, found: Sequence[Found]) -> dict[int, list[Hunk]]:
    ids = {one.earlier.content for one in found if not one.is_file}
    rows = ContentChange.objects.filter(scope_id=scope_id, pk__in=ids)
    return {row.pk: row.hunks() for row in rows}


def _owned_numbers(step: Step, hunks: Sequence[Hunk]) -> set[int]:
    return set(step.hunk_numbers or range(1, len(hunks) + 1))


def _undone_lines(one: Found, hunks: Sequence[Hunk]) -> int:
    if one.is_file:
        return max(1, one.earlier.lines)
    lines = sum(hunks[n - 1].old_lines + hunks[n - 1].new_lines for n in one.hunks)
    for symbol in one.symbols:
        for number in set(symbol.hunks) - set(one.hunks):
            hunk = hunks[number - 1]
            lines += _overlap(symbol.old_lines, hunk.old_line, hunk.old_lines)
            lines += _overlap(symbol.new_lines, hunk.new_line, hunk.new_lines)
    return lines


def _overlap(lines: range, first: int, count: int) -> int:
    return max(0, min(lines.stop, first + count) - max(lines.start, first)) if count else 0


def _rows(
    scope_id: int, one: Found, hunks: Sequence[Hunk], share: int, is_whole: bool
) -> Iterable[tuple[Any, ...]]:
    """The rows of a pair; additions that merely went later are left out."""
    ends = scope_id, one.later.id, one.earlier.id
    is_most = share >= ADDITION_SHARE
    if one.is_file:
        if one.earlier.old_oid is not None or is_most:
            yield *ends, ReversalLevel.FILE.value, "{}", "{}", None, share, is_whole
        return
    kept = {
        number: other
        for number, other in one.hunks.items()
        if is_most or hunks[number - 1].old_lines
    }
    if kept:
        later, earlier = int_array(sorted(kept.values())), int_array(sorted(kept))
        yield *ends, ReversalLevel.HUNK.value, later, earlier, None, share, is_whole
    for symbol in one.symbols:
        if not symbol.hunks or (symbol.is_addition and share < SYMBOL_SHARE):
            continue
        later, earlier = int_array(sorted(one.later_hunks)), int_array(sorted(symbol.hunks))
        level = ReversalLevel.SYMBOL.value
        yield *ends, level, later, earlier, symbol.name_id, share, is_whole
