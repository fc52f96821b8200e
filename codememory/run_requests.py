"""What agents may do with runs: ask for one, look at it, take back what they asked for.

A run reads only what the project's owner allowed; asking registers nothing and enables nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Any

from django.db import transaction

from codememory import audit, runs
from codememory.errors import CodeMemoryError
from codememory.models import LIVE_STATES, Actor, GapRecord, Policy, Project, Run, RunState
from codememory.projects import collected_worktrees

_ID = re.compile(r"R([1-9][0-9]{0,17})")


class SourceNotAllowedError(CodeMemoryError):
    """The project's owner did not opt in to this source."""

    def __init__(self, source: str, allowed: Sequence[str]) -> None:
        super().__init__(f"The owner allows {', '.join(allowed) or 'nothing'}, not {source}.")
        self.source = source
        self.allowed = tuple(allowed)


class NotYourRunError(CodeMemoryError):
    """Somebody else asked for the run: it is theirs to cancel."""


class RunEndedError(CodeMemoryError):
    """The run has ended, so that there is nothing to cancel."""


def request_collection(project: Project, sources: Sequence[str], actor: Actor | None) -> list[Run]:
    """Queue a run for each allowed source (all without names), or join the one that is live."""
    policy = Policy.objects.filter(scope_id=project.scope_id).latest("generation")
    for source in sources:
        if source not in policy.sources:
            raise SourceNotAllowedError(source, policy.sources)
    wanted = [source for source in policy.sources if not sources or source in sources]
    found = []
    for worktree, source in product(collected_worktrees(project), wanted):
        with transaction.atomic():
            run = runs.request_run(worktree, source, policy.generation, actor)
            audit.record(
                "run.request",
                scope=project.scope,
                actor=actor,
                subject=f"R{run.pk}",
                source=source,
            )
        found.append(run)
    return found


def find_run(project: Project, run_id: str) -> Run | None:
    """Return a run of the project; None for an absent, malformed or foreign id."""
    match = _ID.fullmatch(run_id)
    if match is None:
        return None
    return Run.objects.filter(scope_id=project.scope_id, pk=int(match[1])).first()


def cancel_requested(run: Run, actor: Actor) -> Run:
    """Cancel a run that this very agent asked for; a running one ends at its next batch.

    Raises NotYourRunError or RunEndedError.
    """
    if run.requested_by_id != actor.pk:
        raise NotYourRunError
    if run.state not in {*LIVE_STATES, RunState.CANCELLED}:
        raise RunEndedError(f"The run is {run.state}.")
    with transaction.atomic():
        runs.cancel_run(run)
        audit.record("run.cancel", scope=run.scope, actor=actor, subject=f"R{run.pk}")
    run.refresh_from_db()
    return run


def run_facts(project: Project, run: Run) -> dict[str, Any]:
    """Say how far a run is and how it ended: counts and our own words, nothing that was read."""
    gaps = GapRecord.objects.filter(scope_id=run.scope_id, run_id=run.pk)
    return {
        "id": f"R{run.pk}",
        "project": project.slug,
        "source": run.source,
        "state": run.state,
        "phase": run.phase,
        "done": run.done,
        "total": run.total,
        "gaps": gaps.count(),
        "head": run.head_oid,
        "policy_generation": run.policy_generation,
        "attempts": run.attempts,
        "is_cancel_requested": run.is_cancel_requested,
        "error": run.error_text or run.error_class,
        "created_at": _time(run.created_at),
        "started_at": _time(run.started_at),
        "ended_at": _time(run.ended_at),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
