"""Asks the index: any words in, ranked hits out, page by page; never an error for any question."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from codememory.errors import BadCursorError
from codememory.models.search import EntryKind, SearchEntry
from codememory.search import ranking
from codememory.search.candidates import asked_terms, entries_with

MAX_LIMIT = 500
SCORE_DIGITS = 6  # a score in a cursor is compared with one that is computed again


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that holds words of the question; `target_id` is a row of the kind's table."""

    kind: str
    entry_id: int
    target_id: int
    scope_id: int
    score: float


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
) -> Page:
    """Rank what the scopes hold for a question; no kinds means all of them.

    `path` keeps what touched that file or anything below that folder. Raises BadCursorError for a
    cursor that another question (or nobody) was given.
    """
    wanted = {kind.value for kind in EntryKind if not kinds or kind.value in kinds}
    limit = max(1, min(limit, MAX_LIMIT))
    digest = _digest(scope_ids, question, wanted, path)
    last = _position(cursor, digest) if cursor is not None else None
    hits = [
        hit
        for scope_id in sorted(set(scope_ids))
        for hit in _scored(scope_id, question, wanted, path)
        if last is None or (-hit.score, hit.entry_id) > last
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.entry_id))
    shown = tuple(hits[:limit])
    more = len(hits) > limit
    return Page(shown, _cursor(shown[-1], digest) if more else None)


def explain(scope_id: int, question: str, entry_id: int) -> list[ranking.Part]:
    """Why an entry has its score: every term of the question that it holds, largest share first."""
    entry = SearchEntry.objects.filter(scope_id=scope_id, pk=entry_id).first()
    if entry is None:
        return []
    impacts = dict(zip(entry.terms, entry.impacts, strict=True))
    return ranking.explain(
        (asked.term, asked.weight, asked.idf_of(entry.kind), ranking.dequantise(impacts[asked.id]))
        for asked in asked_terms(scope_id, question, [entry.kind])
        if asked.id in impacts
    )


def _scored(scope_id: int, question: str, kinds: Collection[str], path: bytes | None) -> list[Hit]:
    terms = asked_terms(scope_id, question, kinds)
    if not terms:
        return []
    worth = {kind: [asked.weight * asked.idf_of(kind) for asked in terms] for kind in kinds}
    hits = []
    for entry_id, kind, target_id, *steps in entries_with(scope_id, terms, kinds, path):
        held = (
            (weight, ranking.dequantise(step))
            for weight, step in zip(worth[kind], steps, strict=True)
            if step is not None
        )
        score = round(ranking.score(held), SCORE_DIGITS)
        hits.append(Hit(kind, entry_id, target_id, scope_id, score))
    return hits


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
