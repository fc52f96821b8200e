"""Two people for a memory, where a project asks for it: who can be the second, and the switch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from codememory import audit
from codememory.models import Actor, DecisionAction, Project, ReviewDecision
from codememory.people import DECIDING_ROLES
from review.decisions import lock_decisions

MAX_NAMES = 4
ASKS = "This project asks for a second reviewer."


def asks_for_two(scope_id: int) -> bool:
    """Whether a memory takes two people now; true to the end of a transaction that locked it."""
    return Project.objects.filter(scope_id=scope_id, second_reviewer=True).exists()


def people_beside(scope_id: int, actor: Actor) -> list[str]:
    """Return the names of the others who may decide in the project, members before others."""
    member = Q(memberships__scope=scope_id, memberships__role__in=DECIDING_ROLES)
    others = User.objects.filter(member | Q(is_superuser=True), is_active=True)
    if actor.user_id is not None:
        others = others.exclude(pk=actor.user_id)
    found = others.order_by("is_superuser", "username").distinct()
    return [user.get_username() for user in found[:MAX_NAMES]]


def who_can(scope_id: int, endorser: Actor) -> str:
    """Say who can promote what this person endorsed."""
    names = people_beside(scope_id, endorser)
    if not names:
        return f"{ASKS} There is none yet: a lead adds one."
    first, last = ", ".join(names[:-1]), names[-1]
    return f"{ASKS} {f'{first} or {last}' if first else last} can promote it."


def endorsement_in(standing: ReviewDecision | None) -> ReviewDecision | None:
    """Return the standing decision of a candidate if it is a first reviewer's promotion."""
    return standing if standing and standing.action == DecisionAction.ENDORSE else None


@dataclass(frozen=True, slots=True)
class Waiting:
    """An endorsement that waits for a second reviewer: by whom."""

    name: str
    is_mine: bool


def waiting(scope_id: int) -> QuerySet[ReviewDecision]:
    """Return the endorsements that stand: nothing took them back or was decided since."""
    decisions = ReviewDecision.objects.filter(scope_id=scope_id)
    standing = decisions.exclude(action=DecisionAction.UNDO).exclude(
        Exists(decisions.filter(undoes=OuterRef("pk")))
    )
    later = standing.filter(candidate_id=OuterRef("candidate_id"), pk__gt=OuterRef("pk"))
    return standing.filter(action=DecisionAction.ENDORSE).exclude(Exists(later))


def waiting_in(
    project: Project, me: int | None, candidates: Collection[int] | None = None
) -> dict[int, Waiting]:
    """Return who endorsed what waits, by candidate; nothing waits where one person is enough.

    `me` is the number of a user.
    """
    if not project.second_reviewer:
        return {}
    found = waiting(project.scope_id)
    if candidates is not None:
        found = found.filter(candidate_id__in=candidates)
    return {
        number: Waiting(name, is_mine=user == me and me is not None)
        for number, name, user in found.values_list("candidate_id", "actor__name", "actor__user_id")
    }


@transaction.atomic
def switch_second_reviewer(project: Project, *, is_on: bool, actor: Actor) -> bool:
    """Let memories take two people, or one again; returns whether that is news."""
    lock_decisions(project.scope_id)
    changed = Project.objects.filter(pk=project.pk).exclude(second_reviewer=is_on)
    if not changed.update(second_reviewer=is_on):
        return False
    action = f"second-reviewer.{'on' if is_on else 'off'}"
    audit.record(action, scope=project.scope, actor=actor, subject=f"project {project.pk}")
    return True
