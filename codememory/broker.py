"""The queue's broker on the database's clock: django-q2's own leases by the clock of its host.

A host whose clock is a day off would otherwise never see a task, or take everybody's again.
Whoever waits for a task is told of a new one by the database (LISTEN and NOTIFY), so that the
pause between two looks delays only what was not told of: tasks whose lease has passed.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from time import sleep
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from django.db.models.functions import Now
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ

logger = logging.getLogger(__name__)

CHANNEL = "codememory_queue"


class DatabaseClockBroker(ORM):  # type: ignore[misc]  # django-q2 has no types
    """As its base, with `now()` of the database wherever that asks its host."""

    _listening: Any = None  # the connection of the driver that is told of new tasks

    def timeout(self, _: Any) -> Any:
        return Now() + timedelta(seconds=Conf.RETRY)

    def queue_size(self) -> int:
        return int(self._rows().filter(lock__lte=Now()).count())

    def lock_size(self) -> int:
        return int(self._rows().filter(lock__gt=Now()).count())

    def enqueue(self, task: str) -> int:
        key = self.list_key or Conf.CLUSTER_NAME
        number = int(self.get_connection().create(key=key, payload=task, lock=Now()).pk)
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY {CHANNEL}")  # arrives when the task is committed
        return number

    def dequeue(self) -> list[tuple[int, str]] | None:
        """Take the oldest tasks whose lease has passed, or wait for one a moment.

        The pusher would sleep ten seconds and end, were it told that the database does not answer.
        """
        try:
            self._listen()
            taken = self._take()
            if not taken:
                _wait_for_task()
        except (OperationalError, InterfaceError) as error:
            logger.warning("the queue waits for the database: %s", type(error).__name__)
            connection.close()
            sleep(Conf.POLL)
            return None
        return taken or None

    def _listen(self) -> None:
        """Have this connection told of new tasks: before looking, so that none is missed."""
        connection.ensure_connection()
        if self._listening is not connection.connection:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {CHANNEL}")
            self._listening = connection.connection

    def _take(self) -> list[tuple[int, str]]:
        """Each by compare-and-swap: another cluster may be faster."""
        waiting = self._rows().filter(lock__lte=Now()).order_by("pk")
        found = list(waiting.values_list("pk", "lock", "payload")[: Conf.BULK])
        taken = []
        for pk, lock, payload in found:
            if self._rows().filter(pk=pk, lock=lock).update(lock=self.timeout(None)):
                taken.append((pk, payload))
        return taken

    def _rows(self) -> Any:
        # Not by `get_connection`: that would close the connection that is told of new tasks.
        return OrmQ.objects.filter(key=self.list_key)


def _wait_for_task() -> None:
    """Until a task was added, or the time of a poll is over."""
    if connection.in_atomic_block:  # nothing is told before its end
        sleep(Conf.POLL)
        return
    for _ in connection.connection.notifies(timeout=Conf.POLL, stop_after=1):
        return
