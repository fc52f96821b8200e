"""Review: how much is left and since when, who decided what in which week, what is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, timedelta

from django.db.models import Case, Count, F, IntegerField, Q, Sum, Value, When
from django.db.models.functions import TruncDay, TruncWeek
from django.utils import timezone

from codememory.models import (
    Candidate,
    CandidateState,
    DecisionAction,
    KnowledgeType,
    Memory,
    MemoryState,
    ReviewDecision,
)
from review.coverage.figures import Figure, Where
from review.coverage.proposed import AGES, DAYS, Proposed, edge, midnight

WEEKS = 6
PENDING = CandidateState.PENDING
# Words for what the dashboard shows of a decision, in the order of its columns.
ACTIONS = {
    DecisionAction.PROMOTE: "promoted",
    DecisionAction.PROMOTE_AS_PLAN: "kept as plans",
    DecisionAction.SUPERSEDE: "superseding",
    DecisionAction.REJECT: "rejected",
    DecisionAction.DEFER: "deferred",
    DecisionAction.MERGE: "merged",
    DecisionAction.ENDORSE: "endorsed",
    DecisionAction.UNDO: "taken back",
}
STANDINGS = [
    ("open", Candidate, CandidateState.PENDING),
    ("deferred", Candidate, CandidateState.DEFERRED),
    ("rejected", Candidate, CandidateState.REJECTED),
    ("reviewed", Memory, MemoryState.ACTIVE),
    ("superseded", Memory, MemoryState.SUPERSEDED),
    ("archived", Memory, MemoryState.ARCHIVED),
]


@dataclass(frozen=True, slots=True)
class DayPoint:
    """How many candidates were open at the end of a day; of today, now."""

    day: date
    figure: Figure

    @property
    def number(self) -> int:
        return int(str(self.figure.value))


@dataclass(frozen=True, slots=True)
class Backlog:
    now: Figure
    oldest: Figure | None
    points: list[DayPoint]
    ages: list[tuple[str, Figure]]

    @property
    def peak(self) -> DayPoint:
        return max(self.points, key=lambda point: (point.number, point.day))


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    name: str
    weeks: list[Figure]


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of the last weeks by reviewer, and of this week by what was decided."""

    weeks: list[date]
    reviewers: list[ReviewerRow]
    this_week: list[tuple[str, Figure]]

    @property
    def most(self) -> int:
        return max((int(str(f.value)) for row in self.reviewers for f in row.weeks), default=0)


@dataclass(frozen=True, slots=True)
class KnowledgeRow:
    type: str
    figures: list[Figure]

    @property
    def total(self) -> int:
        return sum(int(str(figure.value)) for figure in self.figures)


def backlog_of(where: Where, proposed: Proposed) -> Backlog:
    """Say what is left to review now, by age, and at the end of each of the last days.

    One query; the past is reckoned back from now by what was proposed and decided since.
    """
    edges = [None, *(edge(proposed.now, age) for age in range(len(AGES)))]
    asked = {"state__exact": PENDING.value}
    by_age = proposed.by_age
    ages = [
        (
            words,
            where.count(
                by_age[age], Candidate, **asked,
                created_at__gte=edges[age + 1], created_at__lt=edges[age],
            ),
        )
        for age, (words, _) in enumerate(AGES)
    ]  # fmt: skip
    oldest = min((group.oldest for group in proposed.pending), default=None)
    return Backlog(
        where.count(by_age.total(), Candidate, **asked),
        where.measured(oldest, "moment", "oldest", Candidate, **asked) if oldest else None,
        _points(where, proposed),
        ages,
    )


def _points(where: Where, proposed: Proposed) -> list[DayPoint]:
    today = proposed.now.astimezone(UTC).date()
    first = midnight(today - timedelta(days=DAYS - 1))
    # A decision takes a candidate out of the open ones, unless it was deferred before; taking one
    # back brings it in again if it was decided from there.
    decisions = ReviewDecision.objects.filter(scope_id__in=where.scopes, created_at__gte=first)
    # What is endorsed waits for its second reviewer as what it was.
    decisions = decisions.exclude(action=DecisionAction.ENDORSE)
    decisions = decisions.exclude(undoes__action=DecisionAction.ENDORSE)
    came = Q(action=DecisionAction.UNDO, undoes__candidate_state=PENDING)
    changed = (
        decisions.annotate(
            day=TruncDay("created_at", tzinfo=UTC),
            came=Case(When(came, then=1), default=0, output_field=IntegerField()),
            went=Case(
                When(candidate_state=PENDING, then=Value(1)),
                default=Value(0),
                output_field=IntegerField(),
            ),
        )
        .values_list("day")
        .annotate(change=Sum(F("came") - F("went")))
        .order_by()
    )
    change, left = proposed.by_day, proposed.by_age.total()
    for day, number in changed:
        change[day.date()] += number
    asked = {"state__exact": PENDING.value}
    points = [DayPoint(today, where.count(left, Candidate, **asked))]
    for back in range(1, DAYS):
        day = today - timedelta(days=back)
        left -= change[day + timedelta(days=1)]
        end = midnight(day + timedelta(days=1))
        points.append(DayPoint(day, where.count(left, Candidate, open_at=end)))
    return points[::-1]


def decisions_of(where: Where) -> Decisions:
    """Count the decisions of each reviewer and week (from Monday, UTC); one query."""
    today = timezone.now().astimezone(UTC).date()
    monday = today - timedelta(days=today.weekday())
    weeks = [monday - timedelta(weeks=back) for back in range(WEEKS)][::-1]
    rows = (
        ReviewDecision.objects.filter(scope_id__in=where.scopes, created_at__gte=midnight(weeks[0]))
        .annotate(week=TruncWeek("created_at", tzinfo=UTC))
        .values_list("actor_id", "actor__name", "week", "action")
        .annotate(Count("pk"))
        .order_by()
    )
    by_week: Counter[tuple[int, date]] = Counter()
    by_action: Counter[str] = Counter()
    names: dict[int, str] = {}
    for actor, name, week, action, number in rows:
        names[actor] = name
        by_week[actor, week.date()] += number
        if week.date() == monday:
            by_action[action] += number
    reviewers = [
        ReviewerRow(
            name,
            [
                where.count(
                    by_week[actor, week],
                    ReviewDecision,
                    actor__id__exact=actor,
                    created_at__gte=midnight(week),
                    created_at__lt=midnight(week + timedelta(weeks=1)),
                )
                for week in weeks
            ],
        )
        for actor, name in sorted(names.items(), key=lambda pair: pair[1])
    ]
    this_week = [
        (
            words,
            where.count(
                by_action[action],
                ReviewDecision,
                action__exact=action.value,
                created_at__gte=midnight(monday),
            ),
        )
        for action, words in ACTIONS.items()
    ]
    return Decisions(weeks, reviewers, this_week)


def knowledge_of(where: Where, proposed: Proposed) -> list[KnowledgeRow]:
    """Count candidates and memories by type and standing; one query."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for group in proposed.groups:
        counts["Candidate", group.type, group.state] += group.number
    rows = Memory.objects.filter(scope_id__in=where.scopes).values_list("type", "state")
    for kind, state, number in rows.annotate(Count("pk")).order_by():
        counts["Memory", kind, state] = number
    found = [
        KnowledgeRow(
            kind,
            [
                where.count(
                    counts[model.__name__, kind, state],
                    model,
                    type__exact=kind.value,
                    state__exact=state.value,
                )
                for _, model, state in STANDINGS
            ],
        )
        for kind in KnowledgeType
    ]
    return [row for row in found if row.total]
