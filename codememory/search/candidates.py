"""Finds the entries that hold a question's terms, and scores them where they are.

The reading half of search: the statements; what is in them of the ranking is `ranking`'s.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from django.db import connection, transaction

from codememory.models.scopes import SourceKind
from codememory.models.search import EntryKind
from codememory.path_filter import at_or_below
from codememory.search.analyser import query_terms
from codememory.search.known import KnownTerms
from codememory.search.of_path import COLUMNS, OF_MEMORIES, OF_TARGETS, of_paths, targets_of
from codememory.search.ranking import SCORE_STEPS, idf, score_sql

ASKED_TERMS = 32  # the heaviest terms of a question; the rest of a long text adds noise and time
# Rarest terms pick the rows to score until they promise so many; common words only add to a score.
# 2,000 lose nothing in 3,800 changes (MRR .3575 both), 1,000 lose .002.
ROWS_SCORED = 2_000
ROWS_SCORED_OF_PATH = 20_000  # a path leaves few of them
# A term that is in more entries than that picks only those which hold others of the question too.
ROWS_JOINED = 3_000
MOST_JOINED = 5  # other terms: ten pairs of them
ROWS_LEAST = 100  # as many as are ranked again: fewer are not enough
TARGETS_OF_PATH = 5_000  # of a kind: more are looked for among the entries of the terms
STOP_WEIGHT_LIMIT = 0.01
PATHS_LIMIT = 10_000

# A long array is read whole for every term of the question, unless it is joined with nothing once:
# that gives a copy (and OFFSET 0 keeps the planner from undoing it).
# `scope_id + 0`: with the plain column the planner joins a second index scan in, at a flat cost.
# So does every other OFFSET 0: what is below it is computed once, however often it is named above.
_ENTRIES = """
    SELECT key, id, kind, target FROM (
        SELECT key, id, kind, target, row_number() OVER ({of} ORDER BY key DESC, id) AS place
        FROM ({scored}) AS scored
    ) AS placed {first} ORDER BY key DESC, id
"""
_SCORED = """
    SELECT {key} AS key, id, kind, target FROM (
        SELECT id, kind, target, {steps} FROM (
            SELECT id, kind, terms, impacts, {places},
                coalesce(logical_change_id, segment_id, candidate_id, memory_id) AS target
            FROM ({found} OFFSET 0) AS found OFFSET 0
        ) AS placed OFFSET 0
    ) AS entry
"""
# `terms` is sorted: width_bucket finds a term by binary search, array_position walks.
_PLACE = "width_bucket(%(term{0})s::int, terms) AS place{0}"
_STEP = """CASE WHEN terms[place{0}] = %(term{0})s::int THEN impacts[place{0}]::float8
    ELSE 0 END AS step{0}"""
_OF_TERMS = COLUMNS + "WHERE scope_id + 0 = %(scope)s AND kind = ANY(%(kinds)s) AND ({rare}){more}"
_TEXTS_ALONE = " AND kind <> 'change'"  # there is an index of them
_TOGETHER = "terms @> %(all{0})s::int[] AND terms && %(any{0})s::int[]"
_BESIDE = """
    SELECT id, shape, neighbours FROM codememory_searchentry
    WHERE scope_id = %s AND id = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A question's term as one scope knows it: the worth of the match, rarity in each group."""

    term: str
    id: int
    weight: float
    df: int
    change_idf: float
    text_idf: float
    share: float  # of the entries of the asked kinds that hold it

    @property
    def worth(self) -> float:
        return self.weight * max(self.change_idf, self.text_idf)

    def idf_of(self, kind: str) -> float:
        return self.change_idf if kind == EntryKind.CHANGE else self.text_idf


class Together(NamedTuple):
    """Terms that an entry must hold, and others of which it must hold one."""

    all_of: list[int]
    any_of: list[int]


def asked_terms(known: KnownTerms, question: str, kinds: Collection[str]) -> list[AskedTerm]:
    """The question's terms that entries of these kinds hold, rarest first."""
    found = []
    of_changes = EntryKind.CHANGE in kinds
    of_texts = any(kind != EntryKind.CHANGE for kind in kinds)
    for asked in query_terms(question):
        number, in_changes, in_texts = known.terms.get(asked.term, (0, 0, 0))
        df = of_changes * in_changes + of_texts * in_texts
        if df > 0:
            rarity = (idf(known.changes, in_changes), idf(known.texts, in_texts))
            share = df / max(df, of_changes * known.changes + of_texts * known.texts)
            found.append(AskedTerm(asked.term, number, asked.weight, df, *rarity, share))
    found.sort(key=lambda asked: (-asked.worth, asked.term))
    return sorted(found[:ASKED_TERMS], key=lambda asked: (asked.df, asked.term))


def rarest(terms: Sequence[AskedTerm], most_rows: int) -> list[int]:
    """The terms whose entries are scored: the rarest, at least one, within so many rows.

    Stop words pick no rows unless there is nothing else.
    """
    telling = [asked for asked in terms if asked.weight > STOP_WEIGHT_LIMIT] or list(terms)
    picked: list[int] = []
    rows = 0
    for asked in telling:
        rows += asked.df
        if picked and rows > most_rows:
            break
        picked.append(asked.id)
    return picked


