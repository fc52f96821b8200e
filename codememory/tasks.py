"""Entry points of the queue's workers: each takes one id."""

from __future__ import annotations

from codememory import runs
from codememory.slices import work_slice


def run_slice(run_id: int) -> None:
    """Claim the run and work off one slice of it; nothing to do if it is not due or not free."""
    claim = runs.claim_run(run_id)
    if claim is not None:
        work_slice(claim)
