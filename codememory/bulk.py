"""Inserts many rows with one statement: arrays in, `ON CONFLICT DO NOTHING`, ids out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models
from psycopg import sql

# How a column's values travel: PostgreSQL type of one value inside `unnest`, and the cast after it.
# An array of arrays would be flattened by `unnest`, so array columns travel as their text form.
COLUMN_TYPES: dict[str, tuple[str, str]] = {
    "BigAutoField": ("bigint", ""),
    "BigIntegerField": ("bigint", ""),
    "BinaryField": ("bytea", ""),
    "BooleanField": ("boolean", ""),
    "CharField": ("text", ""),
    "FloatField": ("float8", ""),
    "ForeignKey": ("bigint", ""),
    "IntegerField": ("int", ""),
    "JSONField": ("text", "jsonb"),
    "PositiveIntegerField": ("int", ""),
    "PositiveSmallIntegerField": ("smallint", ""),
    "SmallIntegerField": ("smallint", ""),
    "TextField": ("text", ""),
}


def _column(model: type[models.Model], name: str) -> tuple[str, str, str]:
    column = model._meta.get_field(name)
    assert isinstance(column, models.Field)
    if column.get_internal_type() == "ArrayField":
        return str(column.column), "text", str(column.db_type(connection))
    name = str(column.column)
    kind, cast = COLUMN_TYPES[column.get_internal_type()]
    return name, kind, cast


def insert_rows(
    model: type[models.Model],
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    returning: Sequence[str] = ("id",),
) -> list[tuple[Any, ...]]:
    """Insert rows in order, skipping those that exist; return `returning` of the inserted ones.

    `names` are field names; values of array columns are texts made by `int_array` or `text_array`.
    """
    if not rows:
        return []
    columns = [_column(model, name) for name in names]
    statement = sql.SQL(
        "INSERT INTO {table} ({columns}) SELECT {values} FROM unnest({arrays}) "
        "WITH ORDINALITY AS t ({aliases}, n) ORDER BY n ON CONFLICT DO NOTHING "
        "RETURNING {returning}"
    ).format(
        table=sql.Identifier(model._meta.db_table),
        columns=sql.SQL(", ").join(sql.Identifier(column) for column, _, _ in columns),
        values=sql.SQL(", ").join(
            sql.Identifier(column) + sql.SQL(f"::{cast}" if cast else "")
            for column, _, cast in columns
        ),
        arrays=sql.SQL(", ").join(sql.SQL(f"%s::{kind}[]") for _, kind, _ in columns),
        aliases=sql.SQL(", ").join(sql.Identifier(column) for column, _, _ in columns),
        returning=sql.SQL(", ").join(map(sql.Identifier, returning)),
    )
    values = [list(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def int_array(numbers: Iterable[int] | None) -> str | None:
    """The text form of an integer array."""
    return None if numbers is None else "{" + ",".join(map(str, numbers)) + "}"


def text_array(texts: Iterable[str]) -> str:
    """The text form of a text array."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
