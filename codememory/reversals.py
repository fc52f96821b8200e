"""Finds what later changes undo of earlier ones, by content: whole files, hunks, symbols.

A message never counts. What a merge only shows of its parents is neither end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from codememory.ancestry import Ancestry
from codememory.hunk_keys import TRIVIAL, key_of, reverse_key_of
from codememory.models import ContentChange, FileChange
from codememory.owned_rows import PathSteps, Step, does_own, select_steps
from codememory.reversal_rows import Found, RestoredSymbol
from collectors.values import Hunk

REVERSALS_REVISION = 4
BATCH = 1_000  # file changes, rounded up to whole commits
MOST_STEPS = 40  # that one change may take back at once
SWEEP = 5_000  # file changes of one commit; what a larger one undoes is not looked for

# The same symbol with the two states of its body the other way round.
_SYMBOLS = """
    SELECT l.content_change_id, l.name_id, l.hunk_numbers, l.old_body, l.new_body,
           e.content_change_id, e.hunk_numbers, e.old_body,
           e.old_first_line, e.old_last_line, e.new_first_line, e.new_last_line
    FROM codememory_symbolchange l
    JOIN codememory_symbolchange e ON e.scope_id = l.scope_id AND e.name_id = l.name_id
     AND e.kind IN ('ADDED', 'REMOVED', 'MODIFIED', 'SIGNATURE')
     AND (e.old_body = l.new_body OR e.old_body IS NULL AND l.new_body IS NULL)
     AND e.new_body IS NOT DISTINCT FROM l.old_body
    WHERE l.scope_id = %s AND l.content_change_id = ANY(%s)
      AND l.kind IN ('ADDED', 'REMOVED', 'MODIFIED', 'SIGNATURE')
      AND l.old_body IS DISTINCT FROM l.new_body
"""
_WITH_KEYS = """
    SELECT content_change_id, hunk_keys FROM codememory_codefacts
    WHERE scope_id + 0 = %s AND hunk_keys && %s::bigint[]
