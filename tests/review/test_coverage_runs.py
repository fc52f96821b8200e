"""Retry and cancel from the dashboard: only what the state allows, by POST, with a trace."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from codememory import runs
from codememory.models import AuditEvent, Project, Run, RunState, Worktree
from tests.builders import signed_in

pytestmark = pytest.mark.django_db
ENDED = [RunState.FAILED, RunState.POISONED, RunState.CANCELLED]


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def staff(root: User) -> Client:
    return signed_in(root)


@pytest.fixture
def worktree(project: Project) -> Worktree:
    return Worktree.objects.get(scope=project.scope)


def make_run(worktree: Worktree, state: str) -> Run:
    return Run.objects.create(
        scope=worktree.scope, worktree=worktree, source="git", state=state, policy_generation=1
    )


def state_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).state


def traces() -> list[tuple[str, str, str]]:
    events = AuditEvent.objects.filter(action__startswith="run.").select_related("actor")
    return [(event.action, event.subject, str(event.actor)) for event in events]


@pytest.mark.parametrize("state", ENDED)
def test_an_ended_run_is_tried_again(state: str, worktree: Worktree, staff: Client) -> None:
    run = make_run(worktree, state)
    assert "Retry" in staff.get("/admin/").content.decode() or state == RunState.CANCELLED
    answer = staff.post(f"/admin/runs/{run.pk}/retry", follow=True)
    assert f"R{run.pk} goes on where it ended" in answer.content.decode()
    assert state_of(run) == RunState.QUEUED
    assert traces() == [("run.retry", f"R{run.pk}", "root")]


def test_a_queued_run_is_cancelled_at_once(worktree: Worktree, staff: Client) -> None:
    run = make_run(worktree, RunState.QUEUED)
    answer = staff.post(f"/admin/runs/{run.pk}/cancel?project=payments-api", follow=True)
    assert answer.redirect_chain[-1][0] == "/admin/?project=payments-api"
    assert f"Cancelled R{run.pk}" in answer.content.decode()
    assert state_of(run) == RunState.CANCELLED
    assert traces() == [("run.cancel", f"R{run.pk}", "root")]


def test_a_running_run_is_asked_to_end(worktree: Worktree, staff: Client) -> None:
    run = make_run(worktree, RunState.QUEUED)
    assert runs.claim_run(run.pk) is not None
    answer = staff.post(f"/admin/runs/{run.pk}/cancel", follow=True)
    assert "ends at its next batch" in answer.content.decode()
    assert Run.objects.get(pk=run.pk).is_cancel_requested


@pytest.mark.parametrize(
    ("state", "act"),
    [(RunState.DONE, "retry"), (RunState.QUEUED, "retry"), (RunState.DONE, "cancel"),
     (RunState.FAILED, "cancel"), (RunState.POISONED, "cancel")],
)  # fmt: skip
def test_what_the_state_does_not_allow_changes_nothing(
    state: str, act: str, worktree: Worktree, staff: Client
) -> None:
    run = make_run(worktree, state)
    answer = staff.post(f"/admin/runs/{run.pk}/{act}")
    assert answer.status_code == 409
    assert f"R{run.pk} is {state.lower()}" in answer.content.decode()
    assert (state_of(run), traces()) == (state, [])


def test_a_failed_run_stays_so_while_another_is_live(worktree: Worktree, staff: Client) -> None:
    failed = make_run(worktree, RunState.FAILED)
    make_run(worktree, RunState.QUEUED)
    answer = staff.post(f"/admin/runs/{failed.pk}/retry")
    assert (answer.status_code, state_of(failed)) == (409, RunState.FAILED)
    assert "Another run of the same source is live" in answer.content.decode()


def test_reading_the_address_changes_nothing(worktree: Worktree, staff: Client) -> None:
    run = make_run(worktree, RunState.QUEUED)
    staff.get(f"/admin/runs/{run.pk}/cancel")
    assert state_of(run) == RunState.QUEUED


def test_a_form_without_its_token_is_refused(worktree: Worktree, root: User) -> None:
    run = make_run(worktree, RunState.QUEUED)
    client = signed_in(root, enforce_csrf_checks=True)
    assert client.post(f"/admin/runs/{run.pk}/cancel").status_code == 403
    assert state_of(run) == RunState.QUEUED


def test_nobody_but_staff_acts_under_admin(worktree: Worktree, alice: User) -> None:
    run = make_run(worktree, RunState.QUEUED)
    answer = signed_in(alice).post(f"/admin/runs/{run.pk}/cancel", follow=True)
    assert (answer.status_code, state_of(run)) == (403, RunState.QUEUED)


def test_a_lead_acts_on_runs_of_their_project_alone(worktree: Worktree, bob: User) -> None:
    own = make_run(Worktree.objects.get(scope__project__slug="other"), RunState.FAILED)
    foreign = make_run(worktree, RunState.FAILED)
    lead = signed_in(bob)
    for run, status in ((own, 302), (foreign, 404)):
        answer = lead.post(f"/projects/other/coverage/runs/{run.pk}/retry")
        assert answer.status_code == status
    assert (state_of(own), state_of(foreign)) == (RunState.QUEUED, RunState.FAILED)
    assert traces() == [("run.retry", f"R{own.pk}", "bob")]


def test_a_reviewer_may_not_act_on_runs(worktree: Worktree, alice: User) -> None:
    run = make_run(worktree, RunState.QUEUED)
    answer = signed_in(alice).post(f"/projects/payments-api/coverage/runs/{run.pk}/cancel")
    assert (answer.status_code, state_of(run)) == (403, RunState.QUEUED)


def test_the_runs_that_need_somebody_have_no_later_one(worktree: Worktree, staff: Client) -> None:
    make_run(worktree, RunState.FAILED)
    make_run(worktree, RunState.DONE)
    lost = make_run(worktree, RunState.POISONED)
    text = staff.get("/admin/codememory/run/?needs=you").content.decode()
    assert 'data-rows="1"' in text
    assert f">R{lost.pk}</a>" in text
