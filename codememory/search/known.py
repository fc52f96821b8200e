"""What the index of a project knows of words: which terms it has, and in how many entries each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import connection

from codememory.search.ranking import idf

_TERMS = """
    SELECT term.term, term.id, term.df_change, term.df_text, total.changes, total.texts
    FROM codememory_searchtotal AS total
    LEFT JOIN codememory_searchterm AS term
    ON term.scope_id = total.scope_id AND term.term = ANY(%s)
    WHERE total.scope_id = %s
"""


@dataclass(frozen=True, slots=True)
class KnownTerms:
    """Of the terms that were asked for those that a project has: (id, in changes, in texts)."""

    changes: int
    texts: int
    terms: Mapping[str, tuple[int, int, int]]

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a term over all entries of the project."""
        _, in_changes, in_texts = self.terms.get(term, (0, 0, 0))
        return idf(self.changes + self.texts, in_changes + in_texts)


def known_terms(scope_id: int, terms: Collection[str]) -> KnownTerms:
    """Look terms up, all in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_TERMS, [list(terms), scope_id])
        rows = cursor.fetchall()
    if not rows:
        return KnownTerms(0, 0, {})
    *_, changes, texts = rows[0]
    found = {
        term: (number, in_changes, in_texts)
        for term, number, in_changes, in_texts, _, _ in rows
        if term is not None  # none of them is known: one row with the totals alone
    }
    return KnownTerms(changes, texts, found)
