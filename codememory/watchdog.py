"""Finds a queue cluster that lives and works no more; the supervisor restarts it then.

A worker killed while idle takes the cluster's own lock with it: its main process notices nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import connection

# Together with the pause between two looks they stay below a minute.
STUCK_SECONDS = 30.0
OVERDUE_SECONDS = 15.0  # a free worker takes a fetched task at once
WORKERS: int = settings.CODEMEMORY_WORKERS
HELD: int = WORKERS + settings.Q_CLUSTER["queue_limit"] + 1  # tasks a cluster may hold fetched


@dataclass(frozen=True, slots=True)
class Look:
    """The queue at one moment: its rows, how many of them should long have run, and who works."""

    rows: frozenset[int]
    eligible: int  # that a cluster could fetch now
    overdue: int  # fetched by this cluster a while ago, and still there
    busy: int  # runs being worked on


@dataclass(slots=True)
class Watchdog:
    """Tells from the queue's rows that the cluster lives and works no more."""

    rows: frozenset[int] = frozenset()
    quiet_since: float | None = None

    def is_stuck(self, look: Look, now: float) -> bool:
        """Whether for half a minute a worker was free, tasks waited, and not one of them ended.

        A cluster whose workers were killed goes on fetching until its own queue is full; what it
        fetched beyond what is being worked on counts as waiting. While all workers are busy only
        more tasks than it can hold do: their results are no longer taken.
        """
        is_free = look.busy < WORKERS
        waits = (is_free and (look.eligible > 0 or look.overdue > look.busy)) or look.overdue > HELD
        if not waits or self.rows - look.rows or self.quiet_since is None:
            self.quiet_since = now
        self.rows = look.rows
        return now - self.quiet_since > STUCK_SECONDS


def look_at_queue(age: float) -> Look:
    """`age` of the cluster in seconds: what an earlier one fetched and lost says nothing of it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, fetched IS NULL, fetched BETWEEN now() - %s * interval '1 second'"
            " AND now() - %s * interval '1 second' FROM (SELECT id, CASE WHEN lock > now()"
            " THEN lock - %s * interval '1 second' END AS fetched FROM django_q_ormq) AS queued",
            [age, OVERDUE_SECONDS, settings.Q_CLUSTER["retry"]],
        )
        rows = cursor.fetchall()
        cursor.execute(
            "SELECT count(*) FROM codememory_run WHERE state = 'RUNNING' AND lease_until > now()"
        )
        busy = int(cursor.fetchone()[0])
    eligible = sum(1 for _, is_eligible, _ in rows if is_eligible)
    overdue = sum(1 for _, _, is_overdue in rows if is_overdue)
    return Look(frozenset(number for number, _, _ in rows), eligible, overdue, busy)
