"""Rows of models by a statement of our own, where to compose one takes longer than to run it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

Row = TypeVar("Row", bound=Model)


def rows_where(
    model: type[Row], condition: str, *values: Any, only: Sequence[str] = ()
) -> list[Row]:
    """The rows of a condition of ours; `only` names the columns that are loaded (none: all)."""
    statement, names = _select(model, tuple(only))
    with connection.cursor() as cursor:
        cursor.execute(f"{statement} WHERE {condition}", values)
        return [model.from_db(connection.alias, names, row) for row in cursor.fetchall()]


@cache
def _select(model: type[Model], only: tuple[str, ...]) -> tuple[str, list[str]]:
    fields = [f for f in model._meta.concrete_fields if not only or f.attname in only]
    if any(hasattr(field, "from_db_value") for field in fields):
        raise TypeError(f"{model.__name__} has values that are not kept as they are")
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    table = connection.ops.quote_name(model._meta.db_table)
    return f"SELECT {columns} FROM {table}", [field.attname for field in fields]  # noqa: S608
