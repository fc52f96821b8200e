"""Bytes of the database by table: exact for the tables, reckoned for a project's part of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.apps import apps
from django.db import connection
from django.db.models import Model

from codememory.models import Policy, Project
from review.coverage.figures import Figure, Where, rows_name

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
    """Count a project's rows in every table that has a scope, and all rows beside them.

    Reads each table once: for a page of its own, not for the dashboard.
    """
    owned = [t for t in storage.tables if _has_scope(t.model)]
    quote = connection.ops.quote_name
    counts = " UNION ALL ".join(
        f"SELECT {number}, count(*) FILTER (WHERE scope_id = %s), count(*)"  # noqa: S608
        f" FROM {quote(table.model._meta.db_table)}"
        for number, table in enumerate(owned)
    )
    with connection.cursor() as cursor:
        cursor.execute(counts, [project.scope_id] * len(owned))
        rows = cursor.fetchall()
    shares = [
        Share(owned[number], where.count(mine, owned[number].model, project.slug), all_rows)
        for number, mine, all_rows in rows
    ]
    return sorted(shares, key=lambda share: (-share.bytes, share.table.name))


def disk_limit(project: Project) -> int | None:
    """Return the bytes that the project's policy allows; None where it sets no limit."""
    policy = Policy.objects.filter(scope_id=project.scope_id).latest("generation")
    return policy.disk_bytes


def _has_scope(model: type[Model]) -> bool:
    return any(field.name == "scope" for field in model._meta.concrete_fields)
