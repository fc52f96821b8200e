"""The official inspector's command line against our stdio process, where both can run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from codememory.models import Project
from tests.api.agents import process

pytestmark = pytest.mark.django_db(transaction=True)
NODE = (22, 7)
PACKAGE = "@modelcontextprotocol/inspector"


def inspector() -> list[str]:
    """The command of an installed inspector; skips where something is missing, and names it."""
    node, found = shutil.which("node"), shutil.which("mcp-inspector")
    if node is None:
        pytest.skip(f"node is not on PATH: the inspector needs Node {NODE[0]}.{NODE[1]} or newer")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    numbers = tuple(int(number) for number in re.findall(r"\d+", said)[:2])
    if numbers < NODE:
        pytest.skip(f"this is Node {said.strip()}: the inspector needs 22.7 or newer")
    if found:
        return [found, "--cli"]
    npx = shutil.which("npx")
    command = [npx or "", "--no-install", PACKAGE, "--cli"]
    tried = [*command, "--help"]
    if npx is None or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip(f"{PACKAGE} is not installed: neither mcp-inspector nor npx --no-install")
    return command


@pytest.fixture
def agent(alice: Project, tmp_path: Path) -> Path:
    """Starts our process with this test's environment: the inspector hands on next to nothing."""
    ours = process("--project", alice.slug)
    given = [f"{name}={value}" for name, value in (ours.env or {}).items()]
    script = tmp_path / "agent"
    script.write_text(f"#!/bin/sh\nexec env {shlex.join([*given, ours.command, *ours.args])}\n")
    script.chmod(0o700)
    return script


def inspect(agent: Path, *arguments: str) -> dict[str, Any]:
    """What the inspector prints of our process."""
    command = [*inspector(), str(agent), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_the_inspector_lists_the_tools(agent: Path) -> None:
    tools = inspect(agent, "--method", "tools/list")["tools"]
    assert {"engineering_context", "get_evidence"} <= {tool["name"] for tool in tools}
    assert all(tool["outputSchema"] for tool in tools)


def test_the_inspector_calls_a_tool(agent: Path) -> None:
    asked = ("--method", "tools/call", "--tool-name", "project_status")
    found = inspect(agent, *asked)
    assert found["structuredContent"]["project"] == "alpha"
    assert not found.get("isError")
