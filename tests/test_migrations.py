"""Migrations agree with the models, run both ways, and import nothing of ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

FOLDER = Path(__file__).resolve().parent.parent / "migrations"


@pytest.mark.django_db
def test_the_migrations_say_all_that_the_models_say() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_every_migration_runs_back_and_forth() -> None:
    call_command("migrate", "codememory", "zero", verbosity=0)
    left = {t for t in connection.introspection.table_names() if t.startswith("codememory_")}
    assert left <= {"codememory_cache"}  # Django's cache table, no model of ours
    call_command("migrate", "codememory", verbosity=0)
    assert "codememory_memory" in connection.introspection.table_names()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("0*.py")), ids=lambda path: path.stem)
def test_a_migration_imports_django_only(path: Path) -> None:
    names = [
        name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert names
    allowed = {"django", "datetime"}
    assert {name.split(".")[0] for name in names} <= allowed
