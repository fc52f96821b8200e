"""Which candidates pass the queue's filters, as statements that stay quick with 100,000 of them.

Words are looked up in their index, likeness is equality of a key, and what is only true of few
rows (claims, conflicts, documents) is found once and then looked up for each candidate.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from django.db.models import (
    Case,
    CharField,
    IntegerField,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import RawSQL
from django.utils import timezone

from codememory.models import (
    Candidate,
    CandidateTraits,
    Project,
    ReviewDecision,
)
from codememory.paths import raw_path
from review.claims import held
from review.filters import Filters
from review.second_reviewers import waiting

FEW = 5_000  # candidates that are named by number in a statement
_NUMBER = re.compile(r"[Cc]?([0-9]{1,18})")
# The same cutting of words as in the index. A limit keeps it apart: it is always done first.
_SAYING = """
    SELECT id FROM codememory_candidate
    WHERE scope_id = %s AND codememory_claim_words(statement, subject) @@ to_tsquery(
        'pg_catalog.simple',
        (SELECT string_agg(word || ':*', ' & ')
         FROM regexp_split_to_table(lower(%s), '[^[:alnum:]]+') AS word WHERE word <> ''))
    LIMIT 1000000
"""
_CONTESTED = """
    SELECT c.id FROM codememory_memory m
    JOIN codememory_candidate c
      ON c.scope_id = m.scope_id AND c.subject = m.subject AND c.id <> m.candidate_id
    WHERE m.scope_id = %s AND m.state = 'ACTIVE' AND m.subject <> '' AND c.subject <> ''
"""
_SAID_IN = """
    SELECT candidate_id FROM codememory_candidatetraits
    WHERE scope_id = %s AND paths && (
        SELECT array_agg(id) FROM codememory_path
        WHERE scope_id = %s AND (raw = %s OR raw >= %s AND raw < %s))
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
    numbers = _numbers(*asked, filters.asof) if filters.asof else None
    return found.filter(pk__in=numbers) if numbers is not None else found.filter(_asked(*asked))


@lru_cache(maxsize=32)
def _numbers(
    scope_id: int,
    words: str,
    path: str,
    like: str,
    asof: str,  # noqa: ARG001 -- what it is kept by
) -> list[int] | None:
    """Return the candidates of a page as it was opened; None where they are too many."""
    found = Candidate.objects.filter(_asked(scope_id, words, path, like), scope_id=scope_id)
    numbers = list(found.order_by().values_list("pk", flat=True)[: FEW + 1])
    return numbers if len(numbers) <= FEW else None


def _asked(scope_id: int, words: str, path: str, like: str) -> Q:
    asked = Q()
    if words:
        says = Q(pk__in=RawSQL(_SAYING, [scope_id, words]))  # noqa: S611 -- parameters
        number = _NUMBER.fullmatch(words.strip())
        asked &= says | Q(pk=int(number[1])) if number else says
    if path:
        raw = raw_path(path).rstrip(b"/")
        within = [scope_id, scope_id, raw, raw + b"/", raw + b"0"]  # "0" follows "/"
        asked &= Q(pk__in=RawSQL(_SAID_IN, within))  # noqa: S611 -- parameters
    if like:
        asked &= _like(scope_id, int(like))
    return asked


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
    return Q(pk__in=RawSQL(_CONTESTED, [project.scope_id]))  # noqa: S611 -- parameters


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


def _like(scope_id: int, number: int) -> Q:
    own = CandidateTraits.objects.filter(scope_id=scope_id, candidate_id=number)
    same = CandidateTraits.objects.filter(
        scope_id=scope_id, similar_key=Subquery(own.values("similar_key")[:1])
    )
    return Q(pk__in=same.values("candidate_id")) | Q(pk=number)
