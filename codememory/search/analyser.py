"""Turns text into search terms, for indexing and for asking alike.

A term is a plain string: a folded, stemmed part (`user`), a whole form (`=getuserbyid`, `=café`), a
bigram of a script without spaces, or the digest of something very long. Used by every writer of
search rows and by the query.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import Stemmer

from codememory.search.stopwords import CHANGE_VERBS, STOPWORDS

STEM_CUT = 3  # a stem that lost so many letters may be another word: the whole stays beside it
TERM_LIMIT = 64  # characters; a longer term keeps its head and a digest
WORD_LIMIT = 256  # of a longer word only this much is taken apart
QUERY_LIMIT = 10_000  # characters of a question that are read
QUERY_TERM_LIMIT = 256
QUERY_RUN = 4  # up to so many neighbours of a question are tried as one identifier

PART_WEIGHT = 1.0
WHOLE_WEIGHT = 0.5
JOINED_WEIGHT = 0.22
STOP_SHARE = 0.0012
VERB_SHARE = 0.3  # measured on five repositories: MRR .417 to .425
FOLDED_SHARE = 0.8  # an accent or a dotted I was folded away: a little less than the plain word

_WORD = re.compile(r"\w+")
_ASCII_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_OPAQUE = re.compile(r"(?=.{20})(?:[A-Za-z]*\d+){4}")  # digests and encoded bytes: no words inside
_TURKISH = re.compile("[\u0130\u0131ŞşĞğ]")
_DOTLESS = "\u0131"
_TURKISH_LOWER = {ord("I"): _DOTLESS, ord("İ"): "i"}
_FIRST_MARK = "\u0300"
_stem = Stemmer.Stemmer("english", 0).stemWord


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term that a question asks for, with how much its kind of match is worth."""

    term: str
    weight: float


def terms(text: str) -> Iterator[str]:
    """Every term of a text in order, with repetitions."""
    for word in parted_words(text):
        for term, _ in word_terms(word):
            yield term


def term_counts(text: str) -> dict[str, float]:
    """How often each term occurs; a folded form counts a little less than a plain one."""
    counts: dict[str, float] = {}
    known = counts.get
    for word, times in Counter(parted_words(text)).items():
        # Most words are short: one call less for each is felt over a whole history.
        for term, share in _word_terms(word) if len(word) <= WORD_LIMIT else word_terms(word):
            counts[term] = known(term, 0.0) + share * times
    return counts


@lru_cache(maxsize=32)  # an answer asks for those of its question again and again
def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """The distinct terms of a question, heaviest first; weak words count fully only when alone."""
    words = parted_words(text[:QUERY_LIMIT])
    weights: dict[str, float] = {}
    is_only_weak = all(_share(word) < 1.0 for word in words)
    for word in words:
        whole_share = 1.0 if is_only_weak else _share(word)
        for term, _ in word_terms(word):
            kind = WHOLE_WEIGHT if term[0] == "=" else PART_WEIGHT
            share = whole_share if is_only_weak else min(whole_share, _share(term))
            weights[term] = max(weights.get(term, 0.0), kind * share)
    for term in _joined(words):
        weights.setdefault(term, JOINED_WEIGHT)
    ranked = sorted(weights.items(), key=lambda pair: -pair[1])[:QUERY_TERM_LIMIT]
    return tuple(QueryTerm(term, weight) for term, weight in ranked)


def _share(word: str) -> float:
    """How much of its weight a word of a question keeps."""
    folded = word.casefold()
    if folded in STOPWORDS:
        return STOP_SHARE
    return VERB_SHARE if folded in CHANGE_VERBS else 1.0


def word_terms(word: str) -> tuple[tuple[str, float], ...]:
    """The terms of one word with their shares; cached, since code repeats its words."""
    if len(word) <= WORD_LIMIT:
        return _word_terms(word)
    return ((_bounded("=" + _fold(word)), 1.0), *_word_terms.__wrapped__(word[:WORD_LIMIT]))


def parted_words(text: str) -> list[str]:
    """The words of a text in order, as `word_terms` takes them apart."""
    return _WORD.findall(text if text.isascii() else _composed(text))


def _composed(text: str) -> str:
    """One spelling for what looks the same; marks go where `\\w` would break a word at them."""
    composed = unicodedata.normalize("NFKC", text)
    if max(composed, default="") < _FIRST_MARK:
        return composed
    return "".join(c for c in composed if unicodedata.category(c)[0] != "M")


