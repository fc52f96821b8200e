"""Writes the audit trail: one row in the same transaction as what it tells of."""

from __future__ import annotations

from codememory.models import Actor, AuditEvent, Scope


def record(
    action: str,
    *,
    scope: Scope | None = None,
    actor: Actor | None = None,
    subject: str = "",
    **facts: object,
) -> None:
    """Append one event: ids, counts and reasons as facts, never content. Call inside `atomic`."""
    AuditEvent.objects.create(
        scope=scope, actor=actor, action=action, subject=subject[:80], facts=facts
    )
