"""The candidates of the projects, counted in one pass for all parts of the dashboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from django.db.models import Case, Count, IntegerField, Min, Value, When
from django.db.models.functions import TruncDay
from django.utils import timezone

from codememory.models import Candidate, CandidateState

DAYS = 14
AGES = [("up to a day", 1), ("up to a week", 7), ("up to a month", 30), ("older", 0)]


class Group(NamedTuple):
    """Candidates that have all of this in common; `day` is None before the last DAYS."""

    scope: int
    type: str
    state: str
    age: int  # a place in AGES
    day: datetime | None
    number: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class Proposed:
    """What there was at a moment."""

    now: datetime
    groups: list[Group]

    @property
    def pending(self) -> Iterator[Group]:
        return (group for group in self.groups if group.state == CandidateState.PENDING)

    @property
    def by_day(self) -> Counter[date]:
        found: Counter[date] = Counter()
        for group in self.groups:
            if group.day is not None:
                found[group.day.date()] += group.number
        return found

    @property
    def by_age(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for group in self.pending:
            found[group.age] += group.number
        return found


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def edge(now: datetime, age: int) -> datetime | None:
    """The moment since which candidates are at most of that age; None where any is."""
    days = AGES[age][1]
    return now - timedelta(days=days) if days else None


def proposed_in(scopes: Collection[int]) -> Proposed:
    """Count the candidates; one query, one look at each."""
    now = timezone.now()
    first = midnight(now.astimezone(UTC).date() - timedelta(days=DAYS - 1))
    younger = [
        When(created_at__gte=since, then=Value(age))
        for age in range(len(AGES))
        if (since := edge(now, age))
    ]
    rows = (
        Candidate.objects.filter(scope_id__in=list(scopes))
        .annotate(
            age=Case(*younger, default=Value(len(AGES) - 1), output_field=IntegerField()),
            day=Case(When(created_at__gte=first, then=TruncDay("created_at", tzinfo=UTC))),
        )
        .values_list("scope_id", "type", "state", "age", "day")
        .annotate(Count("pk"), Min("created_at"))
        .order_by()
    )
    return Proposed(now, [Group(*row) for row in rows])
