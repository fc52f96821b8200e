"""When two symbols are alike: the keys by which they are paired, and how much a pairing says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable

from collectors.symbol_values import Symbol

PARTIAL = 0.8  # a parse error may hide a symbol or cut one short
TELLING = 24  # bytes of body from which on a body alone identifies a symbol
Pair = tuple[Symbol, Symbol]
Key = Callable[[Symbol], Hashable]


def unique_pairs(
    old: list[Symbol], new: list[Symbol], key: Key
) -> tuple[list[Pair], list[Symbol], list[Symbol]]:
    """Pair what has a key of its own on both sides."""
    left, right = defaultdict(list), defaultdict(list)
    for one in old:
        left[key(one)].append(one)
    for one in new:
        right[key(one)].append(one)
    pairs = [
        (ones[0], right[value][0])
        for value, ones in left.items()
        if len(ones) == 1 and len(right.get(value, ())) == 1
    ]
    taken = {id(one) for pair in pairs for one in pair}
    return (
        pairs,
        [one for one in old if id(one) not in taken],
        [one for one in new if id(one) not in taken],
    )


def confidence(before: Symbol, after: Symbol) -> float:
    """How sure an equal body makes it: a long one, the same last name, the same parameters."""
    sure = 0.6 if before.body_size < TELLING else 0.8 if before.body_size < 3 * TELLING else 0.9
    sure += 0.06 if last_name(before) == last_name(after) else 0.0
    sure += 0.03 if bare_signature(before) == bare_signature(after) else 0.0
    return round(sure * (PARTIAL if before.is_partial or after.is_partial else 1.0), 2)


def body_hash(one: Symbol) -> bytes:
    return one.body_hash


def shape_hash(one: Symbol) -> bytes:
    return one.shape_hash


def last_name(one: Symbol) -> str:
    return one.name.rpartition(".")[2]


def bare_signature(one: Symbol) -> str:
    """The signature without the name."""
    name = rf"(?<!\w){re.escape(last_name(one))}(?!\w)"
    return re.sub(name, "", one.signature, count=1)


def kind_and_last_name(one: Symbol) -> Hashable:
    return one.kind, last_name(one)


def kind_and_bare_signature(one: Symbol) -> Hashable:
    return one.kind, bare_signature(one)


def signature_and_body(one: Symbol) -> Hashable:
    return one.signature_hash, one.body_hash


def signature_only(one: Symbol) -> Hashable:
    return one.signature_hash


def body_only(one: Symbol) -> Hashable:
    return one.body_hash if one.body_size else one.text_hash


def kind_only(one: Symbol) -> Hashable:
    return one.kind
