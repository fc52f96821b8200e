"""Each system check finds what it is for, and says what to do."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from django.conf import settings
from django.core.checks import run_checks
from pytest_django import Settings

from codememory import checks


def ids() -> set[str | None]:
    return {message.id for message in run_checks(tags=[checks.TAG])}


def test_our_own_settings_pass_every_check() -> None:
    assert ids() == set()


def test_another_time_zone_is_found(settings: Settings) -> None:
    settings.TIME_ZONE = "Europe/Istanbul"
    assert "codememory.E001" in ids()


@pytest.mark.parametrize(
    "change",
    [
        {"retry": 600},
        {"timeout": 30},
        {"max_attempts": 0},
        {"ack_failures": False},
        {"orm": "other"},
        {"ALT_CLUSTERS": {}},
    ],
)
def test_an_unsafe_queue_is_found(settings: Settings, change: dict[str, Any]) -> None:
    settings.Q_CLUSTER = settings.Q_CLUSTER | change
    assert ids() == {"codememory.E002"}


@pytest.mark.parametrize("version", [None, "2.35.9"])
def test_a_missing_or_old_git_is_found(
    monkeypatch: pytest.MonkeyPatch, version: str | None
) -> None:
    monkeypatch.setattr(checks, "git_version", lambda: version)
    assert ids() == {"codememory.E003"}


@pytest.mark.parametrize(
    ("origin", "number"), [("SECRET_KEY_ORIGIN", "E004"), ("REDACTION_KEY_ORIGIN", "E005")]
)
def test_a_secret_of_this_process_alone_is_found(
    settings: Settings, origin: str, number: str
) -> None:
    setattr(settings, origin, "process")
    assert ids() == {f"codememory.{number}"}


def test_every_finding_has_a_hint(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TIME_ZONE = "Asia/Tokyo"
    settings.SECRET_KEY_ORIGIN = settings.REDACTION_KEY_ORIGIN = "process"
    monkeypatch.setattr(checks, "git_version", lambda: None)
    found = run_checks(tags=[checks.TAG])
    assert len(found) == 4
    assert all(message.hint for message in found)


def test_the_version_is_that_of_the_project_file() -> None:
    project = tomllib.loads((settings.ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == settings.VERSION
