"""Runs as the truth behind the queue: request, claim, fence, heartbeat, finish, retry, sweep.

A django-q2 task is only a wake-up carrying a run id. Every time is the database's; a claim takes
a fence number, and rows are written only while that fence is the run's current one.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from codememory import failpoints, schema
from codememory.errors import LeaseLostError, RunCancelledError
from codememory.failures import failure_of
from codememory.models import LIVE_STATES, Actor, Policy, Project, Run, RunState, Worktree
from codememory.owners import is_owner_dead, owner_name
from codememory.wake_ups import HEAVY_SOURCES, forget_taken, wake, wake_next

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=45)
SLICE_SECONDS = 20.0
MAX_ATTEMPTS = 5
MAX_LOST_LEASES = 3
BACKOFF_SECONDS, BACKOFF_CAP_SECONDS = 2.0, 300.0
CLAIMS_LOCK = 0x636D_636C  # one claim decides at a time; any constant of ours will do


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write rows of a run until another claim takes a higher fence."""

    run_id: int
    scope_id: int
    fence: int


def request_run(worktree: Worktree, source: str, generation: int, actor: Actor | None) -> Run:
    """Queue a run and its wake-up together, or return the live run of the same source.

    One that has begun may have looked before what is asked for was there: another follows it.
    """
    while True:
        with transaction.atomic():
            run = Run(
                scope_id=worktree.scope_id,
                worktree=worktree,
                source=source,
                policy_generation=generation,
                requested_by=actor,
            )
            try:
                with transaction.atomic():
                    run.save(force_insert=True)
            except IntegrityError:
                if live := _join(worktree, source):
                    return live
            else:
                wake(run.pk)
                return run


def _join(worktree: Worktree, source: str) -> Run | None:
    """The live run, locked so that it does not end unseen; None: it has just ended."""
    live = Run.objects.select_for_update(no_key=True, of=("self",)).filter(
        scope_id=worktree.scope_id, worktree=worktree, source=source, state__in=LIVE_STATES
    )
    run = live.first()
    if run is not None and run.started_at is not None and not run.is_wanted_again:
        run.is_wanted_again = True
        run.save(update_fields=["is_wanted_again"])
    return run


def claim_run(run_id: int) -> Claim | None:
    """Take a queued run; None if it is not due, or its project or the heavy place is busy.

    None too where the database was migrated by another version than this program's.
    """
    if not schema.is_current():
        logger.warning("run %s is left alone: the database is another version's", run_id)
        return None
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIMS_LOCK])
        run = (
            Run.objects.select_for_update(of=("self",))
            .filter(Q(not_before=None) | Q(not_before__lte=Now()))
            .filter(pk=run_id, state=RunState.QUEUED)
            .first()
        )
        if run is None:
            return None
        if run.is_cancel_requested:
            _end(run.pk, RunState.CANCELLED, state=RunState.QUEUED)
            wake_next()  # nobody else would: this was the wake-up
            return None
        running = Run.objects.filter(state=RunState.RUNNING)
        is_heavy = Q(source__in=HEAVY_SOURCES) if run.source in HEAVY_SOURCES else Q(pk=None)
        if running.filter(Q(scope_id=run.scope_id) | is_heavy).exists():
            return None
        with connection.cursor() as cursor:
            cursor.execute("SELECT nextval('codememory_fence')")
            fence = int(cursor.fetchone()[0])
        Run.objects.filter(pk=run.pk).update(
            state=RunState.RUNNING,
            fence=fence,
            lease_owner=owner_name(),
            lease_until=Now() + LEASE,
            started_at=run.started_at or Now(),
            not_before=None,
        )
        Project.objects.filter(scope_id=run.scope_id).update(served_at=Now())
    return Claim(run.pk, run.scope_id, fence)


