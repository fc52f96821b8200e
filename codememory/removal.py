"""Removes a project with every row of its scope; its audit trail and the empty scope stay.

Decisions and policies are append-only by a trigger, which lets rows of one scope go while the
transaction names that scope as the one being removed.
"""

from __future__ import annotations

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Model

from codememory import audit
from codememory.models import (
    Membership,
    OwnedModel,
    Policy,
    Project,
    SearchTerm,
    SearchTotal,
    TokenProject,
    Worktree,
)

# The order decides nothing: every key between these tables is checked as the transaction ends.
OTHERS: tuple[type[Model], ...] = (
    SearchTerm,
    SearchTotal,
    Policy,
    Membership,
    TokenProject,
    Worktree,
    Project,
)


@transaction.atomic
def remove_project(project: Project) -> dict[str, int]:
    """Delete all rows of the project's scope but its audit trail; returns how many of what."""
    scope = project.scope
    deleted: dict[str, int] = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('codememory.purging', %s, true)", [str(scope.pk)])
        # A worker's batch holds its run's row: this waits for it, and the next finds no run.
        cursor.execute("SELECT 1 FROM codememory_run WHERE scope_id = %s FOR UPDATE", [scope.pk])
        models: list[type[Model]] = [*owned_models(), *OTHERS]
        for table in (model._meta.db_table for model in models):
            cursor.execute(f'DELETE FROM "{table}" WHERE scope_id = %s', [scope.pk])  # noqa: S608 -- a name of our own models
            if cursor.rowcount:
                deleted[table.removeprefix("codememory_")] = cursor.rowcount
        cursor.execute("SELECT set_config('codememory.purging', '', true)")
    audit.record("project.remove", scope=scope, subject=project.slug, rows=deleted)
    return deleted


def owned_models() -> list[type[OwnedModel]]:
    """Every table whose rows belong to a scope."""
    models = apps.get_app_config("codememory").get_models()
    return [model for model in models if issubclass(model, OwnedModel)]
