"""Rows that belong to a Scope, and links between them that cannot leave it.

Every owned table carries `scope_id`; a link between two owned tables is the composite foreign key
(scope_id, x_id) -> (scope_id, id), written by `migrations/0002_composite_keys.py`. Django's own
single-column constraint is therefore switched off on such links.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from codememory.models.scopes import Scope


class OwnedModel(models.Model):
    """Base of every owned table: its scope, and the (scope, id) key that links refer to."""

    scope = models.ForeignKey(Scope, on_delete=models.DO_NOTHING, related_name="+", db_index=False)

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["scope", "id"], name="%(class)s_scope_id"),
        ]


def owned_link(to: str, **options: Any) -> Any:
    """Return a foreign key to another owned table of the same scope.

    The database refuses orphans and foreign scopes (composite key); nothing cascades.
    """
    options.setdefault("related_name", "+")
    options.setdefault("db_index", False)
    return models.ForeignKey(to, on_delete=models.DO_NOTHING, db_constraint=False, **options)
