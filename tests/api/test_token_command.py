from __future__ import annotations

import json
from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command

from api.management.commands.token import duration
from codememory import tokens
from codememory.errors import CodeMemoryError
from codememory.models import Project


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("token", *arguments)
    return capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(run(capsys, *arguments, "--json"))


def create(capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    return run_json(capsys, "create", "--project", "alpha", *more)


def test_a_token_is_printed_with_how_to_use_it(
    alice: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run(capsys, "create", "--project", "alpha", "--scopes", "read,propose")
    plain = text.splitlines()[0].removeprefix("token: ")
    token = tokens.verify(plain)
    assert token is not None
    assert token.scopes == ["propose", "read"]
    assert "curl" in text
    assert "/mcp" in text


def test_the_printed_configurations_are_json(
    alice: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(capsys, "create", "--project", "alpha").splitlines()
    http, stdio = (json.loads(line)["mcpServers"]["codememory"] for line in lines if "{" in line)
    assert http["headers"]["Authorization"].startswith("Bearer cmt_")
    assert stdio["args"] == ["mcp", "--project", "alpha"]


def test_without_an_up_its_address_is_said_to_be_a_guess(
    alice: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run(capsys, "create", "--project", "alpha")
    assert "REST, when `up` runs (default port):" in text
    given = run(capsys, "create", "--project", "alpha", "--url", "https://memory.example/")
    assert "https://memory.example/mcp" in given
    assert "default port" not in given


def test_a_token_is_never_listed_in_full(
    alice: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = create(capsys, "--expires", "30d")["token"]
    [row] = run_json(capsys, "list")["tokens"]
    assert plain not in str(row)
    assert row["prefix"] == plain[:12]
    assert row["state"] == "live"
    assert row["projects"] == ["alpha"]


def test_a_revoked_token_is_listed_as_such(
    alice: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = create(capsys)["token"]
    run(capsys, "revoke", plain[:12])
    assert tokens.verify(plain) is None
    assert run_json(capsys, "list")["tokens"][0]["state"] == "revoked"


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "--project", "nowhere"],
        ["create", "--project", "alpha", "--scopes", "promote"],
        ["create", "--project", "alpha", "--expires", "0d"],
        ["create", "--project", "alpha", "--expires", "2001-01-01"],
        ["revoke", "cmt_nothing"],
    ],
)
def test_what_cannot_be_done_is_refused(alice: Project, arguments: list[str]) -> None:
    with pytest.raises(CodeMemoryError):
        call_command("token", *arguments)


def test_durations_are_read() -> None:
    assert duration("30d") == timedelta(days=30)
    assert duration("2w") == timedelta(weeks=2)
    assert duration("12h") == timedelta(hours=12)


@pytest.mark.parametrize("text", ["", "d", "-1d", "1.5d", "1y", "soon", "2027-13-01"])
def test_other_durations_are_a_mistake_of_usage(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        duration(text)
