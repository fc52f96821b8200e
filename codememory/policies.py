"""A project's policy: read as the frozen value that collectors take, changed by a new generation.

Generations are append-only. A run keeps the one that it started with; answers go by the newest.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction

from codememory import audit, models, runs
from codememory.errors import CodeMemoryError
from codememory.models import Actor, Project, Run, RunState, Scope, SourceKind
from codememory.policy_keys import ARCHIVED, DISABLED, ENABLED, KEYS, Values, difference
from collectors.policy import Policy

COLUMNS = [name for name in KEYS if name != "sources"]
READING = [name for name, key in KEYS.items() if key.is_reading]


class PolicyMovedError(CodeMemoryError):
    """Somebody set a newer generation than the one that was looked at."""

    def __init__(self, newest: int) -> None:
        super().__init__(f"the policy was changed meanwhile: it is generation {newest} now")
        self.newest = newest


def read_policy(scope_id: int, generation: int | None = None) -> Policy:
    """Return one generation of a project's policy; the newest without a number."""
    rows = models.Policy.objects.filter(scope_id=scope_id)
    row = rows.get(generation=generation) if generation else rows.latest("generation")
    return as_policy(values_of(row), row.generation)


def default_policy() -> Policy:
    """The policy a project starts with, for the preview before it is registered."""
    return Policy(redaction_key=settings.CODEMEMORY_REDACTION_KEY)


def as_policy(values: Values, generation: int) -> Policy:
    """The frozen value that collectors take."""
    return Policy(
        generation=generation,
        include=tuple(values["include"]),
        exclude=tuple(values["exclude"]),
        untracked=values["untracked"],
        max_blob_bytes=values["max_blob_bytes"],
        max_patch_bytes=values["max_patch_bytes"],
        max_document_bytes=values["max_document_bytes"],
        excerpt_bytes=values["excerpt_bytes"],
        disk_bytes=values["disk_bytes"],
        redaction_key=settings.CODEMEMORY_REDACTION_KEY,
    )


def newest_policy(project: Project) -> models.Policy:
    return models.Policy.objects.filter(scope_id=project.scope_id).latest("generation")


def values_of(row: models.Policy) -> Values:
    """The row as plain values by key, see `codememory.policy_keys`."""
    return {"sources": source_states(row), **{name: getattr(row, name) for name in COLUMNS}}


def source_states(row: models.Policy) -> dict[str, str]:
    """Every source with its state: enabled, disabled or archived."""

    def state(source: str) -> str:
        if source in row.sources:
            return ENABLED
        return ARCHIVED if source in row.archived else DISABLED

    return {source: state(source) for source in SourceKind.values}


def set_policy(
    project: Project, values: Values, *, opened: int, actor: Actor | None, **facts: object
) -> models.Policy | None:
    """Write a new generation over the one that was `opened`; None: nothing differs from it.

    Runs that have not begun go by it; of sources no longer read they end. `facts` go to the audit
    trail beside the difference. Raises PolicyMovedError.
    """
    with transaction.atomic():
        # One at a time: the generation is a count.
        Scope.objects.select_for_update(no_key=True).get(pk=project.scope_id)
        current = newest_policy(project)
        if current.generation != opened:
            raise PolicyMovedError(current.generation)
        found = difference(values_of(current), values)
        if not found:
            return None
        states: dict[str, str] = values["sources"]
        row = models.Policy.objects.create(
            scope_id=project.scope_id,
            generation=opened + 1,
            sources=_in_state(states, ENABLED),
            archived=_in_state(states, ARCHIVED),
            actor=actor,
            **{name: values[name] for name in COLUMNS},
        )
        _hand_over(row)
        audit.record(
            "policy.set",
            scope=project.scope,
            actor=actor,
            subject=f"generation {row.generation}",
            **facts,
            difference=found,
        )
    return row


def _in_state(states: dict[str, str], state: str) -> list[str]:
    return [source for source, is_in in states.items() if is_in == state]


def _hand_over(row: models.Policy) -> None:
    """Let runs that read nothing yet start under the new generation, or end with their source."""
    waiting = Run.objects.filter(scope_id=row.scope_id, state=RunState.QUEUED, cursor={})
    for run in waiting.exclude(source__in=row.sources):
        runs.cancel_run(run)
    waiting.update(policy_generation=row.generation)


def reading_generations(scope_id: int, generation: int) -> list[int]:
    """The generations up to this one, without a break, that let the very same be read.

    What one of them read need not be read again under another.
    """
    rows = models.Policy.objects.filter(scope_id=scope_id, generation__lte=generation)
    return _same(rows.order_by("-generation"))


def _same(rows: Iterable[models.Policy]) -> list[int]:
    found: list[int] = []
    first = None
    for row in rows:
        reads = [getattr(row, name) for name in READING]
        first = first if first is not None else reads
        if reads != first:
            break
        found.append(row.generation)
    return found
