"""Which candidates pass the queue's filters, as statements that stay quick with 100,000 of them.

Words are looked up in their index, likeness is equality of a key, and what is only true of few
rows (claims, conflicts, documents) is found once and then looked up for each candidate.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import (
    Case,
    CharField,
    IntegerField,
    Max,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.expressions import RawSQL
from django.utils import timezone

from codememory.models import (
    Candidate,
    Project,
    ReviewDecision,
    SourceRevision,
)
from codememory.path_filter import at_or_below
from codememory.paths import raw_path
from review.among import listed
from review.claims import held
from review.filters import Filters
from review.second_reviewers import waiting

FEW = 30_000  # candidates that are named by number in a statement
MANY = 200  # documents that are looked up in the index of each candidate's
MINUTE = 60.0  # seconds for which contested candidates are kept, while nothing is decided
_NUMBER = re.compile(r"[Cc]?([0-9]{1,18})")
# The same cutting of words as in the index. OFFSET keeps it apart: it is always done first.
_SAYING = """
    SELECT id FROM (
        SELECT id FROM codememory_candidate
        WHERE scope_id = %s AND codememory_claim_words(statement, subject) @@ to_tsquery(
            'pg_catalog.simple',
            (SELECT string_agg(word || ':*', ' & ')
             FROM regexp_split_to_table(lower(%s), '[^[:alnum:]]+') AS word WHERE word <> ''))
        UNION ALL SELECT %s::bigint OFFSET 0) AS found
    WHERE id IS NOT NULL
"""
# Each subject once, by its index: many memories may speak of one. OFFSET keeps the planner from
# reading all candidates instead.
_CONTESTED = """
    SELECT said.id FROM (
        SELECT subject, min(candidate_id) AS first, max(candidate_id) AS last
        FROM codememory_memory WHERE scope_id = %s AND state = 'ACTIVE' AND subject <> ''
        GROUP BY subject) AS held
    CROSS JOIN LATERAL (
        SELECT id FROM codememory_candidate AS own
        WHERE own.scope_id = %s AND own.subject = held.subject AND own.subject <> ''
        AND (own.id <> held.first OR own.id <> held.last) OFFSET 0) AS said
"""
_SAID_IN = """
    SELECT candidate_id FROM codememory_candidatetraits
    WHERE scope_id = %s AND paths && %s::bigint[]
"""
# Of many documents: comparing whole arrays would take the product of both lengths for each row.
_SAID_IN_MANY = """
    SELECT traits.candidate_id FROM codememory_candidatetraits AS traits
    CROSS JOIN LATERAL unnest(traits.paths) AS said
    WHERE traits.scope_id = %s AND said = ANY(%s::bigint[])
"""
_LIKE = """
    SELECT other.candidate_id FROM codememory_candidatetraits AS own
    JOIN codememory_candidatetraits AS other ON other.similar_key = own.similar_key
    WHERE own.candidate_id = %s AND own.scope_id = %s AND other.scope_id = %s
    UNION SELECT %s::bigint
