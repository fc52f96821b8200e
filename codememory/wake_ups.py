"""Wake-ups of the queue: django-q2 tasks that carry a run's number and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django_q.models import OrmQ
from django_q.tasks import async_task

from codememory.models import LIVE_STATES, Run, RunState

TASK = "codememory.tasks.run_slice"
HEAVY_SOURCES = ("git",)


def wake(run_id: int) -> None:
    async_task(TASK, run_id)


@transaction.atomic
def wake_next() -> None:
    """Wake the due runs whose projects were served longest ago: a heavy and a light one.

    One alone may be held back while the other could go. Whoever has a wake-up is not told twice.
    """
    due = (
        Run.objects.filter(state=RunState.QUEUED)
        .filter(Q(not_before=None) | Q(not_before__lte=Now()))
        .order_by(F("scope__project__served_at").asc(nulls_first=True), "pk")
        .values_list("pk", flat=True)
    )
    first = (
        due.filter(source__in=HEAVY_SOURCES).first(),
        due.exclude(source__in=HEAVY_SOURCES).first(),
    )
    chosen = [run_id for run_id in first if run_id is not None]
    if not chosen:
        return
    told = _waiting().values()
    for run_id in chosen:
        if run_id not in told:
            wake(run_id)


def _waiting() -> dict[int, int]:
    """Wake-ups that no worker has taken, by their row, and the run of each.

    Their rows are locked: none is taken before what its worker will look at is committed.
    """
    return _runs_of(OrmQ.objects.select_for_update(skip_locked=True).filter(lock__lte=Now()))


def _runs_of(rows: Iterable[OrmQ]) -> dict[int, int]:
    found = {}
    for row in rows:
        task = row.task
        if task.get("func") == TASK and task.get("args"):
            found[row.pk] = int(task["args"][0])
    return found


def forget_taken(run_ids: Collection[int]) -> None:
    """Delete wake-ups that died with the worker that had taken them: nobody will end them."""
    taken = _runs_of(OrmQ.objects.filter(lock__gt=Now()))
    OrmQ.objects.filter(pk__in=[row for row, run in taken.items() if run in run_ids]).delete()


@transaction.atomic
def forget_ended() -> None:
    """Delete wake-ups of runs that are over: where no `up` runs, nobody else would take them."""
    waiting = _waiting()
    live = set(
        Run.objects.filter(pk__in=waiting.values(), state__in=LIVE_STATES).values_list(
            "pk", flat=True
        )
    )
    ended = [row for row, run_id in waiting.items() if run_id not in live]
    OrmQ.objects.filter(pk__in=ended).delete()
