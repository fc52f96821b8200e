"""A question as weighted terms of one project: what its words are worth there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codememory.models import SearchTerm, SearchTotal
from codememory.search.analyser import query_terms, term_counts
from codememory.search.ranking import idf

# A rule applies when the question holds this share of the weight of the rule's own words, or the
# rule this share of the question's (a short task beside a long rule) ...
RULE_SHARE = 0.3
QUESTION_SHARE = 0.5
# ... and at least so many distinct words are in both.
RULE_WORDS = 2
STOP_WEIGHT_LIMIT = 0.05  # below it a question's term is a stop word


@dataclass(frozen=True, slots=True)
class Question:
    """`weights` is the worth of each term: its kind of match times its rarity in the project."""

    text: str
    weights: Mapping[str, float]
    content_terms: frozenset[str]


def rarity(scope_id: int, terms: Iterable[str]) -> dict[str, float]:
    """Return the inverse document frequency of terms over all entries of a project."""
    wanted = list(set(terms))
    total = SearchTotal.objects.filter(scope_id=scope_id).first()
    entries = (total.changes + total.texts) if total else 0
    rows = SearchTerm.objects.filter(scope_id=scope_id, term__in=wanted)
    found = {term: a + b for term, a, b in rows.values_list("term", "df_change", "df_text")}
    return {term: idf(entries, found.get(term, 0)) for term in wanted}


def ask(scope_id: int, text: str) -> Question:
    """Weigh a question's terms for one project."""
    asked = query_terms(text)
    rare = rarity(scope_id, (term.term for term in asked))
    return Question(
        text=text,
        weights={term.term: term.weight * rare[term.term] for term in asked},
        content_terms=frozenset(t.term for t in asked if t.weight > STOP_WEIGHT_LIMIT),
    )


def rule_match(scope_id: int, question: Question, statement: str) -> float:
    """Return how far a question is about a rule, 0 to 1: the share of the weight of the rule's
    words that the question holds, or of the question's that the rule holds; 0 when there are too
    few of them to say so.
    """
    words = {term for term in term_counts(statement) if not term.startswith("=")}
    words = {term.term for term in query_terms(" ".join(words)) if term.weight > STOP_WEIGHT_LIMIT}
    words &= set(term_counts(statement))
    matched = words & question.content_terms
    if len(matched) < RULE_WORDS:
        return 0.0
    read = question.content_terms & set(term_counts(question.text))
    asked = {term for term in read if not term.startswith("=")}
    rare = rarity(scope_id, words | asked)
    common = sum(rare[term] for term in matched)
    shares = [
        (common / whole, least)
        for side, least in ((words, RULE_SHARE), (asked, QUESTION_SHARE))
        if (whole := sum(rare[term] for term in side))
    ]
    return max((share for share, least in shares if share >= least), default=0.0)