@lru_cache(maxsize=32_768)
def _word_terms(word: str) -> tuple[tuple[str, float], ...]:
    if word.isascii():
        return _ascii_terms(word)
    return _unicode_terms(word)


def _ascii_terms(word: str) -> tuple[tuple[str, float], ...]:
    whole = "=" + word.lower()
    if _OPAQUE.match(word):
        return ((_bounded(whole), 1.0),)
    parts = _ASCII_PART.findall(word)
    found = [(_bounded(_stem(part.lower())), 1.0) for part in parts]
    if len(parts) > 1 or (parts and len(parts[0]) - len(found[0][0]) >= STEM_CUT):
        found.append((_bounded(whole), 1.0))
    return tuple(found)


def _unicode_terms(word: str) -> tuple[tuple[str, float], ...]:
    found: list[tuple[str, float]] = []
    runs = _script_runs(word)
    for script, run in runs:
        if script == "dense":
            found.extend((gram, 1.0) for gram in _grams(run))
        else:
            found.extend(_letter_terms(run))
    for (_, left), (_, right) in pairwise(runs):  # the seam of `C盘` is a term as well
        found.append((_bounded(_fold(left)[-8:] + _fold(right)[:1]), 1.0))
    exact = _exact(word)
    is_dense_text = len(runs) == 1 and runs[0][0] == "dense" and not _is_hangul(word[0])
    if not is_dense_text and (len(runs) > 1 or exact != found[0][0] or len(found) > 1):
        found.append((_bounded("=" + exact), 1.0))
    return tuple(pair for pair in found if pair[0])


def _letter_terms(run: str) -> Iterator[tuple[str, float]]:
    for part in _cased_parts(run):
        folded = _fold(part)
        stem = _stem(folded) if folded.isascii() else folded
        share = FOLDED_SHARE if folded != part.casefold() else 1.0
        yield _bounded(stem), share


def _grams(run: str) -> Iterator[str]:
    """Bigrams, and each character too, so that a single ideograph can be asked for."""
    folded = _fold(run)
    yield from (a + b for a, b in pairwise(folded))
    yield from folded


def _script_runs(word: str) -> list[tuple[str, str]]:
    runs: list[tuple[str, str]] = []
    for character in word:
        if character == "_":
            script = "gap"
        elif _is_dense(character):
            script = "dense"
        else:
            script = "digit" if character.isdigit() else "letter"
        if runs and runs[-1][0] == script:
            runs[-1] = (script, runs[-1][1] + character)
        else:
            runs.append((script, character))
    return [run for run in runs if run[0] != "gap"]


def _cased_parts(run: str) -> Iterator[str]:
    start = 0
    for index in range(1, len(run)):
        if run[index].isupper() and run[index - 1].islower():
            yield run[start:index]
            start = index
    yield run[start:]


def _is_dense(character: str) -> bool:
    """Scripts that write words without spaces or glue particles to them: searched by bigram."""
    code = ord(character)
    return (
        0x3040 <= code <= 0x30FF
        or 0x3400 <= code <= 0x9FFF
        or 0x0E00 <= code <= 0x0EFF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
        or _is_hangul(character)
    )


def _is_hangul(character: str) -> bool:
    return 0xAC00 <= ord(character) <= 0xD7AF


def _fold(text: str) -> str:
    """The form without accents, in which a dotted and a dotless I are the same letter."""
    split = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(c for c in split if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", kept.replace(_DOTLESS, "i"))


def _exact(word: str) -> str:
    """Lower case with its accents; a word with Turkish letters is lowered the Turkish way."""
    lowered = word.translate(_TURKISH_LOWER) if _TURKISH.search(word) else word
    return unicodedata.normalize("NFC", lowered.casefold())


def _joined(words: list[str]) -> Iterator[str]:
    """Neighbours written as one: `=user_id`, `=userid`, `userid`."""
    for size in range(2, QUERY_RUN + 1):
        for start in range(len(words) - size + 1):
            run = [word.lower() for word in words[start : start + size]]
            whole = "".join(run)
            if len(whole) > TERM_LIMIT:
                continue
            yield "=" + "_".join(run)
            yield "=" + whole
            if size == 2:
                yield _stem(whole)


def _bounded(term: str) -> str:
    if len(term) <= TERM_LIMIT:
        return term
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{term[: TERM_LIMIT - 33]}~{digest}"
