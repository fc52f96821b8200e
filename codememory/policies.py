"""Reads a project's stored policy as the frozen value that collectors take."""

from __future__ import annotations

from django.conf import settings

from codememory import models
from collectors.policy import Policy


def read_policy(scope_id: int, generation: int | None = None) -> Policy:
    """Return one generation of a project's policy; the newest without a number."""
    rows = models.Policy.objects.filter(scope_id=scope_id)
    row = rows.get(generation=generation) if generation else rows.latest("generation")
    return Policy(
        generation=row.generation,
        include=tuple(row.include),
        exclude=tuple(row.exclude),
        max_blob_bytes=row.max_blob_bytes,
        max_patch_bytes=row.max_patch_bytes,
        redaction_key=settings.CODEMEMORY_REDACTION_KEY,
    )


def default_policy() -> Policy:
    """The policy a project starts with, for the preview before it is registered."""
    return Policy(redaction_key=settings.CODEMEMORY_REDACTION_KEY)
