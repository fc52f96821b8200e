from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from codememory.errors import CodeMemoryError
from codememory.models import Project
from tests.api.agents import calling, over_stdio, process, text_of

pytestmark = pytest.mark.django_db(transaction=True)
# Writes to stdout in every way there is.
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


def test_an_agent_is_served_over_stdio(alice: Project, bob: Project) -> None:
    result = over_stdio(process("--project", "alpha"), calling("project_status"))
    assert result.structured_content["project"] == "alpha"


def test_only_the_named_projects_can_be_read(alice: Project, bob: Project) -> None:
    foreign = over_stdio(
        process("--project", alice.root), calling("project_status", project="beta")
    )
    absent = over_stdio(
        process("--project", alice.root), calling("project_status", project="nowhere")
    )
    assert foreign.is_error
    assert text_of(foreign) == text_of(absent)


def test_the_project_of_the_directory_is_served(alice: Project, bob: Project) -> None:
    result = over_stdio(process(cwd=Path(bob.root)), calling("list_projects"))
    assert [row["project"] for row in result.structured_content["projects"]] == ["beta"]


def test_elsewhere_all_projects_are_served(alice: Project, bob: Project, tmp_path: Path) -> None:
    result = over_stdio(process(cwd=tmp_path), calling("list_projects"))
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
    with pytest.raises(CodeMemoryError, match="nowhere"):
        call_command("mcp", project=["nowhere"])
