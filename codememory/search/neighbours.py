"""Which words stand beside each other in a text, kept as a Bloom filter beside its terms.

A question's words that are neighbours in a text too tell more than the same words far apart. About
one in forty pairs that is asked for and not there is said to be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from zlib import crc32

from codememory.search.analyser import TERM_LIMIT, parted_words, word_terms
from codememory.search.stopwords import STOPWORDS

REACH = 2  # positions after a word at which another is its neighbour
PAIR_BITS = 12
MOST_WORDS = 500  # from the start of what is read: more of it finds nothing more
_FIRST, _SECOND = 0x9E3779B1, 0x85EBCA77
_MASK = 0xFFFFFFFF


def neighbours_of(texts: Iterable[str]) -> bytes:
    """The filter of every pair of neighbours in texts, read one behind the other."""
    numbers: list[int] = []
    for text in texts:
        numbers += chain.from_iterable(map(_numbers, parted_words(text)))
        if len(numbers) >= MOST_WORDS:
            break
    del numbers[MOST_WORDS:]
    pairs = {
        (left * _FIRST + right) & _MASK
        for apart in range(1, REACH + 1)
        for left, right in zip(numbers, numbers[apart:], strict=False)
    }
    return _filter(pairs)


def asked_neighbours(question: str) -> list[tuple[str, str]]:
    """Pairs of terms that follow each other in a question, stop words left out; each term once."""
    found: list[str] = []
    for word in parted_words(question):
        if word.casefold() not in STOPWORDS:
            found += [term for term, _ in word_terms(word) if term[0] != "="]
    distinct = list(dict.fromkeys(found))
    return list(pairwise(distinct))


def are_neighbours(kept: bytes, pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Tell of each pair whether it is in the filter."""
    return [has_pair(kept, pair_number(pair)) for pair in pairs]


def pair_number(pair: tuple[str, str]) -> int:
    """What stands for a pair in a filter."""
    left, right = pair
    return (_number(left) * _FIRST + _number(right)) & _MASK


def has_pair(kept: bytes, number: int) -> bool:
    """Whether a filter holds the pair of that number."""
    bits = len(kept) * 8
    if not bits:
        return False
    first, second = number % bits, ((number ^ number >> 15) * _SECOND & _MASK) % bits
    return bool(kept[first >> 3] >> (first & 7) & kept[second >> 3] >> (second & 7) & 1)


def _filter(pairs: set[int]) -> bytes:
    bits = -(-len(pairs) * PAIR_BITS // 8) * 8
    if not bits:
        return b""
    kept = bytearray(bits // 8)
    for pair in pairs:  # two places each, as `has_pair` looks for them
        place = pair % bits
        kept[place >> 3] |= 1 << (place & 7)
        place = ((pair ^ pair >> 15) * _SECOND & _MASK) % bits
        kept[place >> 3] |= 1 << (place & 7)
    return bytes(kept)


@lru_cache(maxsize=32_768)
def _numbers(word: str) -> tuple[int, ...]:
    return tuple(_number(term) for term, _ in word_terms(word) if term[0] != "=")


def _number(term: str) -> int:
    return crc32(term[:TERM_LIMIT].encode("utf-8", "surrogatepass"))
