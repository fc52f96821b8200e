"""What a text is worth to a question: the weight of the question's distinct terms that it holds."""

from __future__ import annotations

from collections.abc import Mapping

from codememory.search.analyser import parted_words, word_terms


class Worth:
    """Use one for a whole answer: a word that was taken apart once is remembered."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._asked_in: dict[str, tuple[str, ...]] = {}  # word -> terms of the question in it

    def of(self, text: str) -> float:
        found: set[str] = set()
        for word in set(parted_words(text)):
            asked = self._asked_in.get(word)
            if asked is None:
                terms = (term for term, _ in word_terms(word))
                asked = tuple(term for term in terms if term in self._weights)
                self._asked_in[word] = asked
            if asked:
                found.update(asked)
        return sum(self._weights[term] for term in sorted(found))
