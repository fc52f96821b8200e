"""The audit trail of a project: who did what and when, newest first, never changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.models import Actor, AuditEvent, Role
from review.access import Visit, project_page
from review.forms import AuditForm
from review.shell import shell, valid

PAGE_SIZE = 50
_CANDIDATE = re.compile(r"C([0-9]{1,18})")
_PERSON = re.compile(r"user ([0-9]{1,9})")
_LETTERS = {"memory": "M", "ended": "M", "restored": "M"}


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as the page shows it."""

    event: AuditEvent
    candidate: int | None
    person: str | None
    facts: list[tuple[str, str]]


@project_page
def audit_trail(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the trail, filtered by the address; pages follow the number of the last one shown."""
    asked = valid(AuditForm(request.GET)).cleaned_data
    all_events = _events_for(visit)
    found = _filtered(all_events, asked)
    page = found.filter(pk__lt=asked["before"]) if asked["before"] else found
    events = list(page.select_related("actor__user").order_by("-pk")[: PAGE_SIZE + 1])
    chosen = {name: asked[name] for name in ("action", "person", "subject") if asked[name]}
    shown = events[:PAGE_SIZE]
    older = {**chosen, "before": shown[-1].pk} if len(events) > PAGE_SIZE else None
    context = {
        **shell(request, visit, "audit"),
        "entries": _entries(shown),
        "total": found.count(),
        "asked": asked,
        "is_filtered": bool(chosen),
        "actions": all_events.values("action").annotate(count=Count("pk")).order_by("action"),
        "people": Actor.objects.filter(
            pk__in=all_events.exclude(actor=None).values("actor")
        ).order_by("name"),
        "newest_query": f"?{urlencode(chosen)}",
        "older_query": f"?{urlencode(older)}" if older else None,
    }
    return render(request, "review/audit.html", context)


def _events_for(visit: Visit) -> QuerySet[AuditEvent]:
    """Return what the visitor may see: who was refused here is for leads alone."""
    events = AuditEvent.objects.filter(scope_id=visit.project.scope_id)
    if visit.role != Role.LEAD:
        events = events.exclude(action="access.refused")
    return events


def _filtered(events: QuerySet[AuditEvent], asked: dict[str, Any]) -> QuerySet[AuditEvent]:
    if asked["action"]:
        events = events.filter(action=asked["action"])
    if asked["person"]:
        events = events.filter(actor_id=asked["person"])
    if asked["subject"]:
        events = events.filter(subject=asked["subject"])
    return events


def _entries(events: Sequence[AuditEvent]) -> list[Entry]:
    numbers = {int(m[1]) for event in events if (m := _PERSON.fullmatch(event.subject))}
    users = User.objects.in_bulk(numbers)
    names = {f"user {number}": user.get_username() for number, user in users.items()}
    return [_entry(event, names) for event in events]


def _entry(event: AuditEvent, names: Mapping[str, str]) -> Entry:
    candidate = _CANDIDATE.fullmatch(event.subject)
    facts = [
        (name.replace("_", " "), f"{_LETTERS.get(name, '')}{value}")
        for name, value in event.facts.items()
    ]
    number = int(candidate[1]) if candidate else None
    return Entry(event, number, names.get(event.subject), facts)