@contextmanager
def fenced(claim: Claim, *, is_progress: bool = True) -> Iterator[Run]:
    """Open a transaction whose first statement locks the run and checks the fence.

    Whatever the block writes is committed with the run's cursor, or not at all. Progress forgives
    earlier failures; what only starts again must not, or it would start again for ever.
    Raises LeaseLostError, RunCancelledError or SchemaChangedError.
    """
    failpoints.reach("read", claim.run_id)
    with transaction.atomic():
        run = (
            Run.objects.select_for_update()
            .filter(pk=claim.run_id, fence=claim.fence, state=RunState.RUNNING)
            .filter(lease_until__gt=Now())
            .first()
        )
        if run is None:
            raise LeaseLostError(claim.run_id, claim.fence)
        if run.is_cancel_requested:
            raise RunCancelledError(claim.run_id)
        if not schema.is_current():
            raise schema.SchemaChangedError
        yield run
        if is_progress:
            run.lost_leases = run.attempts = 0
        run.save(
            update_fields=[
                "cursor", "phase", "done", "total", "metrics", "head_oid", "branch_label",
                "lost_leases", "attempts",
            ]
        )  # fmt: skip
        still = Run.objects.filter(pk=claim.run_id, state=RunState.RUNNING)
        if still.update(lease_until=Now() + LEASE):
            _commit_without_waiting()
        failpoints.reach("written", claim.run_id)
    failpoints.reach("committed", claim.run_id)


