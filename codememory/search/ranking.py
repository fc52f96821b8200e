"""The one ranking formula: field weights into an impact per term, impacts and rarity into a score,
and what the best hits gain by their words' neighbours and by their shape.

Every number is in `weights.json`, which says how it was found. Writers of search rows call
`weigh`; the query has `score_sql` computed, and for its best hits calls `second_score`; `explain`
and `explain_shape` show the same sums part by part.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codememory.search import shape


@dataclass(frozen=True, slots=True)
class FieldWeight:
    """How much a field counts, how strongly its length is held against it, its usual length."""

    weight: float
    length: float
    usual_terms: float


@dataclass(frozen=True, slots=True)
class Part:
    """One term's share of a score, for `--explain`."""

    term: str
    weight: float
    idf: float
    impact: float
    score: float


def _read(name: str) -> dict[str, FieldWeight]:
    return {
        field: FieldWeight(row["w"], row["b"], row["avg"]) for field, row in _WEIGHTS[name].items()
    }


_WEIGHTS = json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))
K1: Final[float] = _WEIGHTS["k1"]
IDF_EXPONENT: Final[float] = _WEIGHTS["idf_exponent"]
CHANGE_FIELDS: Final = _read("change")
TEXT_FIELDS: Final = _read("text")
NEIGHBOUR_WEIGHT: Final[float] = _WEIGHTS["neighbours"]
_SHAPE = _WEIGHTS["shape"]
USUAL_SHAPE: Final = tuple(float(_SHAPE["usual"][name]) for name in shape.FEATURES)
ANY_VERB: Final = tuple(float(_SHAPE["any"][name]) for name in shape.FEATURES)
VERB_SHAPES: Final = {
    verb: tuple(float(_SHAPE["verbs"][verb][name]) for name in shape.FEATURES)
    for verb in shape.VERBS
}

ENTRY_TERMS: Final = 1_000  # of a larger entry only the strongest: its arrays stay on one page

# An impact is kept as the square root in steps of 1/2048: a step is 1 % of an impact of .01 and
# 0.1 % of an impact of 1, and the largest that fits a smallint is 255.9.
QUANTUM: Final = 2048
QUANTISED_LIMIT: Final = 32_767
SCORE_STEPS: Final = 1_000_000  # of a score in one: one in a cursor is compared with one made again


def impacts(
    counts: Mapping[str, Mapping[str, float]], fields: Mapping[str, FieldWeight]
) -> dict[str, float]:
    """BM25F: one impact per term from its weighted, length-normalised counts in every field."""
    return strongest(weigh({}, counts, fields))


def weigh(
    total: dict[str, float],
    counts: Mapping[str, Mapping[str, float]],
    fields: Mapping[str, FieldWeight],
) -> dict[str, float]:
    """Add to each term's impact in `total` what its counts in these fields are worth."""
    for name, terms in counts.items():
        if terms:
            factor = _factor(fields[name], terms)
            for term, count in terms.items():
                total[term] = total.get(term, 0.0) + factor * count
    return total


def _factor(field: FieldWeight, terms: Mapping[str, float]) -> float:
    """What one occurrence counts in a field of this length."""
    length = sum(terms.values()) / field.usual_terms
    return field.weight / (1.0 - field.length + field.length * length)


def explain_fields(
    term: str,
    counts: Mapping[str, Mapping[str, float]],
    fields: Mapping[str, FieldWeight],
) -> dict[str, float]:
    """What each field adds to a term's impact, the most first."""
    found = {
        name: _factor(fields[name], terms) * terms[term]
        for name, terms in counts.items()
        if term in terms
    }
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def strongest(total: dict[str, float]) -> dict[str, float]:
    """The terms that one entry keeps."""
    if len(total) <= ENTRY_TERMS:
        return total
    return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))[:ENTRY_TERMS])


def quantise(impact: float) -> int:
    return min(QUANTISED_LIMIT, max(1, round(math.sqrt(impact) * QUANTUM)))


def dequantise(step: int) -> float:
    return (step / QUANTUM) ** 2


def idf(entries: int, with_term: int) -> float:
    """The rarity of a term that `with_term` of `entries` rows hold."""
    rare = max(0.0, entries - with_term) + 0.5
    return math.pow(math.log(1.0 + rare / (with_term + 0.5)), IDF_EXPONENT)


def saturated(impact: float) -> float:
    return impact / (impact + K1)


def score_sql(terms: Iterable[tuple[float, str]]) -> str:
    """The formula as SQL over the weight times idf of each question term, and the column with the
    step of the impact that a row has for it (0: it has not the term).
    """
    # impact / (impact + K1) where impact is (step / QUANTUM) squared
    parts = (
        f"{float(weight)!r} * ({step} * {step} / ({step} * {step} + {K1 * QUANTUM**2!r}))"
        for weight, step in terms
    )
    return " + ".join(parts)


def shape_weights(verbs: Mapping[str, float]) -> tuple[float, ...]:
    """How much each feature of a shape counts for a question with these classes of verbs."""
    weights = list(ANY_VERB)
    for verb, share in verbs.items():
        for place, weight in enumerate(VERB_SHAPES[verb]):
            weights[place] += share * weight
    return tuple(weights)


def second_score(
    first: float,
    neighbour_idfs: Iterable[float],
    counts: Sequence[int] | None,
    weights: Sequence[float],
) -> float:
    """The whole formula: the first score, the rarity of each question word that stands behind its
    neighbour in the question there too, and the shape (None: none kept) against what is usual.
    """
    fit = 0.0
    if counts is not None:
        fit = sum(
            weight * (found - usual)
            for weight, found, usual in zip(
                weights, shape.features(counts), USUAL_SHAPE, strict=True
            )
        )
    return first + NEIGHBOUR_WEIGHT * sum(neighbour_idfs) + fit


def explain_shape(counts: Sequence[int], weights: Sequence[float]) -> dict[str, float]:
    """What each feature of a shape adds to a score."""
    parts = zip(shape.FEATURES, weights, shape.features(counts), USUAL_SHAPE, strict=True)
    return {name: weight * (found - usual) for name, weight, found, usual in parts}


def explain(rows: Iterable[tuple[str, float, float, float]]) -> list[Part]:
    """The same sum term by term from (term, weight, idf, impact), the largest share first."""
    parts = [
        Part(term, weight, rarity, impact, weight * rarity * saturated(impact))
        for term, weight, rarity, impact in rows
    ]
    return sorted(parts, key=lambda part: (-part.score, part.term))
