"""What happened to symbols between two versions of a file.

Pure functions over symbol tables; content decides, never a message. What could be one of several is
not chosen: it stays an addition and a removal, with less confidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from collectors.symbol_likeness import (
    PARTIAL,
    TELLING,
    Key,
    Pair,
    bare_signature,
    body_hash,
    body_only,
    confidence,
    kind_and_bare_signature,
    kind_and_last_name,
    kind_only,
    last_name,
    shape_hash,
    signature_and_body,
    signature_only,
    unique_pairs,
)
from collectors.symbol_values import (
    Coverage,
    Symbol,
    SymbolChange,
    SymbolChangeKind,
    SymbolTable,
    TableDifference,
)

AMBIGUOUS = 0.5
Numbered = Mapping[int, Symbol]


def compare(before: SymbolTable | None, after: SymbolTable | None) -> tuple[SymbolChange, ...]:
    """What happened to each symbol, in the order of the after side, then what was removed.

    None is a side that does not exist. A side that is TEXTUAL_ONLY gives no changes at all. A
    symbol is MODIFIED for what is in itself only: what happened to a method is told of the method.
    """
    if any(side is not None and side.coverage is Coverage.TEXTUAL_ONLY for side in (before, after)):
        return ()
    old = dict(enumerate(before.symbols)) if before else {}
    new = dict(enumerate(after.symbols)) if after else {}
    is_partial = any(s is not None and s.coverage is not Coverage.FULL for s in (before, after))
    return compare_symbols(old, new, is_partial=is_partial)


def compare_symbols(old: Numbered, new: Numbered, *, is_partial: bool) -> tuple[SymbolChange, ...]:
    """`compare` for symbols by their numbers in tables. All of a name are there, or none is."""
    pairs, removed, added = _same_name(old.values(), new.values())
    renamed, ambiguous = _renamed(removed, added)
    renamed += _renamed_outer(renamed, removed, added, old, new)
    outer = _outer_of_changed(pairs, old)
    changes = [change for pair in pairs if (change := _changed(*pair, outer)) is not None]
    changes += [_renaming(*pair) for pair in renamed]
    gone = {id(pair[0]) for pair in renamed}
    come = {id(pair[1]) for pair in renamed}
    for one in removed:
        if id(one) not in gone:
            sure = AMBIGUOUS if one.body_hash in ambiguous else PARTIAL if is_partial else 1.0
            changes.append(SymbolChange(SymbolChangeKind.REMOVED, one, None, sure))
    for one in added:
        if id(one) not in come:
            sure = AMBIGUOUS if one.body_hash in ambiguous else PARTIAL if is_partial else 1.0
            changes.append(SymbolChange(SymbolChangeKind.ADDED, None, one, sure))
    return tuple(sorted(changes, key=_place))


def difference(before: SymbolTable, after: SymbolTable) -> TableDifference:
    """Whether two versions of a file differ in code, in comments only, or in formatting only."""
    sides = (before, after)
    if any(side.coverage is Coverage.TEXTUAL_ONLY for side in sides):
        return TableDifference.UNKNOWN
    if before.grammar != after.grammar or before.revision != after.revision:
        return TableDifference.UNKNOWN
    if before.code_hash != after.code_hash:
        return TableDifference.CODE
    if before.comment_hash != after.comment_hash:
        return TableDifference.COMMENT_ONLY
    if before == after:
        return TableDifference.NONE
    return TableDifference.FORMATTING_ONLY


def _same_name(
    old: Iterable[Symbol], new: Iterable[Symbol]
) -> tuple[list[Pair], list[Symbol], list[Symbol]]:
    """Pairs of one qualified name, and what is left. Of overloads the most equal ones first."""
    by_name: dict[str, tuple[list[Symbol], list[Symbol]]] = {}
    for one in old:
        by_name.setdefault(one.name, ([], []))[0].append(one)
    for one in new:
        by_name.setdefault(one.name, ([], []))[1].append(one)
    pairs, removed, added = [], [], []
    for before, after in by_name.values():
        if len(before) == len(after) == 1:
            pairs.append((before[0], after[0]))
            continue
        left, right = before, after
        if before and after:
            for key in (signature_and_body, signature_only, body_only, kind_only):
                found, left, right = _paired(left, right, key)
                pairs += found
        removed += left
        added += right
    return pairs, removed, added


def _paired(
    old: Iterable[Symbol], new: Sequence[Symbol], key: Key
) -> tuple[list[Pair], list[Symbol], list[Symbol]]:
    """Pair by equal keys in order of position, and give what is left on both sides."""
    waiting: dict[Hashable, list[Symbol]] = defaultdict(list)
    for one in reversed(new):
        waiting[key(one)].append(one)
    pairs, left = [], []
    for one in old:
        others = waiting[key(one)]
        if others:
            pairs.append((one, others.pop()))
        else:
            left.append(one)
    taken = {id(pair[1]) for pair in pairs}
    return pairs, left, [one for one in new if id(one) not in taken]


def _renamed(removed: list[Symbol], added: list[Symbol]) -> tuple[list[Pair], set[bytes]]:
    """Pairs with the same body under another name, and the bodies that could be several ones."""
    pairs: list[Pair] = []
    ambiguous: set[bytes] = set()
    left, right = removed, added
    for body in (body_hash, shape_hash):
        found, unsure = _same_body(left, right, body)
        taken = {id(one) for pair in found for one in pair}
        left = [one for one in left if id(one) not in taken]
        right = [one for one in right if id(one) not in taken]
        pairs += found
        ambiguous |= unsure
    return pairs, ambiguous


def _same_body(
    removed: list[Symbol], added: list[Symbol], body: Callable[[Symbol], bytes]
) -> tuple[list[Pair], set[bytes]]:
    groups: dict[bytes, tuple[list[Symbol], list[Symbol]]] = {}
    for one in removed:
        if one.body_size:
            groups.setdefault(body(one), ([], []))[0].append(one)
    for one in added:
        if one.body_size and body(one) in groups:
            groups[body(one)][1].append(one)
    pairs: list[Pair] = []
    ambiguous: set[bytes] = set()
    for old, new in groups.values():
        left, right = old, new
        for key in (kind_and_last_name, kind_and_bare_signature):
            found, left, right = unique_pairs(left, right, key)
            pairs += found
        if len(left) == len(right) == 1 and left[0].kind == right[0].kind:
            if left[0].body_size >= TELLING:
                pairs.append((left[0], right[0]))
        elif left and right:
            ambiguous |= {one.body_hash for one in left + right}
    return pairs, ambiguous


def _renamed_outer(
    renamed: list[Pair],
    removed: list[Symbol],
    added: list[Symbol],
    old: Numbered,
    new: Numbered,
) -> list[Pair]:
    """Classes most of whose methods came through under another class, and the changed methods."""
    known = {id(one) for pair in renamed for one in pair}
    votes: dict[tuple[int, int], int] = defaultdict(int)
    for before, after in renamed:
        is_inner = before.parent is not None and after.parent is not None
        if is_inner and last_name(before) == last_name(after):
            votes[before.parent or 0, after.parent or 0] += 1
    pairs: list[Pair] = []
    gone, come = {id(one) for one in removed}, {id(one) for one in added}
    for (a, b), count in sorted(votes.items(), key=lambda vote: -vote[1]):
        outer = (old[a], new[b])
        if any(id(one) in known for one in outer) or id(outer[0]) not in gone:
            continue
        if id(outer[1]) not in come or outer[0].kind != outer[1].kind:
            continue
        inner = [one for one in removed if one.parent == a and id(one) not in known]
        others = [one for one in added if one.parent == b and id(one) not in known]
        if count * 2 < max(len(inner), len(others)) + count:
            continue
        found, _, _ = unique_pairs(inner, others, kind_and_last_name)
        pairs += [outer, *found]
        known |= {id(one) for pair in (outer, *found) for one in pair}
    return pairs


def _changed(before: Symbol, after: Symbol, outer: set[int]) -> SymbolChange | None:
    is_signature = before.signature_hash != after.signature_hash
    is_body = before.own_hash != after.own_hash
    sure = PARTIAL if before.is_partial or after.is_partial else 1.0
    if is_signature or is_body:
        kind = SymbolChangeKind.SIGNATURE if is_signature else SymbolChangeKind.MODIFIED
        return SymbolChange(kind, before, after, sure, is_body, is_signature)
    if before.text_hash == after.text_hash or before.body_hash != after.body_hash:
        return None
    if id(before) in outer:
        return None  # told of the symbol inside
    is_comment = before.comment_hash != after.comment_hash
    kind = SymbolChangeKind.COMMENT_ONLY if is_comment else SymbolChangeKind.FORMATTING_ONLY
    return SymbolChange(kind, before, after, sure)


def _outer_of_changed(pairs: Iterable[Pair], old: Numbered) -> set[int]:
    """Ids of the symbols of the before side in which another one has other text."""
    found: set[int] = set()
    for before, after in pairs:
        parent = before.parent if before.text_hash != after.text_hash else None
        while parent is not None and id(old[parent]) not in found:
            found.add(id(old[parent]))
            parent = old[parent].parent
    return found


def _renaming(before: Symbol, after: Symbol) -> SymbolChange:
    is_body = before.shape_hash != after.shape_hash and before.body_hash != after.body_hash
    return SymbolChange(
        SymbolChangeKind.RENAMED,
        before,
        after,
        0.7 if is_body else confidence(before, after),
        is_body,
        is_signature_changed=bare_signature(before) != bare_signature(after),
    )


def _place(change: SymbolChange) -> tuple[int, int]:
    if change.after is not None:
        return (0, change.after.start)
    return (1, change.before.start if change.before else 0)
