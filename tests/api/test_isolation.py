"""Two projects, every id swapped in every endpoint and tool: the same answer as for an absent one.

It goes through the OpenAPI document and the list of tools, so that a new one is never left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp_types import Tool
from rest_framework.test import APIClient

from api.access import ProcessAccess
from api.server import stdio_server
from api.throttle import COUNTER
from codememory import runs, tokens
from codememory.models import Project, Run
from codememory.projects import primary_worktree
from tests.api.agents import Session, in_memory, over_http
from tests.api.asking import ABSENT, Operation, arguments_of, operations
from tests.api.builders import ids_of, make_rule

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ids_of_bob(collected: None, bob: Project, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything Bob's project has an id for, a rule and a waiting run among it."""
    monkeypatch.setattr(COUNTER, "most", 100_000)
    make_rule(bob)
    runs.request_run(primary_worktree(bob), "git", 1, None)
    found = ids_of(bob)
    assert {each[0] for each in found} == set("ABCDFLMRS")
    return found


@pytest.fixture
def proposing(proposer: str) -> APIClient:
    """A client that may call every endpoint of Alice's project."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {proposer}")
    return client


def told(client: APIClient, operation: Operation, address: str) -> tuple[Any, ...]:
    """All that an answer tells."""
    answer = getattr(client, operation.method)(address)
    return answer.status_code, answer.content, dict(answer.headers)


def test_there_is_something_to_go_through() -> None:
    assert len(operations()) >= 17
    assert {name for each in operations() for name in each.ids} == set(ABSENT)


def test_bobs_project_answers_as_an_absent_one(proposing: APIClient, ids_of_bob: list[str]) -> None:
    for operation in operations():
        if "{project}" not in operation.path:
            assert b"beta" not in told(proposing, operation, operation.path)[1]
            continue
        absent = told(proposing, operation, operation.address("nowhere"))
        assert absent[0] == 404, operation
        for each in ids_of_bob if operation.ids else [None]:
            assert told(proposing, operation, operation.address("beta", each)) == absent


def test_every_id_of_bob_answers_as_an_absent_one(
    proposing: APIClient, ids_of_bob: list[str]
) -> None:
    for operation in (each for each in operations() if each.ids):
        absent = told(proposing, operation, operation.address("alpha"))
        assert absent[0] == 404, operation
        for each in ids_of_bob:
            assert told(proposing, operation, operation.address("alpha", each)) == absent


def test_every_path_of_bob_answers_as_an_absent_one(
    proposing: APIClient, ids_of_bob: list[str]
) -> None:
    for operation in (each for each in operations() if "path" in each.query):
        foreign = told(proposing, operation, operation.address("alpha", path="page.py"))
        absent = told(proposing, operation, operation.address("alpha", path="none.py"))
        assert foreign[0] == 200, operation
        assert foreign[1].replace(b"page.py", b"none.py") == absent[1]


def test_a_cursor_of_bob_is_refused(
    proposing: APIClient, ids_of_bob: list[str], bob: Project
) -> None:
    _, plain = tokens.create_token("of bob", [bob], ["read"])
    own = APIClient()
    own.credentials(HTTP_AUTHORIZATION=f"Bearer {plain}")
    for operation in (each for each in operations() if "cursor" in each.query):
        cursor = own.get(operation.address("beta", limit="1")).json().get("next") or "1"
        answer = proposing.get(operation.address("alpha", cursor=cursor))
        assert answer.status_code == 400, operation


def test_nothing_was_asked_of_bobs_project(proposing: APIClient, ids_of_bob: list[str]) -> None:
    before = Run.objects.filter(scope__project__slug="beta").count()
    run = next(each for each in ids_of_bob if each.startswith("R"))
    proposing.post("/api/v1/projects/beta/runs")
    proposing.post(f"/api/v1/projects/alpha/runs/{run}/cancel")
    assert Run.objects.filter(scope__project__slug="beta").count() == before
    assert not Run.objects.filter(is_cancel_requested=True).exists()


@pytest.fixture(params=["in memory", "http"])
def ask(request: pytest.FixtureRequest, alice: Project) -> Callable[[Session[Any]], Any]:
    """Runs a session of an agent that may read Alice's project only."""
    if request.param == "in memory":
        server = stdio_server(ProcessAccess(frozenset({alice.pk})))
        return lambda session: in_memory(server, session)
    url, bearer = request.getfixturevalue("url"), request.getfixturevalue("proposer")
    return lambda session: over_http(f"{url}/mcp", bearer, session)


def test_bobs_project_answers_as_an_absent_one_to_every_tool(
    ask: Callable[[Session[Any]], Any], ids_of_bob: list[str], bob: Project
) -> None:
    async def session(client: Client) -> list[str]:
        different = []
        for tool in (await client.list_tools()).tools:
            if "project" not in tool.input_schema["properties"]:
                continue
            for foreign, absent in (("beta", "nowhere"), (bob.root, f"{bob.root}-not")):
                first = await _said(client, tool, project=foreign)
                if first != await _said(client, tool, project=absent) or not first[0]:
                    different.append(tool.name)
        return different

    assert ask(session) == []


def test_every_id_of_bob_answers_as_an_absent_one_to_every_tool(
    ask: Callable[[Session[Any]], Any], ids_of_bob: list[str]
) -> None:
    async def session(client: Client) -> tuple[set[str], list[str]]:
        swapped, different = set(), []
        for tool in (await client.list_tools()).tools:
            for name in set(tool.input_schema["properties"]) & set(ABSENT):
                swapped.add(name)
                absent = await _said(client, tool, **{name: ABSENT[name]})
                for each in ids_of_bob:
                    found = await _said(client, tool, **{name: each})
                    if found != absent or not found[0]:
                        different.append(f"{tool.name} {name}={each}")
        return swapped, different

    swapped, different = ask(session)
    assert swapped == {"evidence_id", "run_id"}
    assert different == []


async def _said(client: Client, tool: Tool, **more: str) -> tuple[bool | None, str]:
    answer = await client.call_tool(tool.name, {**arguments_of(tool), **more})
    return answer.is_error, answer.model_dump_json()
