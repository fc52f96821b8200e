"""Asks the index: any words in, ranked hits out, page by page; never an error for any question.

All hits get a first score from their terms. The best of them are ranked again by what is kept
beside the terms; the others follow in the order they had.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from codememory.errors import BadCursorError
from codememory.models.search import EntryKind, SearchEntry
from codememory.search import ranking
from codememory.search.analyser import QUERY_LIMIT, query_terms
from codememory.search.candidates import AskedTerm, asked_terms, entries_with, kept_beside
from codememory.search.known import KnownTerms, known_terms
from codememory.search.neighbours import are_neighbours, asked_neighbours, has_pair, pair_number
from codememory.search.shape import verbs

MAX_LIMIT = 500
RANKED_AGAIN = 100  # hits; 500 found nothing more
SCORE_DIGITS = 6  # as many as SCORE_STEPS has


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that holds words of the question; `target_id` is a row of the kind's table."""

    kind: str
    entry_id: int
    target_id: int
    scope_id: int
    score: float


# A hit before anybody looks at it, as it is sorted: (-score, entry, kind, target, scope).
_Row = tuple[float, int, str, int, int]


@dataclass(frozen=True, slots=True)
class Page:
    """Hits, best first, and the cursor of the next page (None: there is none)."""

    hits: tuple[Hit, ...]
    next: str | None


def search(
    scope_ids: Sequence[int],
    question: str,
    kinds: Collection[str] = (),
    path: bytes | None = None,
    limit: int = 20,
    cursor: str | None = None,
    known: Mapping[int, KnownTerms] | None = None,
) -> Page:
    """Rank what the scopes hold for a question; no kinds means all of them.

    `path` keeps what touched that file or anything below that folder; `known` is what was looked up
    of the question's terms before. Raises BadCursorError for a cursor that another question (or
    nobody) was given.
    """
    wanted = {kind.value for kind in EntryKind if not kinds or kind.value in kinds}
    limit = max(1, min(limit, MAX_LIMIT))
    digest = _digest(scope_ids, question, wanted, path)
    last = _position(cursor, digest) if cursor is not None else None
    known = known or {scope_id: terms_of(scope_id, question) for scope_id in scope_ids}
    scopes = {pk: asked_terms(known[pk], question, wanted) for pk in set(scope_ids)}
    # A later page begins anywhere; of the first no more than this can be seen.
    most = RANKED_AGAIN + limit + 1 if last is None else None
    hits: list[_Row] = [
        (-score, entry_id, kind, target_id, scope_id)
        for scope_id, terms in sorted(scopes.items())
        if terms
        for score, entry_id, kind, target_id in entries_with(scope_id, terms, wanted, path, most)
    ]
    hits.sort()
    ranked = _ranked_again(hits, question, scopes)
    found = list(islice((hit for hit in ranked if not last or _order(hit) > last), limit + 1))
    shown = tuple(found[:limit])
    more = len(found) > limit
    return Page(shown, _cursor(shown[-1], digest) if more else None)


