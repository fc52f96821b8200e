"""What SQL creates, in the dialects that people write."""

from __future__ import annotations

import pytest

from collectors.symbol_languages import language_named
from collectors.symbol_values import SymbolTable
from collectors.symbols import extract


def read(text: str) -> SymbolTable:
    return extract(text.encode(), language_named("SQL"))


def names(text: str) -> list[str]:
    return [f"{one.kind} {one.name}" for one in read(text).symbols]


DIALECTS = {
    "a quoted body": (
        (
            "CREATE FUNCTION f() RETURNS int AS $body$\nBEGIN\n  CREATE TABLE ghost (a int);\n"
            "END;\n$body$ LANGUAGE plpgsql;\nCREATE TABLE t (a int);"
        ),
        ["FUNCTION f", "TABLE t"],
    ),
    "a client's delimiter": (
        (
            "DELIMITER $$\nCREATE PROCEDURE p()\nBEGIN\n  SELECT 1;\nEND$$\nDELIMITER ;\n"
            "create table `a`.`b` (x int);"
        ),
        ["FUNCTION p", "TABLE a.b"],
    ),
    "go": (
        "CREATE PROC [dbo].[p] AS\nBEGIN\n  SELECT 1;\nEND\nGO\nCREATE VIEW v AS SELECT 2\ngo\n",
        ["FUNCTION dbo.p", "VIEW v"],
    ),
    "loops": (
        (
            "CREATE PROCEDURE p() BEGIN WHILE a DO SET b = 1; END WHILE; IF a THEN SET b = 2;"
            " END IF; CASE WHEN c THEN d; END CASE; END;\nCREATE DOMAIN d AS int;"
        ),
        ["FUNCTION p", "TYPE d"],
    ),
    "strings and comments": (
        (
            "-- CREATE TABLE a (x int);\n/* CREATE TABLE b (x int); */\n"
            "SELECT 'it''s; CREATE TABLE c';\nSELECT E'\\'; CREATE TABLE d (x int)';\n"
            "CREATE TEMP TABLE IF NOT EXISTS e (x int);"
        ),
        ["TABLE e"],
    ),
    "a routine whose end is missing": (
        "CREATE FUNCTION f() AS BEGIN x;\nCREATE TABLE t (a int);",
        ["FUNCTION f", "TABLE t"],
    ),
    "nothing": ("", []),
    "no end": ("CREATE TABLE t (a int", ["TABLE t"]),
    "no SQL": ("{{ a template }} create nothing", []),
}


@pytest.mark.parametrize(("text", "expected"), DIALECTS.values(), ids=DIALECTS)
def test_what_is_created(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_comment_in_a_quoted_body_is_no_change_of_it() -> None:
    text = "CREATE FUNCTION f() RETURNS int AS $$ SELECT 1; $$ LANGUAGE sql;"
    before, after = (read(text.replace("1;", end)).symbols[0] for end in ("1;", "1; -- why\n"))
    assert before.body_hash == after.body_hash
    assert before.signature == "CREATE FUNCTION f() RETURNS int"


def test_ranges_go_from_create_to_the_last_character() -> None:
    text = "SELECT 1;\n\n  CREATE VIEW v AS\n    SELECT 'a;b' ;\n"
    (one,) = read(text).symbols
    assert text[one.start : one.end] == "CREATE VIEW v AS\n    SELECT 'a;b'"
    assert (one.first_line, one.last_line) == (3, 4)