def joined(terms: Sequence[AskedTerm]) -> Iterator[list[Together]]:
    """What an entry must hold to be scored, where the rarest term is in too many: the rarest and
    some of the weightiest others.

    First so many of these that they promise few enough entries (as if terms were independent, so
    there are more than that), then fewer.
    """
    rarest_term, *others = [asked for asked in terms if asked.weight > STOP_WEIGHT_LIMIT] or terms
    others = sorted(others, key=lambda asked: (-asked.worth, asked.term))[:MOST_JOINED]
    promised = [
        rarest_term.df
        * sum(math.prod(asked.share for asked in some) for some in combinations(others, many))
        for many in range(1, len(others) + 1)
    ]
    enough = next((n for n, rows in enumerate(promised, 1) if rows <= ROWS_JOINED), len(others))
    ids = [asked.id for asked in others]
    for many in range(enough, 0, -1):
        yield [Together([rarest_term.id, *held], last) for held, last in _some_of(ids, many)]


def _some_of(ids: Sequence[int], many: int) -> Iterator[tuple[list[int], list[int]]]:
    """All ways to hold so many of them: all but the last of these, and any of those behind it.

    Each way is one walk of the index: far fewer than there are combinations.
    """
    for places in combinations(range(len(ids)), many - 1):
        behind = ids[places[-1] + 1 :] if places else list(ids)
        if behind:
            yield [ids[place] for place in places], list(behind)


def entries_with(
    scope_id: int,
    terms: Sequence[AskedTerm],
    kinds: Collection[str],
    path: bytes | None,
    most: int | None = None,
    *,
    of_each: bool = False,
) -> list[tuple[float, int, str, int]]:
    """Rows of (first score, entry id, kind, target id), best first.

    `most` is ROWS_LEAST or more, of each kind or in all; None: all that were scored.
    """
    values: dict[str, Any] = {"scope": scope_id, "kinds": sorted(kinds)}
    values.update({f"term{place}": asked.id for place, asked in enumerate(terms)})
    places = range(len(terms))
    scored = _SCORED.format(
        key=_score_key(terms, kinds),
        steps=", ".join(_STEP.format(place) for place in places),
        places=", ".join(_PLACE.format(place) for place in places),
        found="{found}",
    )
    of = "PARTITION BY kind" if of_each else ""
    first = "" if most is None else f"WHERE place <= {most:d}"
    statement = _ENTRIES.format(of=of, first=first, scored=scored)
    is_nested = connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        # Comparing arrays row by row costs far more than the planner believes.
        cursor.execute("SET LOCAL enable_seqscan = off")
        for found in _sources(scope_id, terms, kinds, path, values):
            cursor.execute(statement.format(found=found), values)
            rows: list[tuple[float, int, str, int]] = cursor.fetchall()
            counts = Counter(kind for _, _, kind, _ in rows)
            if (min(counts[kind] for kind in kinds) if of_each else len(rows)) >= ROWS_LEAST:
                break
        if is_nested:  # otherwise it ends with the transaction
            cursor.execute("SET LOCAL enable_seqscan TO DEFAULT")
    return [(key / SCORE_STEPS, entry_id, kind, pk) for key, entry_id, kind, pk in rows]


def _score_key(terms: Sequence[AskedTerm], kinds: Collection[str]) -> str:
    """The score as SQL, in whole steps: what a term is worth differs in changes and in texts."""
    sums = [
        score_sql((asked.weight * asked.idf_of(kind), f"step{n}") for n, asked in enumerate(terms))
        for kind in (EntryKind.CHANGE, EntryKind.SECTION)
    ]
    if EntryKind.CHANGE not in kinds:
        score = sums[1]
    elif len(kinds) == 1:
        score = sums[0]
    else:
        score = f"CASE kind WHEN '{EntryKind.CHANGE.value}' THEN {sums[0]} ELSE {sums[1]} END"
    return f"round(({score}) * {SCORE_STEPS})"


def _sources(
    scope_id: int,
    terms: Sequence[AskedTerm],
    kinds: Collection[str],
    path: bytes | None,
    values: dict[str, Any],
) -> Iterator[str]:
    """Which entries are scored, as statements; another is asked for when one finds too few."""
    if path is not None and path.rstrip(b"/"):
        paths = list(at_or_below(scope_id, path)[:PATHS_LIMIT])
        targets = targets_of(scope_id, paths, TARGETS_OF_PATH)
        if targets is not None:
            values |= targets
            values["rare"] = rarest(terms, sum(asked.df for asked in terms))
            yield OF_TARGETS
        else:
            values["paths"] = paths
            values["sources"] = SourceKind.values
            values["rare"] = rarest(terms, ROWS_SCORED_OF_PATH)
            yield _OF_TERMS.format(rare="terms && %(rare)s::int[]", more=of_paths())
        return
    if kinds == {EntryKind.MEMORY}:
        # People made them: there are few, and all of them are compared.
        values["rare"] = rarest(terms, sum(asked.df for asked in terms))
        yield OF_MEMORIES
        return
    more = "" if EntryKind.CHANGE in kinds else _TEXTS_ALONE
    values["rare"] = rarest(terms, ROWS_SCORED)
    if sum(asked.df for asked in terms if asked.id in values["rare"]) > ROWS_SCORED:
        for together in joined(terms):
            values |= {f"all{place}": one.all_of for place, one in enumerate(together)}
            values |= {f"any{place}": one.any_of for place, one in enumerate(together)}
            held = " OR ".join(_TOGETHER.format(place) for place in range(len(together)))
            yield _OF_TERMS.format(rare=held, more=more)
    yield _OF_TERMS.format(rare="terms && %(rare)s::int[]", more=more)


def kept_beside(
    scope_id: int, entry_ids: Collection[int]
) -> dict[int, tuple[list[int] | None, bytes]]:
    """Return what the second stage reads of entries: the counts of a shape, the neighbours."""
    with connection.cursor() as cursor:
        cursor.execute(_BESIDE, [scope_id, list(entry_ids)])
        rows = cursor.fetchall()
    return {number: (counts, bytes(kept or b"")) for number, counts, kept in rows}
