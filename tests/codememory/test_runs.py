"""Runs: one claim at a time, rows only under the current fence, every ending a named state."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models.functions import Now
from django_q.models import OrmQ

from codememory import owners, runs, schema, slices, wake_ups
from codememory.errors import LeaseLostError, RunCancelledError, SourceUnreadableError
from codememory.models import Project, Run, RunState, Worktree
from tests.builders import make_project

pytestmark = pytest.mark.django_db


def queue_run(project: Project, source: str = "git") -> Run:
    worktree = Worktree.objects.get(scope=project.scope)
    return runs.request_run(worktree, source, 1, None)


def claimed(run: Run) -> runs.Claim:
    claim = runs.claim_run(run.pk)
    assert claim is not None
    return claim


def state_of(run: Run) -> str:
    run.refresh_from_db()
    return run.state


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - timedelta(seconds=1))


def test_a_request_queues_the_run_and_its_wake_up_together() -> None:
    run = queue_run(make_project())
    assert run.state == RunState.QUEUED
    assert OrmQ.objects.count() == 1


def test_a_second_request_joins_the_live_run() -> None:
    project = make_project()
    assert queue_run(project).pk == queue_run(project).pk
    assert Run.objects.count() == 1


def test_a_request_after_a_run_has_begun_is_followed_by_another_run() -> None:
    project = make_project()
    run = queue_run(project)
    claim = claimed(run)
    assert queue_run(project).pk == queue_run(project).pk == run.pk
    with runs.fenced(claim) as row:
        runs.finish_run(row)
    (after,) = Run.objects.exclude(pk=run.pk)
    assert (state_of(run), after.state, after.source) == (RunState.DONE, RunState.QUEUED, "git")
    assert after.pk in wake_ups._waiting().values()
    with runs.fenced(claimed(after)) as row:
        runs.finish_run(row)
    assert Run.objects.count() == 2


def test_a_request_before_a_run_has_begun_is_that_run() -> None:
    project = make_project()
    queue_run(project)
    with runs.fenced(claimed(queue_run(project))) as row:
        runs.finish_run(row)
    assert Run.objects.count() == 1


def test_a_claimed_run_is_not_claimed_again() -> None:
    run = queue_run(make_project())
    claimed(run)
    assert runs.claim_run(run.pk) is None


def test_a_later_claim_has_a_higher_fence() -> None:
    run = queue_run(make_project())
    first = claimed(run)
    runs.yield_run(first)
    assert claimed(run).fence > first.fence


def test_one_heavy_run_goes_at_a_time() -> None:
    first, second = queue_run(make_project("one")), queue_run(make_project("two"))
    claimed(first)
    assert runs.claim_run(second.pk) is None


def test_a_light_run_of_another_project_goes_beside_a_heavy_one() -> None:
    heavy = queue_run(make_project("one"))
    light = queue_run(make_project("two"), "documents")
    claimed(heavy)
    assert runs.claim_run(light.pk) is not None


def test_rows_and_cursor_are_written_together() -> None:
    run = queue_run(make_project())
    with runs.fenced(claimed(run)) as row:
        row.cursor = {"position": 7}
        row.done = 7
    run.refresh_from_db()
    assert (run.cursor, run.done) == ({"position": 7}, 7)


def test_a_stale_fence_writes_nothing() -> None:
    run = queue_run(make_project())
    old = claimed(run)
    expire(run)
    runs.requeue_lost_runs()
    claimed(run)
    with pytest.raises(LeaseLostError), runs.fenced(old) as row:
        row.done = 99
    run.refresh_from_db()
    assert run.done == 0


def test_an_expired_lease_writes_nothing_even_before_it_is_taken_back() -> None:
    run = queue_run(make_project())
    claim = claimed(run)
    expire(run)
    with pytest.raises(LeaseLostError), runs.fenced(claim):
        pass


def test_a_heartbeat_extends_only_its_own_lease() -> None:
    run = queue_run(make_project())
    old = claimed(run)
    assert runs.extend_lease(old)
    runs.yield_run(old)
    claimed(run)
    assert not runs.extend_lease(old)


def test_a_run_whose_worker_died_on_this_host_is_taken_back_at_once() -> None:
    run = queue_run(make_project())
    claimed(run)
    host = owners.owner_name().split(":")[0]
    Run.objects.filter(pk=run.pk).update(lease_owner=f"{host}:999999999:1")
    assert runs.requeue_lost_runs() == 1
    assert state_of(run) == RunState.QUEUED


def test_a_live_worker_keeps_its_run() -> None:
    run = queue_run(make_project())
    claimed(run)
    assert runs.requeue_lost_runs() == 0
    assert state_of(run) == RunState.RUNNING


def test_three_silent_deaths_are_poison() -> None:
    run = queue_run(make_project())
    for _ in range(3):
        claimed(run)
        expire(run)
        runs.requeue_lost_runs()
    assert state_of(run) == RunState.POISONED
    assert run.error_class == "WorkerLost"


def test_progress_forgets_earlier_deaths() -> None:
    run = queue_run(make_project())
    for _ in range(4):
        with runs.fenced(claimed(run)) as row:
            row.done += 1
        expire(run)
        runs.requeue_lost_runs()
    assert state_of(run) == RunState.QUEUED


def test_a_retryable_failure_waits_and_is_tried_again() -> None:
    run = queue_run(make_project())
    runs.fail_run(claimed(run), SourceUnreadableError("BUSY", "later", retryable=True))
    assert state_of(run) == RunState.QUEUED
    assert run.not_before is not None
    assert runs.claim_run(run.pk) is None


def test_a_permanent_failure_ends_the_run_with_its_reason() -> None:
    run = queue_run(make_project())
    runs.fail_run(claimed(run), SourceUnreadableError("NOT_A_REPOSITORY", "no .git here"))
    assert state_of(run) == RunState.FAILED
    assert run.error_text == "NOT_A_REPOSITORY: no .git here"


def test_the_text_of_a_foreign_error_is_not_kept() -> None:
    run = queue_run(make_project())
    runs.fail_run(claimed(run), ValueError("a line of somebody's file"))
    assert state_of(run) == RunState.FAILED
    assert (run.error_class, run.error_text) == ("ValueError", None)


def test_five_failures_in_a_row_end_the_run() -> None:
    run = queue_run(make_project())
    for _ in range(5):
        Run.objects.filter(pk=run.pk).update(not_before=None)
        runs.fail_run(claimed(run), SourceUnreadableError("BUSY", "later", retryable=True))
    assert state_of(run) == RunState.FAILED


def test_a_queued_run_is_cancelled_at_once() -> None:
    run = queue_run(make_project())
    assert runs.cancel_run(run) == RunState.CANCELLED
    assert runs.claim_run(run.pk) is None


def test_a_running_one_publishes_nothing_after_the_cancel() -> None:
    run = queue_run(make_project())
    claim = claimed(run)
    assert runs.cancel_run(run) == RunState.RUNNING
    with pytest.raises(RunCancelledError), runs.fenced(claim):
        pass
    runs.cancel_claimed(claim)
    assert state_of(run) == RunState.CANCELLED


def test_a_cancelled_run_can_be_retried_from_its_cursor() -> None:
    run = queue_run(make_project())
    with runs.fenced(claimed(run)) as row:
        row.cursor = {"position": 3}
    runs.yield_run(runs.Claim(run.pk, run.scope_id, Run.objects.get(pk=run.pk).fence))
    runs.cancel_run(run)
    assert runs.retry_run(run)
    assert state_of(run) == RunState.QUEUED
    assert run.cursor == {"position": 3}


def cancelled_while_running() -> tuple[Run, runs.Claim]:
    run = queue_run(make_project())
    claim = claimed(run)
    runs.cancel_run(run)
    return run, claim


def test_a_cancelled_run_that_fails_ends_at_once() -> None:
    run, claim = cancelled_while_running()
    runs.fail_run(claim, SourceUnreadableError("BUSY", "later", retryable=True))
    assert state_of(run) == RunState.CANCELLED
    assert run.not_before is None


def test_a_cancelled_run_whose_slice_is_over_ends_at_once() -> None:
    run, claim = cancelled_while_running()
    runs.yield_run(claim)
    assert state_of(run) == RunState.CANCELLED


def test_a_cancelled_run_is_not_poisoned_by_its_last_lost_worker() -> None:
    run, _ = cancelled_while_running()
    Run.objects.filter(pk=run.pk).update(lost_leases=2)
    expire(run)
    runs.requeue_lost_runs()
    assert state_of(run) == RunState.CANCELLED


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE])
def test_a_full_disk_is_tried_again_and_said(code: int) -> None:
    run = queue_run(make_project())
    runs.fail_run(claimed(run), OSError(code, "words of the system", "/a/file/of/somebody"))
    assert state_of(run) == RunState.QUEUED
    assert run.error_text is not None
    assert run.error_text.startswith(("DISK_FULL: no space is left", "BUSY: EMFILE"))


def test_a_lost_connection_is_tried_again() -> None:
    run = queue_run(make_project())
    runs.fail_run(claimed(run), OperationalError("server closed the connection"))
    assert state_of(run) == RunState.QUEUED
    assert run.error_text == "DATABASE_GONE: the connection broke; it is tried again"


def test_nothing_is_claimed_nor_written_in_another_versions_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, other = queue_run(make_project("one")), queue_run(make_project("two"), "documents")
    claim = claimed(run)
    monkeypatch.setattr(schema, "newest_here", lambda: "0000_before")
    assert runs.claim_run(other.pk) is None
    with pytest.raises(schema.SchemaChangedError), runs.fenced(claim):
        pass


def woken() -> list[int]:
    return [task.task["args"][0] for task in OrmQ.objects.order_by("pk")]


def test_the_project_served_longest_ago_is_woken_first() -> None:
    first, second = make_project("one"), make_project("two")
    one, two = queue_run(first), queue_run(second)
    runs.yield_run(claimed(one))
    OrmQ.objects.all().delete()
    wake_ups.wake_next()
    assert woken() == [two.pk]


def test_a_light_run_is_woken_beside_heavy_ones() -> None:
    heavy = [queue_run(make_project(name)) for name in ("one", "two")]
    light = queue_run(make_project("three"), "documents")
    OrmQ.objects.all().delete()
    wake_ups.wake_next()
    assert woken() == [heavy[0].pk, light.pk]


def test_a_run_with_a_waiting_wake_up_is_not_woken_again() -> None:
    run = queue_run(make_project())
    for _ in range(3):
        wake_ups.wake_next()
    assert woken() == [run.pk]


def test_a_wake_up_that_a_dead_worker_took_does_not_count() -> None:
    run = queue_run(make_project())
    OrmQ.objects.update(lock=Now() + timedelta(seconds=1000))
    runs.sweep()
    assert woken() == [run.pk, run.pk]


def test_the_wake_up_of_a_lost_worker_goes_with_it() -> None:
    """Otherwise the cluster would seem to hold a task that it never ends."""
    run, other = queue_run(make_project("one")), queue_run(make_project("two"), "documents")
    claimed(run)
    OrmQ.objects.update(lock=Now() + timedelta(seconds=1000))
    expire(run)
    runs.requeue_lost_runs()
    assert woken() == [other.pk]


def test_a_sweep_wakes_a_run_that_nobody_was_told_of() -> None:
    run = queue_run(make_project())
    OrmQ.objects.all().delete()
    runs.sweep()
    assert woken() == [run.pk]


def test_wake_ups_of_ended_runs_are_forgotten() -> None:
    ended, live = queue_run(make_project("one")), queue_run(make_project("two"))
    runs.cancel_run(ended)
    wake_ups.forget_ended()
    assert woken() == [live.pk]


def test_a_run_given_back_without_waking_wakes_nobody() -> None:
    run = queue_run(make_project())
    OrmQ.objects.all().delete()
    runs.yield_run(claimed(run), is_waking=False)
    assert state_of(run) == RunState.QUEUED
    assert woken() == []


def test_a_cancelled_run_that_is_not_claimed_wakes_the_next() -> None:
    first, second = queue_run(make_project("one")), queue_run(make_project("two"))
    Run.objects.filter(pk=first.pk).update(is_cancel_requested=True)
    OrmQ.objects.all().delete()
    assert runs.claim_run(first.pk) is None
    assert state_of(first) == RunState.CANCELLED
    assert woken() == [second.pk]


@pytest.mark.django_db(transaction=True)
def test_a_cancel_is_not_lost_while_the_run_changes_its_state() -> None:
    run = queue_run(make_project())
    claim = claimed(run)
    with ThreadPoolExecutor(1) as beside:
        with transaction.atomic():
            runs.yield_run(claim)
            cancelling = beside.submit(in_thread, runs.cancel_run, Run.objects.get(pk=run.pk))
            wait_for_waiting_lock()
        assert cancelling.result() == RunState.CANCELLED
    assert state_of(run) == RunState.CANCELLED


def in_thread(action: Callable[[Run], str], run: Run) -> str:
    try:
        return action(run)
    finally:
        connection.close()


def wait_for_waiting_lock() -> None:
    for _ in range(200):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)


def test_a_retried_run_does_not_wait_for_an_earlier_pause() -> None:
    run = queue_run(make_project())
    runs.fail_run(claimed(run), SourceUnreadableError("BUSY", "later", retryable=True))
    runs.cancel_run(run)
    assert runs.retry_run(run)
    assert runs.claim_run(run.pk) is not None


def test_starting_again_does_not_forgive_earlier_failures() -> None:
    run = queue_run(make_project())
    Run.objects.filter(pk=run.pk).update(attempts=3, lost_leases=1)
    with runs.fenced(claimed(run), is_progress=False) as row:
        row.cursor = {"position": 0}
    run.refresh_from_db()
    assert (run.attempts, run.lost_leases, run.cursor) == (3, 1, {"position": 0})


def test_a_heartbeat_goes_on_after_an_error_of_the_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "LEASE", timedelta(seconds=0.03))
    monkeypatch.setattr(slices, "RETRY_SECONDS", 0.01)
    beats: list[int] = []

    def extend(_: runs.Claim) -> bool:
        beats.append(1)
        if len(beats) == 1:
            raise OperationalError
        return True

    monkeypatch.setattr(runs, "extend_lease", extend)
    with slices.Heartbeat(runs.Claim(1, 1, 1)):
        time.sleep(0.5)
    assert len(beats) > 2


def test_a_slice_of_a_removed_run_is_quietly_over() -> None:
    slices.work_slice(runs.Claim(999_999, 1, 1))
