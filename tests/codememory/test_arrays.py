"""Lists reach PostgreSQL as they are, whatever stands in them."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DataError, connection

from codememory.arrays import FastListDumper

pytestmark = pytest.mark.django_db

NASTY = [
    "",
    " ",
    "null",
    "NULL",
    "a,b",
    '"',
    "\\",
    '\\"',
    "{}",
    "é🙂",
    "a\nb",
    "it's",
    "\u2028",
    "%s",
]


def back(values: list[Any], kind: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT %s::{kind}[]", [values])
        return cursor.fetchone()[0]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "bigint"),
        ([0, -1, 2**62, 7], "bigint"),
        ([None, 3, None], "int"),
        ([None, None], "text"),
        ([1.5, -0.0, 1e300, 2.5e-9], "float8"),
        ([float("inf"), float("-inf"), None], "float8"),
        ([True, False, None], "boolean"),
        (NASTY, "text"),
        ([*NASTY, None], "text"),
        ([b"", b"\\x00", bytes(range(256)), None], "bytea"),
        ([[1, 2], [3, 4]], "int"),
        ([["a", '"'], ["\\", "b"]], "text"),
    ],
)
def test_what_is_sent_as_an_array_comes_back(values: list[Any], kind: str) -> None:
    assert back(values, kind) == values


def test_a_connection_uses_it() -> None:
    connection.ensure_connection()
    wrapped = connection.connection
    assert wrapped is not None
    assert wrapped.adapters.get_dumper(list, "s") is FastListDumper


def test_a_text_that_cannot_be_stored_is_refused_in_a_list_too() -> None:
    with pytest.raises(DataError, match="NUL"):
        back(["a", "b\0c"], "text")


def test_an_unpaired_surrogate_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        back(["\ud800"], "text")