"""


def passing(project: Project, filters: Filters) -> QuerySet[Candidate]:
    """Return the candidates that pass all filters but the state; in no order."""
    found = reaching(project, filters)
    for name in ("type", "modality", "layer"):
        if value := getattr(filters, name):
            found = found.filter(**{name: value})
    if filters.flag:
        found = found.filter(flags__contains=[filters.flag])
    if filters.source:
        found = found.filter(traits__sources__contains=[filters.source])
    if filters.conflict:
        found = found.filter(in_conflict(project))
    if filters.age:
        found = found.filter(_of_age(filters))
    if filters.claimed:
        found = found.filter(_claimed(project, filters))
    if filters.second:
        found = found.filter(_waits(project, filters))
    return found


def reaching(project: Project, filters: Filters) -> QuerySet[Candidate]:
    """Return what words, document and likeness leave: the filters that nothing counts ahead.

    Up to FEW are looked up once for a page; more are asked for in each statement.
    """
    found = Candidate.objects.filter(scope_id=project.scope_id)
    if filters.is_counted_whole:
        return found
    asked = (project.scope_id, filters.q, filters.path, filters.like)
    numbers = _reached(*asked, filters.asof) if filters.asof else None
    if numbers is not None:
        return found.filter(pk__among=numbers)
    for sql, parameters in _asked(*asked):
        found = found.filter(pk__in=RawSQL(sql, parameters))  # noqa: S611 -- parameters
    return found


@lru_cache(maxsize=32)
def _reached(
    scope_id: int,
    words: str,
    path: str,
    like: str,
    asof: str,  # noqa: ARG001 -- what it is kept by
) -> str | None:
    """Return the candidates of a page as it was opened; None where they are too many."""
    found = [_first(*one) for one in _asked(scope_id, words, path, like)]
    numbers = set[int].intersection(*(set(one) for one in found))
    is_whole = all(len(one) <= FEW for one in found)
    return listed(sorted(numbers)) if is_whole else None


def _first(sql: str, parameters: Sequence[Any]) -> list[int]:
    """Return the numbers that a statement finds, or one more than FEW of them."""
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} LIMIT {FEW + 1}", parameters)
        return [number for (number,) in cursor.fetchall()]


def _asked(scope_id: int, words: str, path: str, like: str) -> Iterator[tuple[str, list[Any]]]:
    """The statements that find what each of them asks for, with their parameters."""
    if words:
        number = _NUMBER.fullmatch(words.strip())
        yield _SAYING, [scope_id, words, int(number[1]) if number else None]
    if path:
        of_documents = SourceRevision.objects.filter(scope_id=scope_id).values("path_id")
        places = list(at_or_below(scope_id, raw_path(path)).filter(pk__in=of_documents))
        yield (_SAID_IN if len(places) <= MANY else _SAID_IN_MANY), [scope_id, places]
    if like:
        yield _LIKE, [int(like), scope_id, scope_id, int(like)]


def in_state(filters: Filters, found: QuerySet[Candidate]) -> QuerySet[Candidate]:
    """Return those that are in the state that is asked for now."""
    return found if filters.state == "any" else found.filter(state=filters.state.upper())


def left_since(
    project: Project, filters: Filters, found: QuerySet[Candidate]
) -> QuerySet[Candidate]:
    """Return those that were in that state when the page was opened, and were decided on since."""
    decided = ReviewDecision.objects.filter(
        scope_id=project.scope_id,
        created_at__gte=moment(filters),
        candidate_state=filters.state.upper(),
    )
    return found.exclude(state=filters.state.upper()).filter(pk__in=decided.values("candidate_id"))


def moment(filters: Filters) -> datetime:
    """When the page that is being read was opened; now for a page that is opened now."""
    if not filters.asof:
        return timezone.now()
    return datetime.fromtimestamp(int(filters.asof) / 1000, tz=UTC)


def in_conflict(project: Project) -> Q:
    """Whether another candidate's active memory has the very subject."""
    scope = project.scope_id
    decided = ReviewDecision.objects.filter(scope_id=scope).aggregate(n=Max("pk"))["n"]
    proposed = Candidate.objects.filter(scope_id=scope).aggregate(n=Max("pk"))["n"]
    numbers = _contested(scope, decided, proposed, int(time.monotonic() // MINUTE))
    if numbers is not None:
        return Q(pk__among=numbers)
    return Q(pk__in=RawSQL(_CONTESTED, [scope, scope]))  # noqa: S611 -- parameters


@lru_cache(maxsize=64)
def _contested(
    scope_id: int,
    decided: int | None,  # noqa: ARG001 -- decisions make memories and end them
    proposed: int | None,  # noqa: ARG001
    minute: int,  # noqa: ARG001 -- collecting may give a candidate another subject
) -> str | None:
    """Return the candidates in conflict, kept until there is news; None where they are too many."""
    numbers = _first(_CONTESTED, [scope_id, scope_id])
    return listed(sorted(numbers)) if len(numbers) <= FEW else None


def age_of(filters: Filters) -> Case:
    """An age as the filters name it, at the time of the page."""
    now = moment(filters)
    return Case(
        When(created_at__gt=now - timedelta(days=1), then=Value("day")),
        When(created_at__gt=now - timedelta(days=7), then=Value("week")),
        default=Value("older"),
        output_field=CharField(),
    )


def conflict_rank(conflict: Q) -> Case:
    first = When(conflict, then=Value(0))
    return Case(first, default=Value(1), output_field=IntegerField())


def _of_age(filters: Filters) -> Q:
    now = moment(filters)
    day, week = now - timedelta(days=1), now - timedelta(days=7)
    return {
        "day": Q(created_at__gt=day),
        "week": Q(created_at__gt=week, created_at__lte=day),
        "older": Q(created_at__lte=week),
    }[filters.age]


def _claimed(project: Project, filters: Filters) -> Q:
    claims = held(project.scope_id)
    if filters.claimed == "nobody":
        return ~Q(pk__in=claims.values("candidate_id"))
    mine = Q(actor__user_id=filters.me)
    chosen = claims.filter(mine if filters.claimed == "mine" else ~mine)
    return Q(pk__in=chosen.values("candidate_id"))


def _waits(project: Project, filters: Filters) -> Q:
    """Whether it waits for a second reviewer, who is this person or another one."""
    if not project.second_reviewer:
        return Q(pk__in=[])
    mine = Q(actor__user_id=filters.me)
    chosen = waiting(project.scope_id).filter(mine if filters.second == "mine" else ~mine)
    return Q(pk__in=chosen.values("candidate_id"))
