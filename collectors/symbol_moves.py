"""Symbols that left one file and arrived in another one, within the files of one change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from collectors.symbol_likeness import TELLING, confidence, last_name
from collectors.symbol_values import Symbol, SymbolChange, SymbolChangeKind


def match_moved(
    removed: Sequence[tuple[bytes, Symbol]], added: Sequence[tuple[bytes, Symbol]]
) -> tuple[tuple[int, int, SymbolChange], ...]:
    """Symbols of one commit that left a path and arrived with the same body in another one.

    Takes (path, symbol) of what `compare` called REMOVED and ADDED in every file; gives indexes of
    both lists and the change. One of several equal ones is never chosen.
    """
    left, right = set(range(len(removed))), set(range(len(added)))
    found: list[tuple[int, int, SymbolChange]] = []
    for key in (_whole_name_and_body, _last_name_and_body, _telling_body, _telling_shape):
        old, new = defaultdict(list), defaultdict(list)
        for number in sorted(left):
            old[key(removed[number][1])].append(number)
        for number in sorted(right):
            new[key(added[number][1])].append(number)
        for value, numbers in old.items():
            others = new.get(value, [])
            if value is None or len(numbers) != 1 or len(others) != 1:
                continue
            a, b = numbers[0], others[0]
            if removed[a][0] == added[b][0]:
                continue
            left.discard(a)
            right.discard(b)
            found.append((a, b, _moving(removed[a][1], added[b][1])))
    return tuple(found)


def _moving(before: Symbol, after: Symbol) -> SymbolChange:
    return SymbolChange(
        SymbolChangeKind.MOVED,
        before,
        after,
        confidence(before, after),
        before.body_hash != after.body_hash,
        before.signature_hash != after.signature_hash,
    )


def _whole_name_and_body(one: Symbol) -> Hashable:
    return (one.name, one.kind, one.body_hash) if one.body_size else None


def _last_name_and_body(one: Symbol) -> Hashable:
    return (last_name(one), one.kind, one.body_hash) if one.body_size else None


def _telling_body(one: Symbol) -> Hashable:
    return (one.kind, one.body_hash) if one.body_size >= TELLING else None


def _telling_shape(one: Symbol) -> Hashable:
    return (one.kind, one.shape_hash) if one.body_size >= TELLING else None
