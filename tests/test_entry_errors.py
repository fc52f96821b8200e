"""Under --json an error is a JSON document too, so that no program has to read sentences."""

from __future__ import annotations

import json

import pytest

from codememory import entry
from codememory.errors import BadCursorError, RefusedProjectError, UnknownProjectError

pytestmark = pytest.mark.django_db


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = entry.run(list(arguments))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.fixture(autouse=True)
def lend_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own database is open already, and stays so."""
    monkeypatch.setattr(entry, "needs_database", lambda _: False)
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)


def test_an_error_under_json_is_one_document_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "status", "--project", "absent", "--json")
    error = json.loads(out)["error"]
    assert (status, err, error["code"]) == (1, "", "UNKNOWN_PROJECT")
    assert "absent" in error["message"]
    assert error["hint"] == UnknownProjectError.hint


def test_without_json_it_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "status", "--project", "ab\u200bsent")
    assert (status, out) == (1, "")
    assert err.startswith("codememory: no project 'ab\\u200bsent'")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "--json"], "USAGE"),
        (["list", "nonsense", "--json"], "USAGE"),
        (["token", "create", "--json"], "USAGE"),
        (["serch", "x", "--json"], "UNKNOWN_COMMAND"),
    ],
)
def test_a_mistake_of_usage_is_told_alike(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, err, json.loads(out)["error"]["code"]) == (2, "", code)


def test_a_refusal_has_its_reason_as_its_code() -> None:
    error = RefusedProjectError("NOT_A_REPOSITORY", "git init makes one")
    assert (error.code, error.hint) == ("NOT_A_REPOSITORY", "git init makes one")
    assert BadCursorError().code == "BAD_CURSOR"
