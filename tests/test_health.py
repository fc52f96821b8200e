"""What `/healthz` and `doctor` say."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client

from codememory import health

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
