"""The audit trail, newest first and never changed: of a project, or for staff of everything."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.handlers.asgi import ASGIRequest
from django.db.models import Count, Max, QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from codememory import audit
from codememory.models import Actor, AuditEvent, Project, Role, Scope
from codememory.people import actor_of
from review.access import READING, Visit, project_page, signed_in
from review.refusals import note_refusal, write_ended
from review.shell import shell, valid
from review.trail_rows import (
    TrailForm,
    chosen_filters,
    entries_of,
    narrowed,
    written,
    written_later,
)

PAGE_SIZE = 50


@project_page
def audit_trail(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the project's trail, narrowed by the address; pages follow the last one shown."""
    events = _events_for(visit)
    context = {**shell(request, visit, "audit"), **_page(request, events)}
    return render(request, "review/audit.html", context)


@project_page
def audit_file(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Send the rows of that page and of all that follow it as CSV."""
    return _file(request, _events_for(visit), visit.project.scope, visit.project.slug)


@never_cache
@login_required
def whole_trail(request: HttpRequest) -> HttpResponse:
    """Show staff the trail of everything: sign-ins and accounts belong to no project."""
    _require_staff(request)
    if request.method not in READING:  # not before: for others there is no such page
        return HttpResponseNotAllowed(READING)
    context = {
        "place": "whole-audit",
        "projects": Project.objects.order_by("slug"),
        **_page(request, AuditEvent.objects.all()),
    }
    return render(request, "review/audit.html", context)


@never_cache
@login_required
def whole_trail_file(request: HttpRequest) -> HttpResponse:
    _require_staff(request)
    return _file(request, AuditEvent.objects.all(), None, "all")


def _require_staff(request: HttpRequest) -> None:
    user = signed_in(request)
    if not user.is_staff:
        note_refusal(request, actor_of(user), None, "not staff")
        raise Http404


def _events_for(visit: Visit) -> QuerySet[AuditEvent]:
    """Return what the visitor may see: who was refused here is for leads alone."""
    events = AuditEvent.objects.filter(scope_id=visit.project.scope_id)
    if visit.role != Role.LEAD:
        events = events.exclude(action="access.refused")
    return events


def _page(request: HttpRequest, events: QuerySet[AuditEvent]) -> dict[str, Any]:
    asked = valid(TrailForm(request.GET)).cleaned_data
    write_ended()
    found = narrowed(events, asked)
    page = found.filter(pk__lt=asked["before"]) if asked["before"] else found
    rows = page.select_related("actor__user", "scope__project").order_by("-pk")
    shown = list(rows[: PAGE_SIZE + 1])
    chosen = chosen_filters(asked)
    last = shown[PAGE_SIZE - 1].pk if len(shown) > PAGE_SIZE else None
    return {
        "entries": entries_of(shown[:PAGE_SIZE]),
        "total": found.count(),
        "asked": asked,
        "is_filtered": bool(chosen),
        "actions": events.values("action").annotate(count=Count("pk")).order_by("action"),
        "people": Actor.objects.filter(pk__in=events.exclude(actor=None).values("actor")).order_by(
            "name"
        ),
        "newest_query": f"?{urlencode(chosen)}",
        "older_query": f"?{urlencode({**chosen, 'before': last})}" if last else None,
        "file_query": f"?{urlencode(chosen)}" if chosen else "",
    }


def _file(
    request: HttpRequest, events: QuerySet[AuditEvent], scope: Scope | None, name: str
) -> HttpResponse:
    """Stream what passes the filters as it is now; that somebody took it is an event of its own."""
    if request.method not in READING:
        return HttpResponseNotAllowed(READING)
    asked = valid(TrailForm(request.GET)).cleaned_data
    write_ended()
    found = narrowed(events, asked)
    newest = found.aggregate(newest=Max("pk"))["newest"] or 0
    found = found.filter(pk__lte=newest)
    if request.method == "GET":
        audit.record(
            "audit.export",
            scope=scope,
            actor=actor_of(signed_in(request)),
            rows=found.count(),
            filters=sorted(chosen_filters(asked)),
        )
    lines: Any = written_later if isinstance(request, ASGIRequest) else written
    answer = StreamingHttpResponse(lines(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="audit-{name}.csv"'
    return cast("HttpResponse", answer)  # sent alike, typed apart
