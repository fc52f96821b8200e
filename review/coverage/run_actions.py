"""What a lead does with runs: try an ended one again, or stop a live one. Each leaves its trace."""

from __future__ import annotations

from django.db import transaction

from codememory import audit, runs
from codememory.models import LIVE_STATES, Actor, Run, RunState


class RunActionError(Exception):
    """The run's state does not allow it; the message is a sentence for the person who asked."""


@transaction.atomic
def retry_run(run: Run, *, actor: Actor) -> str:
    """Queue an ended run again from its cursor; returns what was done. Raises RunActionError."""
    state = _locked_state(run)
    if not runs.retry_run(run):
        if state in LIVE_STATES:
            raise RunActionError(f"R{run.pk} is {state.lower()} already. Nothing was changed.")
        if state == RunState.DONE:
            raise RunActionError(f"R{run.pk} is done: there is nothing to try again.")
        raise RunActionError(
            f"Another run of the same source is live. R{run.pk} stays {state.lower()}."
        )
    audit.record("run.retry", scope=run.scope, actor=actor, subject=f"R{run.pk}", was=state)
    return f"R{run.pk} goes on where it ended; it waits for a worker."


@transaction.atomic
def cancel_run(run: Run, *, actor: Actor) -> str:
    """Cancel a live run; returns what was done. Raises RunActionError."""
    state = _locked_state(run)
    if state not in LIVE_STATES:
        raise RunActionError(f"R{run.pk} is {state.lower()}: there is nothing to cancel.")
    now = runs.cancel_run(run)
    audit.record("run.cancel", scope=run.scope, actor=actor, subject=f"R{run.pk}", was=state)
    if now == RunState.CANCELLED:
        return f"Cancelled R{run.pk}. What it stored stays."
    return f"R{run.pk} ends at its next batch. What it stored stays."


def _locked_state(run: Run) -> str:
    """Lock the run's row until the end of the transaction and return its state."""
    locked = Run.objects.select_for_update(of=("self",)).filter(pk=run.pk)
    return str(locked.values_list("state", flat=True).get())
