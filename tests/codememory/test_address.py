"""Where `up` serves: known while it runs, and said to be a guess when it does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from codememory import address
from codememory.collect import UpLock
from tests.commands import said

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(settings, "CODEMEMORY_HOME", tmp_path)


@pytest.fixture
def up() -> Iterator[None]:
    lock = UpLock()
    assert lock.take()
    address.leave_address(9123)
    yield
    lock.release()


def test_commands_print_the_address_of_the_running_up(up: None) -> None:
    answer = said("createadmin", "second")
    assert answer.out.startswith("sign-in: http://127.0.0.1:9123/accounts/start/")
    assert "default port" not in answer.err


def test_without_an_up_the_default_is_said_to_be_one() -> None:
    answer = said("createadmin", "second")
    assert answer.out.startswith("sign-in: http://127.0.0.1:8420/")
    assert "It opens when `up` runs (default port)." in answer.err


def test_the_address_of_a_killed_up_is_not_believed() -> None:
    address.leave_address(9123)
    assert address.served_address() is None


def test_what_is_asked_for_goes_first(up: None) -> None:
    assert address.shown_address("https://memory.example/") == ("https://memory.example", "")


def test_a_stopped_up_leaves_no_address(up: None) -> None:
    address.remove_address()
    assert address.served_address() is None
