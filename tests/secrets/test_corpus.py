"""Planted secrets of every kind are cut out, wherever they stand and however they are split."""

from __future__ import annotations

import pytest

from collectors.redact import find_secrets, redact, redact_path
from tests.secrets.corpus import PLACES, Planted, leaks, plant
from tests.secrets.kinds import KINDS

KEY = b"k" * 32
SEED = 20_261_130
LEAST_RECALL = 0.99


def redacted(planted: Planted) -> str:
    raw = planted.text.encode()
    if planted.place == "path":
        return redact_path(raw, KEY).decode()
    return redact(raw, find_secrets(raw), KEY)[0].decode()


def test_the_corpus_has_forty_kinds_and_more_in_every_place() -> None:
    corpus = list(plant(SEED, 1))
    assert len(KINDS) >= 40
    assert {planted.kind for planted in corpus} == {kind.name for kind in KINDS}
    assert {planted.place for planted in corpus} == set(PLACES)


def test_the_corpus_is_the_same_for_the_same_seed() -> None:
    assert list(plant(5, 1)) == list(plant(5, 1)) != list(plant(6, 1))


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_planted_secrets_is_left(place: str) -> None:
    corpus = [planted for planted in plant(SEED, 2) if planted.place == place]
    missed = [planted for planted in corpus if leaks(planted, redacted(planted))]
    assert len(missed) <= (1 - LEAST_RECALL) * len(corpus), missed[:3]


def test_every_kind_is_found() -> None:
    corpus = list(plant(SEED, 2))
    missed = {planted.kind for planted in corpus if leaks(planted, redacted(planted))}
    for kind in missed:
        mine = [planted for planted in corpus if planted.kind == kind]
        assert sum(not leaks(each, redacted(each)) for each in mine) >= 0.9 * len(mine), kind


def test_what_is_found_does_not_depend_on_what_was_read_before() -> None:
    texts = [planted.text.encode() for planted in plant(7, 1)]
    first = [find_secrets(text) for text in texts]
    assert [find_secrets(text) for text in reversed(texts)] == first[::-1]


def test_the_words_around_a_secret_stay() -> None:
    planted = next(each for each in plant(SEED, 1) if each.kind == "github token")
    before, _, after = planted.text.partition(planted.secret)
    text = redacted(planted)
    assert text.startswith(before)
    assert text.endswith(after)
