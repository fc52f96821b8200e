from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anyio
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from codememory.models import Project
from tests.api.agents import calling, text_of

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]
# What manage.py does once its environment stands; `noise` writes to stdout in every way there is.
START = "import sys; from codememory.entry import run; sys.exit(run(sys.argv[1:]))"
NOISE = """
import os
import codememory.status as status

quiet = status.project_status

def noisy(project):
    print("stray print")
    os.write(1, b"stray write")
    os.system("echo stray child")
    return quiet(project)

status.project_status = noisy
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
CONVERSATION: list[dict[str, Any]] = [
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "project_status", "arguments": {}}},
]


def process(*arguments: str, cwd: Path = ROOT, before: str = "") -> StdioServerParameters:
    given = connection.settings_dict
    place = {"host": given["HOST"], "port": given["PORT"], "user": given["USER"]}
    url = f"postgresql:///{given['NAME']}?{urlencode(place)}"
    start = START if not before else f"import django; django.setup()\n{before}\n{START}"
    environment = os.environ | {"DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONUNBUFFERED", None)  # what a print leaves in a buffer comes out last
    return StdioServerParameters(
        command=sys.executable, args=["-c", start, "mcp", *arguments], env=environment, cwd=cwd
    )


def over_stdio(parameters: StdioServerParameters, tool: str, **arguments: Any) -> Any:
    async def main() -> Any:
        async with Client(stdio_client(parameters)) as client:
            return await calling(tool, **arguments)(client)

    return anyio.run(main)


def test_an_agent_is_served_over_stdio(alice: Project, bob: Project) -> None:
    result = over_stdio(process("--project", "alpha"), "project_status")
    assert result.structured_content["project"] == "alpha"


def test_only_the_named_projects_can_be_read(alice: Project, bob: Project) -> None:
    foreign = over_stdio(process("--project", alice.root), "project_status", project="beta")
    absent = over_stdio(process("--project", alice.root), "project_status", project="nowhere")
    assert foreign.is_error
    assert text_of(foreign) == text_of(absent)


def test_the_project_of_the_directory_is_served(alice: Project, bob: Project) -> None:
    result = over_stdio(process(cwd=Path(bob.root)), "list_projects")
    assert [row["project"] for row in result.structured_content["projects"]] == ["beta"]


def test_elsewhere_all_projects_are_served(alice: Project, bob: Project, tmp_path: Path) -> None:
    result = over_stdio(process(cwd=tmp_path), "list_projects")
    assert [row["project"] for row in result.structured_content["projects"]] == ["alpha", "beta"]


def test_stdout_carries_json_rpc_alone_whatever_prints(alice: Project) -> None:
    parameters = process("--project", "alpha", before=NOISE)
    command = [parameters.command, *parameters.args]
    with subprocess.Popen(
        command, env=parameters.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for message in CONVERSATION:
            agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        agent.stdin.flush()
        answers = [json.loads(agent.stdout.readline()) for _ in range(2)]
        agent.stdin.close()
        assert agent.stdout.read() == ""
    assert "alpha" in str(answers[1]["result"])


def test_a_signal_ends_it_while_the_agent_stays_silent(alice: Project) -> None:
    parameters = process("--project", "alpha")
    command = [parameters.command, *parameters.args]
    with subprocess.Popen(
        command, env=parameters.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(json.dumps({"jsonrpc": "2.0", **CONVERSATION[0]}) + "\n")
        agent.stdin.flush()
        agent.stdout.readline()
        agent.terminate()
        assert agent.wait(timeout=30) == 128 + signal.SIGTERM


def test_an_unknown_project_is_refused_at_the_start() -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("mcp", project=["nowhere"])
