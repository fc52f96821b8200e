"""The composite foreign keys that make a link across scopes impossible, derived from the models.

`migrations/0002_composite_keys.py` writes them; a test compares this derivation with the database.
"""

from __future__ import annotations

from typing import NamedTuple

from django.apps import apps
from django.db.models import ForeignKey

LINK_WITHOUT_SCOPE = {("codememory_reviewdecision", "actor_id")}  # tied by (actor_id, actor_kind)


class CompositeKey(NamedTuple):
    """A foreign key of several columns: `columns` of `table` refer to `target_columns`."""

    table: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


# Links whose key holds more than (scope, id).
EXTRA_KEYS = (
    CompositeKey(
        "codememory_reviewdecision", ("actor_id", "actor_kind"), "codememory_actor", ("id", "kind")
    ),
    CompositeKey(
        "codememory_memory",
        ("scope_id", "decision_id", "decision_action"),
        "codememory_reviewdecision",
        ("scope_id", "id", "action"),
    ),
)


def expected_keys() -> set[CompositeKey]:
    """Return every composite key that the models call for."""
    keys = set(EXTRA_KEYS)
    for model in apps.get_app_config("codememory").get_models():
        table = model._meta.db_table
        for column in model._meta.local_fields:
            if not isinstance(column, ForeignKey) or getattr(column, "db_constraint", True):
                continue
            if (table, column.column) in LINK_WITHOUT_SCOPE:
                continue
            target = column.related_model._meta.db_table
            keys.add(CompositeKey(table, ("scope_id", column.column), target, ("scope_id", "id")))
    return keys
