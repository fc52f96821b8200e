"""Nothing that an agent can call decides on a candidate: not REST, not MCP, not the command line.

A coding agent has a shell, so that forbidding would not do: there is no such code to reach.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from django.core.management import get_commands
from mcp import Client
from rest_framework.test import APIClient

from api.access import ProcessAccess
from api.schema_view import document
from api.server import stdio_server
from codememory.models import AuditEvent, Candidate, Memory, Project, ReviewDecision
from tests.api.agents import in_memory
from tests.api.asking import arguments_of, operations
from tests.api.builders import ids_of

ROOT = Path(__file__).resolve().parents[2]
DECIDING = re.compile(r"promote|reject|defer|supersede|undo|archive|decide|decision|review")
RECORDS = {"ReviewDecision", "Memory"}
WRITING = {"create", "bulk_create", "get_or_create", "update_or_create", "update", "save"}


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Every module behind the agents' interfaces and behind the command line."""
    for package in ("api", "codememory", "collectors"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


# They import parsers by the names that our own callers give; their process has no database.
PARSERS = {"collectors/parse_pool.py", "collectors/parse_worker.py"}


def test_none_of_it_imports_the_code_that_decides() -> None:
    found = [
        name
        for name, tree in trees()
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "review")
        or (isinstance(node, ast.Import) and any(a.name.startswith("review") for a in node.names))
        or (
            isinstance(node, ast.Call)
            and "import_module" in ast.unparse(node.func)
            and name not in PARSERS
        )
    ]
    assert found == []


def test_none_of_it_writes_a_decision_or_a_memory() -> None:
    found = []
    for name, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            made = ast.unparse(node.func)
            is_row = made.rpartition(".")[2] in RECORDS
            is_query = made.split(".")[0] in RECORDS and made.rpartition(".")[2] in WRITING
            found += [f"{name}:{node.lineno}"] if is_row or is_query else []
    assert found == []


def test_no_address_and_no_method_decides() -> None:
    changing = {f"{each.method} {each.path}" for each in operations() if each.method != "get"}
    assert changing == {
        "post /api/v1/projects/{project}/runs",
        "post /api/v1/projects/{project}/runs/{run_id}/cancel",
    }
    assert [path for path in document()["paths"] if DECIDING.search(path)] == []


def test_no_tool_decides() -> None:
    names = {tool.name for tool in anyio.run(stdio_server(ProcessAccess(None)).list_tools)}
    assert [name for name in names if DECIDING.search(name)] == []


def test_no_command_decides() -> None:
    ours = [name for name, app in get_commands().items() if app in {"codememory", "api", "review"}]
    assert ours
    assert [name for name in ours if DECIDING.search(name)] == []


@pytest.mark.parametrize("action", ["promote", "reject", "defer", "undo", "supersede"])
@pytest.mark.usefixtures("collected")
def test_an_agent_that_tries_is_told_that_there_is_nothing(
    alice: Project, proposer: str, action: str
) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {proposer}")
    candidate = Candidate.objects.filter(scope=alice.scope).earliest("pk")
    address = f"/api/v1/projects/alpha/candidates/C{candidate.pk}"
    assert client.post(f"{address}/{action}").status_code == 405
    assert client.post(address, {"state": "PROMOTED"}, format="json").status_code == 405
    assert not ReviewDecision.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("collected")
def test_calling_everything_decides_nothing(alice: Project, proposer: str) -> None:
    before = list(Candidate.objects.order_by("pk").values())
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {proposer}")
    for operation in operations():
        for each in ids_of(alice)[:40] if operation.ids else [None]:
            getattr(client, operation.method)(operation.address("alpha", each))

    async def session(agent: Client) -> None:
        for tool in (await agent.list_tools()).tools:
            await agent.call_tool(tool.name, arguments_of(tool) | {"project": "alpha"})

    in_memory(stdio_server(ProcessAccess(None)), session)
    assert list(Candidate.objects.order_by("pk").values()) == before
    assert not Memory.objects.exists()
    assert not AuditEvent.objects.filter(action__contains="candidate").exists()
