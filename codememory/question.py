"""A question as weighted terms of one project: what its words are worth there."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache

from codememory.search.analyser import query_terms, term_counts
from codememory.search.known import KnownTerms, known_terms

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
    known: KnownTerms


def ask(scope_id: int, text: str) -> Question:
    """Weigh a question's terms for one project."""
    asked = query_terms(text)
    known = known_terms(scope_id, [term.term for term in asked])
    return Question(
        text=text,
        weights={term.term: term.weight * known.rarity(term.term) for term in asked},
        content_terms=frozenset(t.term for t in asked if t.weight > STOP_WEIGHT_LIMIT),
        known=known,
    )


def rule_matches(scope_id: int, question: Question, rules: Mapping[int, str]) -> dict[int, float]:
    """Return how far a question is about each rule, 0 to 1: the share of the weight of the rule's
    words that the question holds, or of the question's that the rule holds; 0 when there are too
    few of them to say so.
    """
    read = question.content_terms & set(term_counts(question.text))
    asked = {term for term in read if not term.startswith("=")}
    words_of = {pk: _words(statement) for pk, statement in rules.items()}
    known = known_terms(scope_id, list(asked.union(*words_of.values())))
    return {pk: _share(question, asked, words, known) for pk, words in words_of.items()}


@lru_cache(maxsize=2_048)
def _words(statement: str) -> frozenset[str]:
    """The telling words of a rule; every task is compared with the same rules."""
    counts = term_counts(statement)
    plain = " ".join(term for term in counts if not term.startswith("="))
    telling = {term.term for term in query_terms(plain) if term.weight > STOP_WEIGHT_LIMIT}
    return frozenset(telling & set(counts))


def _share(question: Question, asked: Set[str], words: Set[str], known: KnownTerms) -> float:
    matched = words & question.content_terms
    if len(matched) < RULE_WORDS:
        return 0.0
    common = sum(known.rarity(term) for term in matched)
    shares = [
        (common / whole, least)
        for side, least in ((words, RULE_SHARE), (asked, QUESTION_SHARE))
        if (whole := sum(known.rarity(term) for term in side))
    ]
    return max((share for share, least in shares if share >= least), default=0.0)
