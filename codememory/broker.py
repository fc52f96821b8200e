"""The queue's broker on the database's clock: django-q2's own leases by the clock of its host.

A host whose clock is a day off would otherwise never see a task, or take everybody's again.
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

logger = logging.getLogger(__name__)


class DatabaseClockBroker(ORM):  # type: ignore[misc]  # django-q2 has no types
    """As its base, with `now()` of the database wherever that asks its host."""

    def timeout(self, _: Any) -> Any:
        return Now() + timedelta(seconds=Conf.RETRY)

    def queue_size(self) -> int:
        return int(self._rows().filter(lock__lte=Now()).count())

    def lock_size(self) -> int:
        return int(self._rows().filter(lock__gt=Now()).count())

    def enqueue(self, task: str) -> int:
        key = self.list_key or Conf.CLUSTER_NAME
        return int(self.get_connection().create(key=key, payload=task, lock=Now()).pk)

    def dequeue(self) -> list[tuple[int, str]] | None:
        """Take the oldest tasks whose lease has passed, or pause; also while the database is away.

        The pusher would sleep ten seconds and end, were it told that the database does not answer.
        """
        try:
            taken = self._take()
        except (OperationalError, InterfaceError) as error:
            logger.warning("the queue waits for the database: %s", type(error).__name__)
            connection.close()
            taken = []
        if not taken:
            sleep(Conf.POLL)
        return taken or None

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
        return self.get_connection().filter(key=self.list_key)
