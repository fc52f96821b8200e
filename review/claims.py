"""Claims: a reviewer says that they are at a candidate, so that two do not decide on it at once.

A claim holds for a quarter of an hour by the database's clock, and ends with a decision on the
candidate (a trigger) or when its holder gives it up. Only its holder may decide meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from typing import ParamSpec, cast

from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Now

from codememory import audit
from codememory.models import Actor, Candidate, CandidateClaim, Project
from review.decisions import OPEN_STATES, lock_decisions
from review.outcomes import Outcome, Refused

CLAIM_LIFE = timedelta(minutes=15)
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True, slots=True)
class Claim:
    """Who is at a candidate, and for how many more minutes."""

    candidate: int
    actor: int
    name: str
    minutes: int
    is_mine: bool

    @property
    def refusal(self) -> str:
        """Why somebody else cannot decide, as a sentence."""
        return (
            f"{self.name} has claimed C{self.candidate} for {self.minutes} more"
            f" minute{'' if self.minutes == 1 else 's'}, and decides on it meanwhile."
        )


def held(scope_id: int) -> QuerySet[CandidateClaim]:
    """Return the project's claims that still hold."""
    return CandidateClaim.objects.filter(scope_id=scope_id, claimed_at__gt=Now() - CLAIM_LIFE)


def claims_of(
    project: Project, me: int | None, candidates: Collection[int] | None = None
) -> dict[int, Claim]:
    """Return the claims that hold, by candidate; `me` is the number of a user."""
    found = held(project.scope_id)
    if candidates is not None:
        found = found.filter(candidate_id__in=candidates)
    age = ExpressionWrapper(Now() - F("claimed_at"), output_field=DurationField())
    rows = found.annotate(age=age).values_list(
        "candidate_id", "actor_id", "actor__name", "actor__user_id", "age"
    )
    return {
        number: Claim(number, actor, name, _minutes(age), is_mine=user == me and me is not None)
        for number, actor, name, user, age in rows
    }


def claim(candidate: Candidate, *, actor: Actor) -> str | None:
    """Claim an open candidate, or renew the own claim; returns why not as a sentence."""
    with transaction.atomic():
        lock_decisions(candidate.scope_id)
        if refusal := require_free(candidate, actor):
            return refusal
        current = Candidate.objects.get(scope_id=candidate.scope_id, pk=candidate.pk)
        if current.state not in OPEN_STATES:
            return f"C{current.pk} is {current.state.lower()} already."
        CandidateClaim.objects.update_or_create(
            scope_id=candidate.scope_id,
            candidate=candidate,
            defaults={"actor": actor, "claimed_at": Now()},
        )
        audit.record(
            "candidate.claim", scope=candidate.scope, actor=actor, subject=f"C{candidate.pk}"
        )
    return None


def release(candidate: Candidate, *, actor: Actor) -> None:
    """Give up the own claim, if there is one."""
    mine = CandidateClaim.objects.filter(scope_id=candidate.scope_id, candidate=candidate)
    if mine.filter(actor=actor).delete()[0]:
        audit.record(
            "candidate.release", scope=candidate.scope, actor=actor, subject=f"C{candidate.pk}"
        )


def require_free(candidate: Candidate, actor: Actor) -> str | None:
    """Say why the actor may not decide on the candidate now; None when nobody else claimed it."""
    scope = candidate.scope_id
    others = held(scope).filter(candidate=candidate).exclude(actor=actor).select_related("actor")
    age = ExpressionWrapper(Now() - F("claimed_at"), output_field=DurationField())
    other = others.annotate(age=age).first()
    if other is None:
        return None
    minutes = _minutes(other.age)
    return Claim(candidate.pk, other.actor_id, other.actor.name, minutes, is_mine=False).refusal


def respected(action: Callable[Arguments, Outcome]) -> Callable[Arguments, Outcome]:
    """Wrap an action on a candidate: it is refused while somebody else has claimed it."""

    @wraps(action)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Outcome:
        candidate, actor = cast("Candidate", args[0]), cast("Actor", kwargs["actor"])
        with transaction.atomic():
            lock_decisions(candidate.scope_id)  # nobody claims it between this look and the end
            if refusal := require_free(candidate, actor):
                return Refused(refusal)
            return action(*args, **kwargs)

    return guarded


def _minutes(age: timedelta) -> int:
    """Minutes left of a claim of this age, begun ones counted whole."""
    left = (CLAIM_LIFE - age).total_seconds()
    return max(1, -int(-left // 60))
