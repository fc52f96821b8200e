"""Tokens that open nothing, in the audit trail: unknown, expired or revoked ones that were tried.

Bounded, so that guessing fills no table: one event a minute for an address, ten for all of them.
"""

from __future__ import annotations

from typing import Any

from django.db import close_old_connections

from api.throttle import RequestCounter, network_of
from codememory import audit, tokens

OF_AN_ADDRESS = RequestCounter(1)
OF_ALL = RequestCounter(10)


def note_refusal(header: str, address: str) -> None:
    """Write down that the token of an Authorization header was refused; no token, no event."""
    kind, _, plain = header.partition(" ")
    if kind.lower() != "bearer" or not plain.strip():
        return
    if OF_AN_ADDRESS.wait(network_of(address)) or OF_ALL.wait(""):
        return
    known = tokens.find_ended(plain.strip())
    if known is None:  # a mistyped secret is not written down
        audit.record("token.refused", subject="unknown token", address=address)
        return
    reason = "revoked" if known.revoked_at else "expired"
    facts: dict[str, Any] = {"agent": known.actor.name, "reason": reason, "address": address}
    for link in known.projects.select_related("scope"):
        audit.record("token.refused", scope=link.scope, subject=known.prefix, **facts)


def note_refusal_apart(header: str, address: str) -> None:
    """The same in a thread of its own, whose connection no request looks after."""
    close_old_connections()
    try:
        note_refusal(header, address)
    finally:
        close_old_connections()