"""


def batch_end(scope_id: int, after_id: int) -> int | None:
    """The last row of the next batch, which ends with a commit; None: there is no more."""
    rows = FileChange.objects.filter(scope_id=scope_id, pk__gt=after_id).order_by("pk")
    window = list(rows.values_list("pk", "commit_id")[:BATCH])
    if not window:
        return None
    last = FileChange.objects.filter(scope_id=scope_id, commit_id=window[-1][1]).order_by("-pk")
    return int(last.values_list("pk", flat=True)[0])


def without_sweeps(steps: Sequence[Step]) -> tuple[list[Step], dict[int, int]]:
    """The steps of ordinary commits; and how many steps each larger one has, by its row."""
    sizes = Counter(step.commit_id for step in steps)
    sweeps = {commit: size for commit, size in sizes.items() if size > SWEEP}
    return [step for step in steps if step.commit_id not in sweeps], sweeps


class ReversalFinder:
    """Finds the reversals whose later end is in a window of file changes."""

    def __init__(self, scope_id: int) -> None:
        self._scope_id = scope_id
        self._paths = PathSteps(scope_id)
        self._ancestry = Ancestry(scope_id)
        self._partly: set[int] = set()  # later steps whose file-wide reversal is not the whole tale

    def find(self, steps: Sequence[Step]) -> list[Found]:
        found: dict[tuple[int, int], Found] = {}
        self._partly.clear()
        for step, earlier in self._whole_files(steps):
            found[step.id, earlier.id] = Found(step, earlier, is_file=True)
        hunks_of = self._hunks(steps)
        self._find_hunks(steps, hunks_of, found)
        self._find_symbols(steps, found)
        return list(found.values())

    # Whole files

    def _whole_files(self, steps: Sequence[Step]) -> Iterable[tuple[Step, Step]]:
        steps = [step for step in steps if step.kind == "R" or step.old_oid != step.new_oid]
        possible = self._with_candidates(steps)
        self._paths.load({p for s in possible for p in (s.old_path, s.new_path) if p is not None})
        for step in possible:
            chain = _net(step, self._taken_back(step))
            undone = self._undone_only_now(chain) if len(chain) > 1 else chain
            if len(undone) < len(chain) or any(one.hunk_numbers is not None for one in chain):
                # What a merge brought in of its parents is taken back of those who wrote it.
                self._partly.add(step.id)
            for earlier in undone:
                yield step, earlier

    def _undone_only_now(self, chain: Sequence[Step]) -> list[Step]:
        """Without the steps of which a part had been taken back within the chain already."""
        hunks_of = self._hunks(chain)
        owned = [_owned(step, hunks_of.get(step.content, ())) for step in chain]
        keys = [{key_of(hunk) for hunk in hunks} - {TRIVIAL} for hunks in owned]
        reverse = [{reverse_key_of(hunk) for hunk in hunks} - {TRIVIAL} for hunks in owned]
        return [
            step
            for n, step in enumerate(chain)
            if not any(keys[n] & reverse[m] for m in range(len(chain)) if m != n)
        ]

    def _with_candidates(self, steps: Sequence[Step]) -> list[Step]:
        """Those steps whose after side some earlier change had as its before side."""
        restored = {step.new_oid for step in steps if step.new_oid}
        removed = {step.old_oid for step in steps if step.new_oid is None and step.old_oid}
        first: dict[tuple[bool, str], int] = {}
        query = (
            "SELECT {side}, min(f.id) FROM codememory_contentchange c"
            " JOIN codememory_filechange f ON f.scope_id = c.scope_id"
            " AND f.content_change_id = c.id WHERE c.scope_id = %s AND {which} GROUP BY 1"
        )
        with connection.cursor() as cursor:
            which = "c.old_oid = ANY(%s)"
            cursor.execute(
                query.format(side="c.old_oid", which=which), [self._scope_id, list(restored)]
            )
            first |= {(True, oid): row_id for oid, row_id in cursor.fetchall()}
            which = "c.old_oid IS NULL AND c.new_oid = ANY(%s)"
            cursor.execute(
                query.format(side="c.new_oid", which=which), [self._scope_id, list(removed)]
            )
            first |= {(False, oid): row_id for oid, row_id in cursor.fetchall()}
        return [
            step
            for step in steps
            if first.get((step.new_oid is not None, step.new_oid or step.old_oid or ""), step.id)
            < step.id
        ]

    def _taken_back(self, step: Step) -> list[Step]:
        """The steps, last first, that a step undoes by bringing an earlier content back."""
        path = step.old_path if step.old_path is not None else step.new_path
        oid, at = step.old_oid, step.id
        chain: list[Step] = []
        while path is not None and len(chain) < MOST_STEPS:
            earlier = self._step_to(path, oid, at, step)
            if earlier is None:
                return []
            chain.append(earlier)
            if earlier.old_oid == step.new_oid and _is_place_back(step, earlier):
                # What was added and changed before it went is removed, not taken back.
                return chain if step.new_oid is not None or len(chain) == 1 else []
            path, oid, at = earlier.old_path, earlier.old_oid, earlier.id
        return []

    def _step_to(self, path: int, oid: str | None, before: int, of: Step) -> Step | None:
        """The last earlier step that left this content at this path."""
        for step in self._paths.before(path, before):
            is_it = step.new_oid == oid and step.commit_id != of.commit_id
            if is_it and self._ancestry.is_ancestor(step.commit_id, of.commit_id):
                return step
        return None

    # Hunks

    def _hunks(self, steps: Sequence[Step]) -> dict[int, list[Hunk]]:
        ids = {step.content for step in steps if step.content_class in {"TEXT", "FORMATTING_ONLY"}}
        rows = ContentChange.objects.filter(scope_id=self._scope_id, pk__in=ids)
        rows = rows.only("hunk_ranges", "hunk_digests")
        return {row.pk: row.hunks() for row in rows.iterator()}

    def _find_hunks(
        self,
        steps: Sequence[Step],
        hunks_of: Mapping[int, list[Hunk]],
        found: dict[tuple[int, int], Found],
    ) -> None:
        whole = {later for later, _ in found} - self._partly
        asked: dict[int, list[tuple[int, int]]] = {}
        for step in steps:
            if step.id not in whole and step.content in hunks_of:
                keys = _reverse_keys(step, hunks_of[step.content])
                if keys:
                    asked[step.id] = keys
        wanted = {key for keys in asked.values() for _, key in keys}
        places = self._places_of(wanted)
        if not places:
            return
        for step in steps:
            for number, key in asked.get(step.id, ()):
                for earlier, earlier_number in places.get(key, ()):
                    if earlier.id < step.id and self._is_before(earlier, step):
                        pair = (step.id, earlier.id)
                        one = found.setdefault(pair, Found(step, earlier))
                        if earlier_number not in one.hunks:
                            one.hunks[earlier_number] = number
                            break

    def _places_of(self, keys: set[int]) -> dict[int, list[tuple[Step, int]]]:
        """Where hunks with these keys are: the step and the hunk's number, the last step first."""
        contents = self._contents_with(keys)
        places: dict[int, list[tuple[Step, int]]] = defaultdict(list)
        if not contents:
            return places
        steps = select_steps(self._scope_id, "f.content_change_id = ANY(%s)", list(contents))
        for step in reversed(steps):
            for number, key in enumerate(contents[step.content], 1):
                if key in keys and (step.hunk_numbers is None or number in step.hunk_numbers):
                    places[key].append((step, number))
        return places

    def _contents_with(self, keys: set[int]) -> dict[int, list[int]]:
        """The hunk keys of content changes that have any of these, by the content change."""
        if not keys:
            return {}
        with transaction.atomic(), connection.cursor() as cursor:
            # Left to itself the planner reads the table and compares array with array: 10 times.
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
            cursor.execute(_WITH_KEYS, [self._scope_id, list(keys)])
            found = dict(cursor.fetchall())
            cursor.execute("SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = on")
        return found

    def _is_before(self, earlier: Step, later: Step) -> bool:
        """Whether a step is of the same file, under whatever name, and in the later's past."""
        if earlier.commit_id == later.commit_id or earlier.new_path is None:
            return False
        path = later.old_path if later.old_path is not None else later.new_path
        assert path is not None
        is_same = earlier.new_path == path
        if not is_same:
            is_same = earlier.new_path in self._paths.names_before(path, later.id)
        return is_same and self._ancestry.is_ancestor(earlier.commit_id, later.commit_id)

    # Symbols

    def _find_symbols(self, steps: Sequence[Step], found: dict[tuple[int, int], Found]) -> None:
        by_content: dict[int, list[Step]] = defaultdict(list)
        for step in steps:
            by_content[step.content].append(step)
        with connection.cursor() as cursor:
            cursor.execute(_SYMBOLS, [self._scope_id, list(by_content)])
            rows = cursor.fetchall()
        if not rows:
            return
        whole = {later for (later, _), one in found.items() if one.is_file} - self._partly
        earlier_of: dict[int, list[Step]] = defaultdict(list)
        ids = list({row[5] for row in rows})
        for step in select_steps(self._scope_id, "f.content_change_id = ANY(%s)", ids):
            earlier_of[step.content].append(step)
        nearest: dict[tuple[int, int], tuple[Step, Step, tuple[Any, ...]]] = {}
        for row in rows:
            for later in by_content[row[0]]:
                for earlier in earlier_of[row[5]]:
                    best = nearest.get((later.id, row[1]))
                    is_nearer = best is None or best[1].id < earlier.id
                    if earlier.id >= later.id or not is_nearer or later.id in whole:
                        continue
                    # A merge shows what its parents did to a symbol as well.
                    if not (
                        does_own(later.hunk_numbers, row[2])
                        and does_own(earlier.hunk_numbers, row[6])
                    ):
                        continue
                    if self._is_before_symbol(earlier, later):
                        nearest[later.id, row[1]] = later, earlier, row
        for later, earlier, row in nearest.values():
            _add_symbol(found, later, earlier, row)

    def _is_before_symbol(self, earlier: Step, later: Step) -> bool:
        if earlier.new_path is None and earlier.old_path is not None:
            # A symbol that went with its file may come back with it.
            is_same = earlier.old_path == later.new_path
            return is_same and self._ancestry.is_ancestor(earlier.commit_id, later.commit_id)
        return self._is_before(earlier, later)


