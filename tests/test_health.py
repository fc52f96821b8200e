"""What `/healthz` and `doctor` say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from codememory import health, schema
from codememory.owners import owner_name
from codememory.restarts import Restarts, read_restarts

pytestmark = pytest.mark.django_db


def test_healthz_names_database_and_versions(client: Client) -> None:
    answer = client.get("/healthz").json()
    assert answer["status"] == "ok"
    assert answer["database"]["kind"] == "embedded"
    assert answer["database"]["server"].startswith("18.")


def test_healthz_names_no_folder(client: Client) -> None:
    assert "/" not in client.get("/healthz").content.decode()


def test_healthz_fails_when_the_database_does_not_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OperationalError("connection refused\ndetails of the host")

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["missing"] == ["the database does not answer: connection refused"]


def test_healthz_and_doctor_tell_what_had_to_be_restarted_since_when(
    client: Client, tmp_path: Path, settings: Settings
) -> None:
    settings.CODEMEMORY_HOME = tmp_path
    restarts = Restarts(tmp_path)
    restarts.count("queue_hung")
    told = client.get("/healthz").json()["restarts"]
    assert told == health.report()["restarts"]
    assert (told["queue_hung"], told["since"]) == (1, restarts.since)


def test_the_counts_of_a_dead_supervisor_are_not_told(tmp_path: Path) -> None:
    host = owner_name().split(":")[0]
    Restarts(tmp_path, owner=f"{host}:999999999:1").write()
    assert read_restarts(tmp_path) is None


def test_healthz_fails_in_the_database_of_a_newer_version(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "newest_here", lambda: "0000_before")
    assert client.get("/healthz").status_code == 503


def test_healthz_is_never_cached(client: Client) -> None:
    assert "no-store" in client.get("/healthz")["Cache-Control"]


def test_healthz_only_answers_reading(client: Client) -> None:
    assert client.post("/healthz").status_code == 405


def test_doctor_says_nothing_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("doctor", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["missing"] == []
    assert found["packages"]["django"].startswith("5.2.")


def test_doctor_ends_with_1_when_something_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(health, "OLDEST_SERVER", 99)
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    assert "too old: 99 is the oldest" in capsys.readouterr().out
