# ruff: noqa: RUF001 (letters that look alike are what this file is about)
"""The analyser: one set of terms for what is stored and what is asked."""

from __future__ import annotations

import pytest

from codememory.search.analyser import TERM_LIMIT, query_terms, term_counts, terms


def shared(stored: str, asked: str) -> float:
    """How much of a stored text a question meets, stop words left out."""
    counts = term_counts(stored)
    return sum(q.weight * counts[q.term] for q in query_terms(asked) if q.term in counts)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("今天玩成语接龙游戏", "成语接龙"),
        ("重启设备以后", "设备"),
        ("看早报了吗", "早报"),
        ("打开C盘吧", "C盘"),
        ("打开C盘吧", "盘"),
        ("한국어를 배운다", "한국어"),
        ("загрузка данных из файла", "данных"),
        ("η λέξη εδώ", "λέξη"),
        ("هذه مُحَمَّد هنا", "محمد"),
        ("un café noir", "café"),
        ("un café noir", "cafe"),
        ("İADE talebi", "iade"),
        ("IŞIK hızı", "ışık"),
        ("IŞIK hızı", "isik"),
        ("INIT", "init"),
        ("getUserById", "user by id"),
        ("OrderService.refund", "refund"),
        ("src/refund.py", "refund"),
        ("failed with E1234", "E1234"),
        ("return 404", "404"),
        ("ｆｕｌｌｗｉｄｔｈ", "fullwidth"),
        ("Straße", "STRASSE"),
        ("users_table", "users table"),
    ],
)
def test_it_finds_what_was_stored_in_every_script(stored: str, asked: str) -> None:
    assert shared(stored, asked) >= 0.5


@pytest.mark.parametrize(
    ("exact", "other", "asked"),
    [
        ("ışık", "isik", "ışık"),
        ("isik", "ışık", "isik"),
        ("café", "cafe", "café"),
        ("cafe", "café", "cafe"),
        ("getUserById", "get user by id", "getUserById"),
        ("user_id", "user id", "user_id"),
        ("HTTP404", "http 404", "HTTP404"),
        ("testing", "tests", "testing"),
    ],
)
def test_it_prefers_the_exact_form(exact: str, other: str, asked: str) -> None:
    assert shared(exact, asked) > shared(other, asked) > 0


def test_it_splits_identifiers_and_keeps_them_whole() -> None:
    assert list(terms("parse_HTTPHeader2")) == ["pars", "http", "header", "2", "=parse_httpheader2"]


def test_it_finds_an_identifier_asked_as_neighbouring_words() -> None:
    asked = {query.term for query in query_terms("get user by id")}
    assert {"=get_user", "=getuser", "=getuserbyid"} <= asked


def test_it_counts_repetitions() -> None:
    assert term_counts("refund refunds Refund")["refund"] == 3


def test_it_takes_an_encoded_word_whole() -> None:
    digest = "d41d8cd98f00b204e9800998ecf8427e"
    assert list(terms(digest)) == ["=" + digest]


def test_it_lets_stop_words_count_only_when_alone() -> None:
    assert max(query.weight for query in query_terms("how is it?")) == 1.0
    assert {query.term: query.weight for query in query_terms("how is login")}["is"] < 0.01


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        "\x00",
        '"',
        "* ( : - ) \\",
        "a\x00b",
        "\ud800 lone",
        "x" * 10_000,
        "é" * 10_000,
        "中" * 10_000,
        "word " * 2_000,
        "a1" * 5_000,
        "\u0301\u0307",
        "_" * 500,
        "\U0001f600" * 100,
    ],
)
def test_it_bounds_every_term_of_anything(hostile: str) -> None:
    found = [*terms(hostile), *(query.term for query in query_terms(hostile))]
    assert all(0 < len(term) <= TERM_LIMIT for term in found)
    assert "\x00" not in "".join(found)
    assert "".join(found).encode("utf-8") is not None


def test_it_tells_long_words_apart() -> None:
    assert set(terms("x" * 300 + "a")).isdisjoint({*terms("x" * 400 + "b")} - {*terms("x" * 256)})


def test_it_asks_for_a_bounded_number_of_terms() -> None:
    assert len(query_terms(" ".join(f"word{n}" for n in range(3_000)))) <= 256
