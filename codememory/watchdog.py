"""Finds a queue cluster that lives and works no more; the supervisor restarts it then.

A worker killed while idle takes the cluster's own lock with it: its main process notices nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import connection

STUCK_SECONDS = 60.0
OVERDUE_SECONDS = 30.0  # longer than a slice of a run
WORKERS: int = settings.CODEMEMORY_WORKERS


@dataclass(frozen=True, slots=True)
class Look:
    """The queue at one moment: its rows, how many of them should long have run, and who works."""

    rows: frozenset[int]
    eligible: int  # that a cluster could fetch now
    overdue: int  # fetched by this cluster longer ago than a slice takes, and still there
    busy: int  # runs being worked on


@dataclass(slots=True)
class Watchdog:
    """Tells from the queue's rows that the cluster lives and works no more."""

    rows: frozenset[int] = frozenset()
    quiet_since: float | None = None

    def is_stuck(self, look: Look, now: float) -> bool:
        """Whether for a minute a worker was free, tasks waited, and not one of them ended.

        A cluster whose workers were killed goes on fetching until its own queue is full; what it
        fetched beyond what is being worked on counts as waiting.
        """
        waits = (look.eligible > 0 and look.busy < WORKERS) or look.overdue > look.busy
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