def _commit_without_waiting() -> None:
    """Do not wait for the disk: a batch that a crashed server forgot is read again.

    The run's cursor is forgotten with it, and what a person decides on it waits for both.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")


def extend_lease(claim: Claim) -> bool:
    """Heartbeat: extend the lease if it is still ours; False tells the worker to stop."""
    return bool(
        Run.objects.filter(
            pk=claim.run_id, fence=claim.fence, state=RunState.RUNNING, is_cancel_requested=False
        ).update(lease_until=Now() + LEASE)
    )


def _end(run_id: int, to: str, **still: object) -> bool:
    return bool(
        Run.objects.filter(pk=run_id, **still).update(
            state=to, lease_owner=None, lease_until=None, not_before=None, ended_at=Now()
        )
    )


def finish_run(run: Run) -> None:
    """End a run as done; call inside its fenced transaction, so that its last rows come along."""
    _end(run.pk, RunState.DONE, fence=run.fence)
    if run.is_wanted_again:
        newest = Policy.objects.filter(scope_id=run.scope_id).latest("generation")
        request_run(run.worktree, run.source, newest.generation, run.requested_by)
    wake_next()


def yield_run(claim: Claim, *, is_waking: bool = True) -> None:
    """Give the run back to the queue at the end of a slice, and wake whoever's turn it is.

    Where its cancellation was asked for meanwhile it ends at once.
    """
    held: dict[str, object] = {"fence": claim.fence, "state": RunState.RUNNING}
    with transaction.atomic():
        if not _end(claim.run_id, RunState.CANCELLED, is_cancel_requested=True, **held):
            Run.objects.filter(pk=claim.run_id, **held).update(
                state=RunState.QUEUED, lease_owner=None, lease_until=None
            )
        if is_waking:
            wake_next()


def cancel_claimed(claim: Claim) -> None:
    """End a run whose cancellation its worker has just seen."""
    with transaction.atomic():
        _end(claim.run_id, RunState.CANCELLED, fence=claim.fence, state=RunState.RUNNING)
        wake_next()


def fail_run(claim: Claim, error: Exception) -> None:
    """Record a failure: retryable ones wait and are tried again, at most five in a row.

    A run whose cancellation was asked for is not tried again: it ends as cancelled, at once.
    """
    failure = failure_of(error)
    with transaction.atomic():
        run = (
            Run.objects.select_for_update()
            .filter(pk=claim.run_id, fence=claim.fence, state=RunState.RUNNING)
            .first()
        )
        if run is None:
            return
        attempts = run.attempts + 1
        state = RunState.FAILED
        if run.is_cancel_requested:
            state = RunState.CANCELLED
        elif failure.is_retryable and attempts < MAX_ATTEMPTS:
            state = RunState.QUEUED
        wait = min(BACKOFF_CAP_SECONDS, BACKOFF_SECONDS * 2**attempts)
        wait *= 1 + random.random() / 4  # noqa: S311  (jitter, not a secret)
        again = state == RunState.QUEUED
        Run.objects.filter(pk=run.pk).update(
            state=state,
            lease_owner=None,
            lease_until=None,
            attempts=attempts,
            not_before=Now() + timedelta(seconds=wait) if again else None,
            ended_at=None if again else Now(),
            error_class=failure.name,
            error_text=failure.text,
        )
        wake_next()
    logger.warning("run %s: %s, now %s", claim.run_id, failure.name, state)


def is_another_project_waiting(claim: Claim) -> bool:
    """Tell a long run between its batches whether it should let another project in."""
    return (
        Run.objects.filter(state=RunState.QUEUED, source__in=HEAVY_SOURCES)
        .filter(Q(not_before=None) | Q(not_before__lte=Now()))
        .exclude(scope_id=claim.scope_id)
        .exists()
    )


def requeue_lost_runs() -> int:
    """Take back runs whose worker died or let its lease pass; three silent deaths are poison."""
    taken_back = set()
    with transaction.atomic():
        running = Run.objects.select_for_update(skip_locked=True).filter(state=RunState.RUNNING)
        expired = set(running.filter(lease_until__lt=Now()).values_list("pk", flat=True))
        for run in running:
            if run.pk not in expired and not is_owner_dead(run.lease_owner or "::"):
                continue
            lost = run.lost_leases + 1
            poisoned = lost >= MAX_LOST_LEASES and not run.is_cancel_requested
            to = RunState.CANCELLED if run.is_cancel_requested else RunState.QUEUED
            Run.objects.filter(pk=run.pk, fence=run.fence).update(
                state=RunState.POISONED if poisoned else to,
                lease_owner=None,
                lease_until=None,
                lost_leases=lost,
                ended_at=Now() if poisoned or run.is_cancel_requested else None,
                error_class="WorkerLost" if poisoned else run.error_class,
                error_text=f"worker lost in phase {run.phase}" if poisoned else run.error_text,
            )
            taken_back.add(run.pk)
            logger.warning("run %s lost its worker (%s of %s)", run.pk, lost, MAX_LOST_LEASES)
        if taken_back:
            forget_taken(taken_back)
    return len(taken_back)


def sweep() -> None:
    """Recover lost runs and wake due ones; the supervisor calls this every few seconds."""
    requeue_lost_runs()
    running = Run.objects.filter(state=RunState.RUNNING).exists()
    queued = Run.objects.filter(state=RunState.QUEUED).exists()
    if queued and not running:
        wake_next()


def cancel_run(run: Run) -> str:
    """Cancel: a queued run ends at once, a running one at its next batch. Returns its state."""
    with transaction.atomic():
        # Locked: it may go from one state to the other between two looks.
        locked = Run.objects.select_for_update(no_key=True, of=("self",)).filter(pk=run.pk)
        locked.values_list("pk").first()
        if not _end(run.pk, RunState.CANCELLED, state=RunState.QUEUED):
            running = Run.objects.filter(pk=run.pk, state=RunState.RUNNING)
            running.update(is_cancel_requested=True)
    run.refresh_from_db(fields=["state"])
    return run.state


def retry_run(run: Run) -> bool:
    """Queue a failed, poisoned or cancelled run again from its cursor; False if it is none."""
    with transaction.atomic():
        try:
            with transaction.atomic():
                changed = Run.objects.filter(
                    pk=run.pk,
                    state__in=[RunState.FAILED, RunState.POISONED, RunState.CANCELLED],
                ).update(
                    state=RunState.QUEUED,
                    attempts=0,
                    lost_leases=0,
                    is_cancel_requested=False,
                    not_before=None,
                    ended_at=None,
                    error_class=None,
                    error_text=None,
                )
        except IntegrityError:  # another run of the same source is live already
            return False
        if changed:
            wake(run.pk)
    return bool(changed)
