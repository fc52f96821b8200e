"""Bytes of the database by table: exact for the tables, reckoned for a project's part of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Model, QuerySet

from codememory.models import Policy, Project
from review.coverage.figures import Figure, Where, rows_name
from review.row_counts import COUNTED, row_count

SHOWN = 8  # tables on the dashboard; all of them have a page
_SIZES = """
    SELECT class.relname, pg_total_relation_size(class.oid)
    FROM pg_class class JOIN pg_namespace space ON space.oid = class.relnamespace
    WHERE class.relkind = 'r' AND space.nspname = current_schema()
"""


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table of ours: its bytes on disk with indexes, over all projects."""

    model: type[Model]
    name: str
    bytes: int
    figure: Figure


@dataclass(frozen=True, slots=True)
class Storage:
    tables: list[TableSize]
    others: int  # bytes of Django's and the queue's own tables

    @property
    def total(self) -> int:
        return self.others + sum(table.bytes for table in self.tables)

    @property
    def largest(self) -> list[TableSize]:
        return self.tables[:SHOWN]

    @property
    def rest(self) -> int:
        return sum(table.bytes for table in self.tables[SHOWN:])

    @property
    def rest_count(self) -> int:
        return len(self.tables[SHOWN:])


@dataclass(frozen=True, slots=True)
class Share:
    """A project's part of a table: its rows, and what that many rows take on average."""

    table: TableSize
    rows: Figure
    all_rows: int

    @property
    def bytes(self) -> int:
        return round(self.table.bytes * int(str(self.rows.value)) / max(self.all_rows, 1))


def storage_of(where: Where) -> Storage:
    """Ask the database how large its tables are; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_SIZES)
        sizes = {str(name): int(size) for name, size in cursor.fetchall()}
    everywhere = Where(where.projects, None, is_staff_page=True)
    tables = []
    for model in apps.get_app_config("codememory").get_models():
        size = sizes.pop(model._meta.db_table, None)
        if size is None:
            continue  # a table of a newer version, whose migration is still to come
        figure = everywhere.measured(size, "bytes", "table_bytes", model)
        tables.append(TableSize(model, rows_name(model._meta), size, figure))
    return Storage(sorted(tables, key=lambda t: (-t.bytes, t.name)), sum(sizes.values()))


def shares_of(where: Where, storage: Storage, project: Project) -> list[Share]:
    """Say how many rows of each table that has a scope are a project's, and how many all are.

    Few are counted, in one statement for all tables; of many the database tells about how many.
    """
    owned = [t for t in storage.tables if _has_scope(t.model)]
    quote = connection.ops.quote_name
    some = "(SELECT count(*) FROM (SELECT FROM {table} {those} LIMIT %s) AS few)"
    counts = " UNION ALL ".join(
        f"SELECT {number}, {some.format(table=name, those='WHERE scope_id = %s')},"
        f" {some.format(table=name, those='')}"
        for number, name in enumerate(quote(table.model._meta.db_table) for table in owned)
    )
    with connection.cursor() as cursor:
        cursor.execute(counts, [project.scope_id, COUNTED + 1, COUNTED + 1] * len(owned))
        rows = cursor.fetchall()
    shares = [_share(where, project, owned[number], *found) for number, *found in rows]
    return sorted(shares, key=lambda share: (-share.bytes, share.table.name))


def _share(where: Where, project: Project, table: TableSize, mine: int, every: int) -> Share:
    all_rows: QuerySet[Any] = QuerySet(table.model)
    own = row_count(all_rows.filter(scope_id=project.scope_id), mine)
    address = where.rows(table.model, project.slug)
    figure = Figure(own.number, address, is_about=own.is_about)
    return Share(table, figure, max(own.number, row_count(all_rows, every).number))


def disk_limit(project: Project) -> int | None:
    """Return the bytes that the project's policy allows; None where it sets no limit."""
    policy = Policy.objects.filter(scope_id=project.scope_id).latest("generation")
    return policy.disk_bytes


def _has_scope(model: type[Model]) -> bool:
    return any(field.name == "scope" for field in model._meta.concrete_fields)
