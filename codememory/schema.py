"""Whether the database has the very tables that this program was written for.

A worker that was started before an upgrade must not write by its old rules into the new tables.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.db import connection

from codememory.errors import CodeMemoryError

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"


class SchemaChangedError(CodeMemoryError):
    """The database was migrated by another version: this process has to be started anew."""

    retryable = True

    def __init__(self) -> None:
        super().__init__("SCHEMA_CHANGED: the database is another version's; start `up` again")


@cache
def newest_here() -> str:
    """Name this program's last migration, as it was when the process first asked."""
    return max(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))


def newest_applied() -> str:
    """Name the database's last migration of ours; empty where there is none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(name) FROM django_migrations WHERE app = 'codememory'")
        return str(cursor.fetchone()[0] or "")


def is_current() -> bool:
    return newest_applied() == newest_here()
