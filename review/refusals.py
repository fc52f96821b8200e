"""Who was refused what, in the audit trail: a row a minute for a person, a project and a page.

The trail only grows, so no row is ever raised by one: what comes again within the minute is counted
here and told by a row of its own afterwards (`again`), with the next refusal or look at the trail.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import NamedTuple

from django.http import HttpRequest

from codememory import audit
from codememory.models import Actor, Project, Scope

MINUTE = 60.0
MOST = 1_000  # that are counted at once; the oldest is written for a further one
_lock = threading.Lock()
_noted: dict[Refused, Again] = {}


class Refused(NamedTuple):
    """What is the same in refusals that are counted together."""

    actor: int
    project: int | None
    scope: int | None
    page: str
    method: str
    reason: str


@dataclass(slots=True)
class Again:
    since: float
    times: int = 0


def note_refusal(request: HttpRequest, actor: Actor, project: Project | None, reason: str) -> None:
    """Write it down, for an absent project too: the time an answer takes tells nothing either."""
    write_ended()
    page = request.resolver_match.view_name if request.resolver_match else ""
    one = Refused(
        actor.pk,
        project.pk if project else None,
        project.scope_id if project else None,
        page.removeprefix("review:"),
        request.method or "",
        reason,
    )
    with _lock:
        if known := _noted.get(one):
            known.times += 1
            return
        ended = [next(iter(_noted.items()))] if len(_noted) >= MOST else []
        for old, _ in ended:
            del _noted[old]
        _noted[one] = Again(time.monotonic())
    _record(one, {})
    _tell(ended)


def write_ended() -> None:
    """Write how often each refusal came again whose minute is over."""
    now = time.monotonic()
    with _lock:
        ended = [(one, again) for one, again in _noted.items() if now - again.since >= MINUTE]
        for one, _ in ended:
            del _noted[one]
    _tell(ended)


def _tell(ended: list[tuple[Refused, Again]]) -> None:
    for one, again in ended:
        if again.times:
            _record(one, {"again": again.times})


def _record(one: Refused, facts: dict[str, object]) -> None:
    scope = Scope.objects.filter(pk=one.scope).first() if one.scope else None
    actor = Actor.objects.filter(pk=one.actor).first()
    if actor is None or (one.scope and scope is None):
        return  # gone meanwhile, as with a transaction that was given up
    audit.record(
        "access.refused",
        scope=scope,
        actor=actor,
        subject=f"project {one.project}" if one.project else "",
        reason=one.reason,
        page=one.page,
        method=one.method,
        **facts,
    )