def _is_place_back(later: Step, earlier: Step) -> bool:
    """A rename without an edit is taken back only by the name's return."""
    if later.old_oid == later.new_oid or earlier.old_oid == earlier.new_oid:
        return later.new_path == earlier.old_path and later.old_path == earlier.new_path
    return True


def _net(later: Step, chain: list[Step]) -> list[Step]:
    """The chain, last step first, without the rounds by which it came back to where it was."""
    path = later.old_path if later.old_path is not None else later.new_path
    states = [(path, later.old_oid), *((step.old_path, step.old_oid) for step in chain)]
    net: list[Step] = []
    at = 0
    while at < len(chain):
        again = max(n for n, state in enumerate(states) if state == states[at])
        if again > at and again < len(chain):
            at = again
        net.append(chain[at])
        at += 1
    return net


def _owned(step: Step, hunks: Sequence[Hunk]) -> list[Hunk]:
    return [
        hunk
        for number, hunk in enumerate(hunks, 1)
        if step.hunk_numbers is None or number in step.hunk_numbers
    ]


def _reverse_keys(step: Step, hunks: Sequence[Hunk]) -> list[tuple[int, int]]:
    """The number of each owned hunk with the key that its reverse would have."""
    keys = [
        (number, reverse_key_of(hunk))
        for number, hunk in enumerate(hunks, 1)
        if step.hunk_numbers is None or number in step.hunk_numbers
    ]
    return [(number, key) for number, key in keys if key != TRIVIAL]


def _add_symbol(
    found: dict[tuple[int, int], Found], later: Step, earlier: Step, row: tuple[Any, ...]
) -> None:
    """Note a symbol unless the file or all hunks that touch it are noted already."""
    name_id, later_hunks, earlier_hunks = row[1], row[2], row[6]
    one = found.get((later.id, earlier.id))
    if one is not None and (
        one.is_file or (earlier_hunks and set(earlier_hunks) <= set(one.hunks))
    ):
        return
    if one is None:
        one = found[later.id, earlier.id] = Found(later, earlier)
    old, new = _range(*row[8:10]), _range(*row[10:12])
    symbol = RestoredSymbol(name_id, earlier_hunks, row[7] is None, old, new)
    one.symbols.append(symbol)
    one.later_hunks.update(later_hunks)


def _range(first: int | None, last: int | None) -> range:
    """Lines of a side; none where there is no such side."""
    return range(0) if first is None or last is None else range(first, last + 1)
