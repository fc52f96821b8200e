"""Writes the audit trail: one row in the same transaction as what it tells of."""

from __future__ import annotations

import getpass

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


def account_name() -> str:
    """The account on this machine, where nobody is signed in."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
