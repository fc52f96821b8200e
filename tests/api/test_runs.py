"""Asking for runs: only what the owner allowed, only with the scope, only one's own to cancel."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from api.access import ProcessAccess
from api.server import stdio_server
from codememory import runs, tokens
from codememory.collect import UpLock
from codememory.models import AuditEvent, Policy, Project, Run
from codememory.projects import primary_worktree
from tests.api.agents import calling, in_memory, over_http, text_of

RUNS = "/api/v1/projects/alpha/runs"


@pytest.fixture
def agent(proposer: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {proposer}")
    return client


def request(agent: APIClient, **body: Any) -> list[dict[str, Any]]:
    answer = agent.post(RUNS, body, format="json")
    assert answer.status_code == 202
    found: list[dict[str, Any]] = answer.json()["runs"]
    return found


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_run_is_queued_for_each_allowed_source(agent: APIClient, alice: Project) -> None:
    found = request(agent)
    assert [(run["source"], run["state"]) for run in found] == [
        ("git", "QUEUED"),
        ("documents", "QUEUED"),
    ]
    assert Run.objects.filter(scope=alice.scope, requested_by__name="proposer").count() == 2


def test_an_empty_body_is_enough(agent: APIClient) -> None:
    assert agent.post(RUNS).status_code == 202


def test_asking_again_joins_the_run_under_way(agent: APIClient) -> None:
    first, second = (request(agent, sources=["git"]) for _ in range(2))
    assert [run["id"] for run in first] == [run["id"] for run in second]


def test_asking_leaves_a_trail(agent: APIClient, alice: Project) -> None:
    [run] = request(agent, sources=["git"])
    event = AuditEvent.objects.get(scope=alice.scope, action="run.request")
    assert (event.subject, event.actor and event.actor.name) == (run["id"], "proposer")


def test_it_is_said_whether_anything_works_on_it(agent: APIClient) -> None:
    lock = UpLock()
    assert "Nothing works on it now" in agent.post(RUNS).json()["note"]
    assert lock.take()
    try:
        answer = agent.post(RUNS).json()
    finally:
        lock.release()
    assert (answer["is_worked_on"], answer["note"]) == (True, None)


def test_a_source_that_the_owner_did_not_allow_is_refused(agent: APIClient, alice: Project) -> None:
    Policy.objects.create(scope=alice.scope, generation=2, sources=["documents"])
    assert code_of(agent.post(RUNS, {"sources": ["git"]}, format="json")) == (
        403,
        "SOURCE_NOT_ALLOWED",
    )
    assert [run["source"] for run in request(agent)] == ["documents"]


def test_reading_alone_asks_for_no_run(rest: APIClient) -> None:
    assert code_of(rest.post(RUNS)) == (403, "PERMISSION_DENIED")
    assert not Run.objects.exists()


def test_asking_alone_reads_no_run(agent: APIClient, alice: Project) -> None:
    _, plain = tokens.create_token("blind", [alice], ["propose"])
    agent.credentials(HTTP_AUTHORIZATION=f"Bearer {plain}")
    [run] = request(agent, sources=["git"])
    assert code_of(agent.get(f"{RUNS}/{run['id']}")) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"sources": ["diary"]}', "INVALID_PARAMETERS"),
        ('{"sources": "git"}', "INVALID_PARAMETERS"),
        ('{"path": "/etc"}', "INVALID_PARAMETERS"),
        ("[]", "INVALID_PARAMETERS"),
        ("null", "INVALID_PARAMETERS"),
        ("{", "PARSE_ERROR"),
        ('{"sources": [], "sources": []}', "PARSE_ERROR"),
        ('{"sources": NaN}', "PARSE_ERROR"),
        ("[" * 9_000, "PARSE_ERROR"),
        (b"\xff", "PARSE_ERROR"),
    ],
)
def test_another_body_is_a_problem(agent: APIClient, body: str, code: str) -> None:
    answer = agent.generic("POST", RUNS, body, content_type="application/json")
    assert code_of(answer) == (400, code)


def test_a_long_body_is_not_read(agent: APIClient) -> None:
    answer = agent.generic("POST", RUNS, " " * 20_000, content_type="application/json")
    assert code_of(answer) == (413, "BODY_TOO_LARGE")


def test_only_json_is_taken(agent: APIClient) -> None:
    answer = agent.post(RUNS, {"sources": "git"})
    assert code_of(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_run_tells_how_far_it_is(agent: APIClient) -> None:
    [run] = request(agent, sources=["git"])
    answer = agent.get(f"{RUNS}/{run['id']}").json()
    assert answer == run
    assert (answer["done"], answer["ended_at"], answer["error"]) == (0, None, None)


def test_an_agent_takes_back_what_it_asked_for(agent: APIClient) -> None:
    [run] = request(agent, sources=["git"])
    answers = [agent.post(f"{RUNS}/{run['id']}/cancel").json() for _ in range(2)]
    assert [answer["state"] for answer in answers] == ["CANCELLED", "CANCELLED"]


def test_a_persons_run_is_not_an_agents_to_cancel(agent: APIClient, alice: Project) -> None:
    run = runs.request_run(primary_worktree(alice), "git", 1, None)
    assert [each["id"] for each in request(agent, sources=["git"])] == [f"R{run.pk}"]
    assert code_of(agent.post(f"{RUNS}/R{run.pk}/cancel")) == (403, "NOT_YOUR_RUN")
    run.refresh_from_db()
    assert (run.state, run.is_cancel_requested) == ("QUEUED", False)


def test_what_has_ended_cannot_be_cancelled(agent: APIClient) -> None:
    [run] = request(agent, sources=["git"])
    Run.objects.update(state="DONE")
    assert code_of(agent.post(f"{RUNS}/{run['id']}/cancel")) == (409, "RUN_ENDED")


@pytest.mark.django_db(transaction=True)
def test_the_owner_of_the_process_asks_as_nobody_else(alice: Project) -> None:
    server = stdio_server(ProcessAccess(None))
    result = in_memory(server, calling("collect_history", sources=["git"]))
    assert not result.is_error
    assert Run.objects.get(scope=alice.scope).requested_by is None


@pytest.mark.django_db(transaction=True)
def test_over_http_the_tool_needs_the_scope(url: str, bearer: str, proposer: str) -> None:
    refused = over_http(f"{url}/mcp", bearer, calling("collect_history"))
    assert "PERMISSION_DENIED" in text_of(refused)
    asked = over_http(f"{url}/mcp", proposer, calling("collect_history"))
    assert asked.structured_content is not None
    assert len(asked.structured_content["runs"]) == Run.objects.count() == 2
