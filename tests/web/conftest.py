"""Alice's project, her agent's token and a real server, as the agents' tests have them."""

from __future__ import annotations

from tests.api.conftest import (
    alice,
    bearer,
    bob,
    collected,
    no_requests_counted_yet,
    rest,
    roots,
    url,
)

__all__ = ["alice", "bearer", "bob", "collected", "no_requests_counted_yet", "rest", "roots", "url"]
