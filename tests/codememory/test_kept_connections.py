"""A session stays for the next request, as new as one that was just opened."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from codememory import kept_connections
from codememory.kept_connections import close_kept, keep_connections

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def keeping(transactional_db: None) -> Iterator[None]:
    connection.ensure_connection()  # it must not take what a test leaves
    keep_connections()
    yield
    close_kept()


def opened() -> BaseDatabaseWrapper:
    """A connection as a request has its own."""
    return connection.copy()


def ask(wrapper: BaseDatabaseWrapper, statement: str) -> Any:
    with wrapper.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0] if cursor.description else None


def pid_of(wrapper: BaseDatabaseWrapper) -> int:
    return int(ask(wrapper, "SELECT pg_backend_pid()"))


def test_the_next_request_has_the_same_session() -> None:
    first = opened()
    pid = pid_of(first)
    first.close()
    second, third = opened(), opened()
    assert pid_of(second) == pid
    assert pid_of(third) != pid, "it is in use"
    second.close()
    third.close()


def test_nothing_of_a_request_is_left_for_the_next() -> None:
    first = opened()
    pid, before = pid_of(first), ask(first, "SHOW work_mem")
    ask(first, "SET work_mem = '3MB'")
    ask(first, "CREATE TEMP TABLE secret AS SELECT 1 AS n")
    ask(first, "SELECT pg_advisory_lock(4711)")
    first.close()
    second = opened()
    assert pid_of(second) == pid
    assert ask(second, "SHOW work_mem") == before
    assert ask(second, "SELECT to_regclass('secret')") is None
    assert ask(second, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
    assert ask(second, "SHOW TimeZone") == ask(connection, "SHOW TimeZone")
    second.close()


def test_one_that_ended_meanwhile_is_not_given_out() -> None:
    first = opened()
    pid = pid_of(first)
    first.close()
    ask(connection, f"SELECT pg_terminate_backend({pid}, 5000)")
    second = opened()
    assert pid_of(second) != pid
    second.close()


def test_one_in_the_middle_of_something_is_closed() -> None:
    first = opened()
    pid = pid_of(first)
    first.set_autocommit(False)
    ask(first, "SELECT 1")
    first.close()
    second = opened()
    assert pid_of(second) != pid
    second.close()


def test_one_that_failed_is_closed() -> None:
    first = opened()
    pid = pid_of(first)
    first.errors_occurred = True
    first.close()
    second = opened()
    assert pid_of(second) != pid
    second.close()


def test_few_are_kept() -> None:
    many = [opened() for _ in range(kept_connections.MOST_KEPT + 2)]
    pids = [pid_of(one) for one in many]
    for one in many:
        one.close()
    assert len(kept_connections._kept) == kept_connections.MOST_KEPT
    again = [opened() for _ in many]
    assert len({pid_of(one) for one in again} & set(pids)) == kept_connections.MOST_KEPT
    for one in again:
        one.close()


def test_old_ones_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened()
    pid = pid_of(first)
    first.close()
    monkeypatch.setattr(kept_connections, "IDLE_SECONDS", -1.0)
    second = opened()
    assert pid_of(second) != pid
    second.close()


def test_another_thread_may_have_it() -> None:
    first = opened()
    pid = pid_of(first)
    first.close()
    found: list[int] = []

    def request() -> None:
        own = opened()
        found.append(pid_of(own))
        own.close()

    for _ in range(2):
        thread = Thread(target=request)
        thread.start()
        thread.join()
    assert found == [pid, pid]


def test_a_process_that_serves_nobody_keeps_none() -> None:
    close_kept()
    first = opened()
    first.ensure_connection()
    first.close()
    assert not kept_connections._kept