def search_each(
    scope_id: int, question: str, kinds: Collection[str], limit: int, known: KnownTerms
) -> dict[str, list[Hit]]:
    """The first hits of each of these kinds, as `search` finds them, in one statement for all.

    The kinds are all texts, or it is one: how rare a term is decides which entries are scored.
    """
    terms = asked_terms(known, question, kinds)
    most = RANKED_AGAIN + limit + 1
    rows = entries_with(scope_id, terms, kinds, None, most, of_each=True) if terms else []
    found: dict[str, list[_Row]] = {kind: [] for kind in kinds}
    for score, entry_id, kind, target_id in rows:
        found[kind].append((-score, entry_id, kind, target_id, scope_id))
    return {
        kind: list(islice(_ranked_again(of_kind, question, {scope_id: terms}), limit))
        for kind, of_kind in found.items()
    }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every part of a score: `terms` make `first`; `neighbours` (a pair of words, what it adds) and
    `shape` (a feature, what it adds) make `second` of it.
    """

    first: float
    second: float
    terms: list[ranking.Part]
    neighbours: list[tuple[str, str, float]]
    verbs: dict[str, float]
    shape: dict[str, float]


def explain(scope_id: int, question: str, entry_id: int) -> Explanation | None:
    """Why an entry has its score; None where there is no such entry.

    A hit beyond the RANKED_AGAIN best is shown with its first score, less what keeps it behind.
    """
    entry = SearchEntry.objects.filter(scope_id=scope_id, pk=entry_id).first()
    if entry is None:
        return None
    impacts = dict(zip(entry.terms, entry.impacts, strict=True))
    terms = asked_terms(terms_of(scope_id, question), question, [entry.kind])
    parts = ranking.explain(
        (asked.term, asked.weight, asked.idf_of(entry.kind), ranking.dequantise(impacts[asked.id]))
        for asked in terms
        if asked.id in impacts
    )
    pairs = _pairs(question, terms, entry.kind)
    there = are_neighbours(bytes(entry.neighbours or b""), [pair for pair, _ in pairs])
    found = [pair for pair, is_there in zip(pairs, there, strict=True) if is_there]
    weights = ranking.shape_weights(verbs(question))
    first = sum(part.score for part in parts)
    return Explanation(
        first=first,
        second=ranking.second_score(first, (rarity for _, rarity in found), entry.shape, weights),
        terms=parts,
        neighbours=[(*pair, ranking.NEIGHBOUR_WEIGHT * rarity) for pair, rarity in found],
        verbs=verbs(question),
        shape=ranking.explain_shape(entry.shape, weights) if entry.shape else {},
    )


def _order(hit: Hit) -> tuple[float, int]:
    return -hit.score, hit.entry_id


def terms_of(scope_id: int, question: str) -> KnownTerms:
    """What a scope knows of a question's terms."""
    return known_terms(scope_id, [asked.term for asked in query_terms(question)])


def _hit(row: _Row, behind: float = 0.0) -> Hit:
    first, entry_id, kind, target_id, scope_id = row
    score = -first if not behind else round(-first - behind, SCORE_DIGITS)
    return Hit(kind, entry_id, target_id, scope_id, score)


def _ranked_again(
    rows: Sequence[_Row], question: str, scopes: Mapping[int, Sequence[AskedTerm]]
) -> Iterator[Hit]:
    """Give the best hits their second score; the others stay behind the last of them."""
    best, others = [_hit(row) for row in rows[:RANKED_AGAIN]], rows[RANKED_AGAIN:]
    weights = ranking.shape_weights(verbs(question))
    again = []
    for scope_id in {hit.scope_id for hit in best}:
        of_scope = [hit for hit in best if hit.scope_id == scope_id]
        beside = kept_beside(scope_id, [hit.entry_id for hit in of_scope])
        pairs = {
            kind: [
                (pair_number(pair), rarity)
                for pair, rarity in _pairs(question, scopes[scope_id], kind)
            ]
            for kind in {hit.kind for hit in of_scope}
        }
        for hit in of_scope:
            counts, kept = beside.get(hit.entry_id, (None, b""))
            rare = [rarity for number, rarity in pairs[hit.kind] if has_pair(kept, number)]
            score = ranking.second_score(hit.score, rare, counts, weights)
            again.append(replace(hit, score=round(score, SCORE_DIGITS)))
    again.sort(key=_order)
    yield from again
    behind = max(0.0, -others[0][0] - again[-1].score) if others else 0.0
    for row in others:
        yield _hit(row, behind)


def _pairs(
    question: str, terms: Sequence[AskedTerm], kind: str
) -> list[tuple[tuple[str, str], float]]:
    """Neighbours of the question that the scope knows, with the rarity of the second."""
    rarity = {asked.term: asked.idf_of(kind) for asked in terms}
    pairs = asked_neighbours(question[:QUERY_LIMIT])
    return [(pair, rarity[pair[1]]) for pair in pairs if rarity.keys() >= set(pair)]


def _digest(
    scope_ids: Sequence[int], question: str, kinds: Collection[str], path: bytes | None
) -> str:
    """Identify a question, so that the cursor of another one is refused."""
    asked = repr((sorted(set(scope_ids)), question, sorted(kinds), path))
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _cursor(last: Hit, digest: str) -> str:
    text = json.dumps([last.score, last.entry_id, digest])
    return base64.urlsafe_b64encode(text.encode("ascii")).decode("ascii")


def _position(cursor: str, digest: str) -> tuple[float, int]:
    try:
        score, entry_id, of = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
        position = (-float(score), int(entry_id))
    except (ValueError, TypeError, OverflowError, binascii.Error, RecursionError):
        raise BadCursorError from None
    if of != digest:
        raise BadCursorError
    return position
