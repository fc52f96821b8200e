"""Finds the entries that hold a question's terms, and what each of those terms counts there.

The reading half of search: the statements and nothing of the ranking.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from codememory.models.search import EntryKind
from codememory.path_filter import at_or_below
from codememory.search.analyser import query_terms
from codememory.search.ranking import idf

ASKED_TERMS = 32  # the heaviest terms of a question; the rest of a long text adds noise and time
# Rarest terms pick the rows to score until they promise so many; common words only add to a score.
# 2,000 lose nothing in 3,800 changes (MRR .3575 both), 1,000 lose .002.
ROWS_SCORED = 2_000
ROWS_SCORED_OF_PATH = 20_000  # a path leaves few of them
STOP_WEIGHT_LIMIT = 0.01
PATHS_LIMIT = 10_000

_TERMS = """
    SELECT term.term, term.id, term.df_change, term.df_text, total.changes, total.texts
    FROM codememory_searchterm AS term
    JOIN codememory_searchtotal AS total ON total.scope_id = term.scope_id
    WHERE term.scope_id = %s AND term.term = ANY(%s)
"""
# `scope_id + 0`: with the plain column the planner joins a second index scan in, at a flat cost.
_ENTRIES = """
    SELECT id, kind, coalesce(logical_change_id, segment_id, candidate_id, memory_id), {impacts}
    FROM codememory_searchentry AS entry
    WHERE scope_id + 0 = %(scope)s AND kind = ANY(%(kinds)s) AND terms && %(rare)s::int[]{path}
"""
# `terms` is sorted: width_bucket finds a term by binary search, array_position walks.
_IMPACT = """
    CASE WHEN terms[width_bucket({term}, terms)] = {term}
    THEN impacts[width_bucket({term}, terms)] END"""
_BESIDE = """
    SELECT id, shape, neighbours FROM codememory_searchentry
    WHERE scope_id = %s AND id = ANY(%s)
"""
_OF_PATH = """ AND CASE kind
    WHEN 'change' THEN logical_change_id IN (
        SELECT logical_change_id FROM codememory_filechange WHERE scope_id = %(scope)s
        AND logical_change_id IS NOT NULL
        AND (new_path_id = ANY(%(paths)s) OR old_path_id = ANY(%(paths)s)))
    WHEN 'section' THEN segment_id IN (SELECT id FROM {segments})
    ELSE entry.candidate_id IN ({links_of_candidates}) OR entry.memory_id IN ({links_of_memories})
    END"""
_LINKS = """
    SELECT {claim} FROM codememory_evidencelink WHERE scope_id = %(scope)s
    AND {claim} IS NOT NULL AND segment_id IN (SELECT id FROM {segments})"""
_SEGMENTS = """(
    SELECT segment.id FROM codememory_evidencesegment AS segment
    JOIN codememory_sourcerevision AS revision
    ON revision.scope_id = segment.scope_id AND revision.id = segment.revision_id
    WHERE segment.scope_id = %(scope)s AND revision.path_id = ANY(%(paths)s)) AS of_path"""


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A question's term as one scope knows it: the worth of the match, rarity in each group."""

    term: str
    id: int
    weight: float
    df: int
    change_idf: float
    text_idf: float

    def idf_of(self, kind: str) -> float:
        return self.change_idf if kind == EntryKind.CHANGE else self.text_idf


def asked_terms(scope_id: int, question: str, kinds: Collection[str]) -> list[AskedTerm]:
    """The question's terms that entries of these kinds hold, rarest first."""
    weights = {asked.term: asked.weight for asked in query_terms(question)}
    with connection.cursor() as cursor:
        cursor.execute(_TERMS, [scope_id, list(weights)])
        rows = cursor.fetchall()
    found = []
    for term, number, in_changes, in_texts, changes, texts in rows:
        df = (in_changes if EntryKind.CHANGE in kinds else 0) + (
            in_texts if any(kind != EntryKind.CHANGE for kind in kinds) else 0
        )
        if df > 0:
            rarity = (idf(changes, in_changes), idf(texts, in_texts))
            found.append(AskedTerm(term, number, weights[term], df, *rarity))
    found.sort(
        key=lambda asked: (-asked.weight * max(asked.change_idf, asked.text_idf), asked.term)
    )
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


def entries_with(
    scope_id: int, terms: Sequence[AskedTerm], kinds: Collection[str], path: bytes | None
) -> list[tuple[Any, ...]]:
    """Rows of (entry id, kind, target id, then each term's quantised impact or None)."""
    values: dict[str, Any] = {"scope": scope_id, "kinds": sorted(kinds)}
    values["rare"] = rarest(terms, ROWS_SCORED if path is None else ROWS_SCORED_OF_PATH)
    values.update({f"term{place}": asked.id for place, asked in enumerate(terms)})
    impacts = ", ".join(_IMPACT.format(term=f"%(term{place})s::int") for place in range(len(terms)))
    of_path = ""
    with transaction.atomic(), connection.cursor() as cursor:
        if path is not None and path.rstrip(b"/"):
            values["paths"] = list(at_or_below(scope_id, path)[:PATHS_LIMIT])
            of_path = _of_path()
        # Comparing arrays row by row costs far more than the planner believes.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(_ENTRIES.format(impacts=impacts, path=of_path), values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        cursor.execute("SET LOCAL enable_seqscan TO DEFAULT")
    return rows


def kept_beside(
    scope_id: int, entry_ids: Collection[int]
) -> dict[int, tuple[list[int] | None, bytes]]:
    """Return what the second stage reads of entries: the counts of a shape, the neighbours."""
    with connection.cursor() as cursor:
        cursor.execute(_BESIDE, [scope_id, list(entry_ids)])
        rows = cursor.fetchall()
    return {number: (counts, bytes(kept or b"")) for number, counts, kept in rows}


def _of_path() -> str:
    links = {
        f"links_of_{name}": _LINKS.format(claim=f"{claim}_id", segments=_SEGMENTS)
        for name, claim in (("candidates", "candidate"), ("memories", "memory"))
    }
    return _OF_PATH.format(segments=_SEGMENTS, **links)
