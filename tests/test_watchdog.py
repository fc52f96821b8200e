"""When a queue counts as stuck."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from django_q.models import OrmQ

from codememory import supervisor, watchdog
from codememory.watchdog import Look, Watchdog, look_at_queue


def watch(*looks: Look) -> bool:
    """Whether the last of these looks, 20 seconds apart, finds the queue stuck."""
    dog, stuck = Watchdog(), False
    for number, look in enumerate(looks):
        stuck = dog.is_stuck(look, number * 20.0)
    return stuck


def look(*rows: int, eligible: int = 0, overdue: int = 0, busy: int = 0) -> Look:
    return Look(frozenset(rows), eligible, overdue, busy)


def test_tasks_that_nobody_takes_while_a_worker_is_free_mean_a_stuck_queue() -> None:
    assert watch(look(1, eligible=1), look(1, eligible=1), look(1, 2, eligible=2, busy=1))


def test_tasks_that_were_fetched_and_never_begun_mean_a_stuck_queue() -> None:
    assert watch(look(1, 2), look(1, 2, overdue=2), look(1, 2, overdue=2), look(1, 2, overdue=2))


def test_a_queue_that_ends_one_of_many_tasks_is_not_stuck() -> None:
    assert not watch(look(1, 2, eligible=2), look(1, 2, eligible=2), look(2, 3, eligible=2))


def test_a_queue_whose_workers_are_all_busy_is_not_stuck() -> None:
    waiting = look(1, 2, 3, 4, 5, eligible=1, overdue=4, busy=2)
    assert not watch(waiting, waiting, waiting, waiting)


def test_a_queue_that_takes_no_results_any_more_is_stuck() -> None:
    held = look(*range(9), overdue=9, busy=2)
    assert watch(held, held, held)


def test_a_stuck_queue_is_noticed_within_a_minute() -> None:
    noticed = watchdog.OVERDUE_SECONDS + watchdog.STUCK_SECONDS + 2 * supervisor.WATCH_SECONDS
    assert noticed < 60


def test_one_long_task_alone_is_not_stuck() -> None:
    working = look(1, overdue=1, busy=1)
    assert not watch(working, working, working, working)


def test_an_empty_queue_is_not_stuck() -> None:
    assert not watch(look(), look(), look())


def test_old_tasks_found_at_the_first_look_are_given_their_time() -> None:
    assert not watch(look(1, eligible=1), look(1, eligible=1))


@pytest.mark.django_db
def test_a_look_tells_fetched_from_waiting_and_leaves_an_earlier_clusters_out() -> None:
    fetched = timedelta(seconds=settings.Q_CLUSTER["retry"])
    for ago in (0, 90, 500):  # seconds since the cluster fetched it
        lock = timezone.now() + fetched - timedelta(seconds=ago)
        OrmQ.objects.create(key="codememory", payload="", lock=lock)
    OrmQ.objects.create(key="codememory", payload="", lock=timezone.now() - timedelta(seconds=1))
    seen = look_at_queue(age=300)
    assert (len(seen.rows), seen.eligible, seen.overdue, seen.busy) == (4, 1, 1, 0)
