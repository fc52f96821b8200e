"""The queue's leases are taken by the database's clock, whatever its host believes."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.models.functions import Now
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import OrmQ

from codememory.broker import DatabaseClockBroker

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[-1, 1])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    real = timezone.now

    def now() -> datetime:
        return real() + timedelta(days=request.param)

    monkeypatch.setattr(timezone, "now", now)


def broker() -> Any:
    found = get_broker()
    assert isinstance(found, DatabaseClockBroker)
    return found


@pytest.mark.usefixtures("wrong_clock")
def test_a_task_is_given_out_once_at_any_hour_of_the_host() -> None:
    queue = broker()
    number = queue.enqueue("a task")
    assert queue.dequeue() == [(number, "a task")]
    assert queue.dequeue() is None
    assert (queue.queue_size(), queue.lock_size()) == (0, 1)


@pytest.mark.usefixtures("wrong_clock")
def test_a_task_whose_lease_has_passed_is_given_out_again() -> None:
    queue = broker()
    number = queue.enqueue("a task")
    queue.dequeue()
    OrmQ.objects.update(lock=Now() - timedelta(seconds=1))
    assert queue.dequeue() == [(number, "a task")]


def test_a_done_task_is_gone() -> None:
    queue = broker()
    queue.acknowledge(queue.enqueue("a task"))
    assert OrmQ.objects.count() == 0


def test_a_lost_connection_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = broker()

    def gone() -> None:
        raise OperationalError

    monkeypatch.setattr(queue, "_rows", gone)
    monkeypatch.setattr(connection, "close", lambda: None)
    assert queue.dequeue() is None


@pytest.mark.django_db(transaction=True)
def test_whoever_waits_is_told_of_a_new_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conf, "POLL", 300)
    queue = broker()
    given: list[Any] = []

    def take() -> None:
        try:
            queue.dequeue()  # ends when it is told
            given.append(queue.dequeue())
        finally:
            connection.close()

    waiting = Thread(target=take)
    waiting.start()
    until = monotonic() + 60
    while not _is_waiting() and monotonic() < until:
        sleep(0.02)
    number = queue.enqueue("a task")
    waiting.join(60)
    assert given == [[(number, "a task")]]


def _is_waiting() -> bool:
    """Whether a connection has told the server to tell it, looked at the queue, and is idle."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
            " AND state = 'idle' AND query LIKE '%%django_q_ormq%%')"
        )
        return bool(cursor.fetchone()[0])
