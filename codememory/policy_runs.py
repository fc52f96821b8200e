"""Queues runs for what a new policy lets be read, and says which go on under an older one."""

from __future__ import annotations

from itertools import product

from codememory import runs
from codememory.models import LIVE_STATES, Project, Run, RunState
from codememory.policies import newest_policy, reading_generations
from codememory.projects import collected_worktrees


def request_reading(project: Project) -> list[str]:
    """Queue a run of each enabled source that was not read under these rules; say it in words.

    A project that was never collected stays so. A run that goes on keeps its generation.
    """
    row = newest_policy(project)
    same = reading_generations(project.scope_id, row.generation)
    notes: list[str] = []
    if not Run.objects.filter(scope_id=project.scope_id).exists():
        return notes
    for worktree, source in product(collected_worktrees(project), row.sources):
        mine = Run.objects.filter(scope_id=project.scope_id, worktree=worktree, source=source)
        live = mine.filter(state__in=LIVE_STATES).first()
        if live is not None:
            if live.policy_generation not in same:
                notes.append(
                    f"R{live.pk} ({source}) goes on under generation {live.policy_generation}; "
                    "what is collected after it is read under the new one"
                )
            continue
        if mine.filter(state=RunState.DONE, policy_generation__in=same).exists():
            continue
        run = runs.request_run(worktree, source, row.generation, None)
        notes.append(f"R{run.pk} ({source}) is queued to read under it")
    return notes
