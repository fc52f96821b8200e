"""The coverage dashboard: of every project for staff, of one project for its lead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.contrib import messages
from django.db import models as db_models
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from codememory.models import Actor, Project, Run
from codememory.people import actor_of
from review.access import Visit, project_page, require_lead, signed_in
from review.admin_site import coverage_site
from review.coverage.claims import STANDINGS, backlog_of, decisions_of, knowledge_of
from review.coverage.figures import PAGE_PROJECTS, Where
from review.coverage.run_actions import RunActionError, cancel_run, retry_run
from review.coverage.sources import sources_of
from review.coverage.storage import disk_limit, shares_of, storage_of
from review.coverage.work import work_of
from review.shell import shell

Act = Callable[..., str]
STANDING_KEY = [
    ("open", "open"),
    ("put-off", "deferred"),
    ("refused", "rejected"),
    ("kept", "reviewed"),
    ("past", "ended"),
]
# What a project's lead may open without being staff: the tables behind the dashboard's numbers.
LEAD_TABLES = frozenset({
    "candidate", "filechange", "gaprecord", "gitcommit", "memory", "refsnapshot",
    "reviewdecision", "run", "sourcerevision", "worktree", "worktreedocument",
})  # fmt: skip


def dashboard(
    request: HttpRequest, *, refusal: str | None = None, status: int = 200
) -> HttpResponse:
    """Show all projects, or the one that the address names; the site lets only staff in."""
    where = _where(request)
    context = {
        **_context(where),
        "place": "coverage",
        "refusal": refusal,
        "all_projects": Project.objects.count() if where.slug else len(where.projects),
        "storage": storage_of(where),
        "retry_url": "admin:retry_run",
        "cancel_url": "admin:cancel_run",
    }
    return render(request, "coverage/dashboard.html", context, status=status)


def database(request: HttpRequest) -> HttpResponse:
    """Show every table's size, and a project's part of each where the address names one."""
    where = _where(request)
    storage = storage_of(where)
    project = where.projects[0] if where.slug else None
    context = {
        "place": "coverage",
        "where": where,
        "storage": storage,
        "chosen": project,
        "projects": Project.objects.order_by("slug"),
        "shares": shares_of(where, storage, project) if project else None,
        "limit": disk_limit(project) if project else None,
    }
    return render(request, "coverage/database.html", context)


def retry(request: HttpRequest, number: int) -> HttpResponse:
    return _act(request, number, retry_run)


def cancel(request: HttpRequest, number: int) -> HttpResponse:
    return _act(request, number, cancel_run)


@project_page
def project_coverage(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a project's coverage to its lead."""
    require_lead(request, visit)
    return _project_dashboard(request, visit)


@project_page
def project_rows(request: HttpRequest, visit: Visit, table: str) -> HttpResponse:
    """Show the rows behind a number to the project's lead: this project's and no others."""
    require_lead(request, visit)
    if table not in LEAD_TABLES:
        raise Http404
    from review.admin import PAGES  # noqa: PLC0415 -- it registers the site's pages

    model: type[db_models.Model] = apps.get_model("codememory", table)
    rows = PAGES[model](model, coverage_site)
    rows.only_scope = visit.project.scope_id
    rows.list_display_links = None
    answer = rows.changelist_view(request)
    if context := getattr(answer, "context_data", None):
        context.update(shell(request, visit, "coverage"), is_lead_page=True)
    return answer


@project_page
def project_retry(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    return _act_in_project(request, visit, number, retry_run)


@project_page
def project_cancel(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    return _act_in_project(request, visit, number, cancel_run)


def _where(request: HttpRequest) -> Where:
    projects = Project.objects.order_by("slug")
    slug = request.GET.get("project")
    if slug:
        chosen = None if "\x00" in slug else projects.filter(slug=slug).first()
        if chosen is None:
            raise Http404
        return Where((chosen,), chosen.slug, is_staff_page=True)
    found = tuple(projects)
    asked = request.GET.get("page", "1")
    page = int(asked) if re.fullmatch(r"[1-9][0-9]{0,5}", asked) else 0
    if not 0 < page <= max(1, -(-len(found) // PAGE_PROJECTS)):
        raise Http404
    return Where(found, None, is_staff_page=True, page=page)


def _context(where: Where) -> dict[str, Any]:
    work, knowledge = work_of(where), knowledge_of(where)
    return {
        "where": where,
        "sources": sources_of(where),
        "work": work,
        "backlog": backlog_of(where),
        "decisions": decisions_of(where),
        "knowledge": knowledge,
        "most_known": max((row.total for row in knowledge), default=0),
        "standings": [name for name, _, _ in STANDINGS],
        "standing_key": STANDING_KEY,
    }


def _project_dashboard(
    request: HttpRequest, visit: Visit, *, refusal: str | None = None, status: int = 200
) -> HttpResponse:
    where = Where((visit.project,), visit.project.slug, is_staff_page=False)
    context = {
        **_context(where),
        **shell(request, visit, "coverage"),
        "refusal": refusal,
        "storage": None,
        "retry_url": "review:coverage_retry",
        "cancel_url": "review:coverage_cancel",
    }
    return render(request, "coverage/dashboard.html", context, status=status)


@never_cache
def _act(request: HttpRequest, number: int, act: Act) -> HttpResponse:
    if request.method != "POST":
        return redirect("admin:index")
    run = Run.objects.select_related("scope").filter(pk=number).first()
    if run is None:
        raise Http404
    if refusal := _refusal(request, run, act, actor_of(signed_in(request))):
        return dashboard(request, refusal=refusal, status=409)
    return redirect(_back(request))


def _act_in_project(request: HttpRequest, visit: Visit, number: int, act: Act) -> HttpResponse:
    require_lead(request, visit)
    if request.method != "POST":
        return redirect("review:coverage", slug=visit.project.slug)
    runs = Run.objects.select_related("scope").filter(scope_id=visit.project.scope_id)
    run = runs.filter(pk=number).first()
    if run is None:
        raise Http404
    if refusal := _refusal(request, run, act, visit.actor):
        return _project_dashboard(request, visit, refusal=refusal, status=409)
    return redirect("review:coverage", slug=visit.project.slug)


def _refusal(request: HttpRequest, run: Run, act: Act, actor: Actor) -> str | None:
    """Act and say so on the next page; returns why it could not be done."""
    try:
        messages.info(request, act(run, actor=actor))
    except RunActionError as error:
        return str(error)
    return None


def _back(request: HttpRequest) -> str:
    """The dashboard as it was narrowed; only ever a page of ours."""
    slug = request.GET.get("project", "")
    found = Project.objects.filter(slug=slug).first() if "\x00" not in slug else None
    index = reverse("admin:index")
    return f"{index}?project={found.slug}" if found else index
