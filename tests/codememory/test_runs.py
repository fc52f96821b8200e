"""Runs: one claim at a time, rows only under the current fence, every ending a named state."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django_q.models import OrmQ

from codememory import runs
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
    host = runs.owner_name().split(":")[0]
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


def test_the_project_served_longest_ago_is_woken_first() -> None:
    first, second = make_project("one"), make_project("two")
    one, two = queue_run(first), queue_run(second)
    runs.yield_run(claimed(one))
    OrmQ.objects.all().delete()
    runs.wake_next()
    woken = [task.task["args"][0] for task in OrmQ.objects.order_by("pk")]
    assert woken == [two.pk, one.pk]


def test_a_sweep_wakes_a_run_that_nobody_was_told_of() -> None:
    run = queue_run(make_project())
    OrmQ.objects.all().delete()
    runs.sweep()
    assert [task.task["args"][0] for task in OrmQ.objects.all()] == [run.pk]
