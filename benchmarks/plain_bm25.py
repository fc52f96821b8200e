"""A plain BM25 over words, the yardstick of `fx.py` and `questions.py`: k1 1.5, b .75, lower case.

It knows no fields, no stems, no identifiers and no stop words.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict

K1, B = 1.5, 0.75
WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


class PlainBM25:
    """Add every text, then ask; names are whatever the caller calls them."""

    def __init__(self) -> None:
        self._lengths: dict[str, int] = {}
        self._postings: dict[str, list[tuple[str, int]]] = defaultdict(list)

    def add(self, name: str, text: str) -> None:
        counts = Counter(words(text))
        self._lengths[name] = counts.total()
        for word, times in counts.items():
            self._postings[word].append((name, times))

    def __contains__(self, name: str) -> bool:
        return name in self._lengths

    def scores(self, question: str) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        texts = len(self._lengths)
        usual = sum(self._lengths.values()) / max(1, texts)
        for word in words(question):
            held = self._postings.get(word, [])
            rarity = math.log(1 + (texts - len(held) + 0.5) / (len(held) + 0.5))
            for name, times in held:
                norm = K1 * (1 - B + B * self._lengths[name] / usual)
                found[name] += rarity * times * (K1 + 1) / (times + norm)
        return found

    def rank(self, question: str, right: set[str]) -> int | None:
        """One more than the texts that score strictly higher than the best right one."""
        found = self.scores(question)
        best = max((found.get(name, 0.0) for name in right), default=0.0)
        return 1 + sum(score > best for score in found.values()) if best > 0 else None
