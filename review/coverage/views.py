"""The coverage dashboard: of every project for staff, of one project for its lead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db import models as db_models
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from codememory.models import Actor, Policy, Project, Run
from codememory.people import actor_of, role_in
from review.access import Visit, project_page, require_lead, signed_in
from review.admin_filters import has_scope
from review.admin_site import coverage_site
from review.coverage.claims import STANDINGS, backlog_of, decisions_of, knowledge_of
from review.coverage.figures import PAGE_PROJECTS, Where
from review.coverage.proposed import proposed_in
from review.coverage.run_actions import RunActionError, cancel_run, retry_run
from review.coverage.sources import sources_of
from review.coverage.storage import disk_limit, shares_of, storage_of
from review.coverage.verdicts import VERDICTS, VerdictsForm, verdicts_of
from review.coverage.work import work_of
from review.shell import shell, valid

Act = Callable[..., str]
STANDING_KEY = [
    ("open", "open"),
    ("put-off", "deferred"),
    ("refused", "rejected"),
    ("kept", "reviewed"),
    ("past", "ended"),
]


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
        **_pages(where, is_member=bool(where.slug and _may_open(request, where.projects[0]))),
    }
    return render(request, "coverage/dashboard.html", context, status=status)


def _may_open(request: HttpRequest, project: Project) -> bool:
    """Whether the project's own pages are there for whoever asks: staff need not be members."""
    return role_in(request.user, project) is not None


def _pages(where: Where, *, is_member: bool) -> dict[str, str]:
    """Addresses of the pages about one project that the dashboard leads to."""
    if not where.slug:
        return {}
    policy = {"policy_page": reverse("review:policy", kwargs={"slug": where.slug})}
    if where.is_staff_page:
        asked = f"?project={where.slug}"
        return {
            "verdicts_page": reverse("admin:verdicts") + asked,
            "disk_page": reverse("admin:database") + asked,
            **(policy if is_member else {}),
        }
    return {
        "verdicts_page": reverse("review:coverage_verdicts", kwargs={"slug": where.slug}),
        "disk_page": reverse("review:coverage_disk", kwargs={"slug": where.slug}),
        **policy,
    }


def database(request: HttpRequest) -> HttpResponse:
    """Show every table's size, and a project's part of each where the address names one."""
    where = _where(request)
    context = {
        "place": "coverage",
        "back": reverse("admin:index") + (f"?project={where.slug}" if where.slug else ""),
        "projects": Project.objects.order_by("slug"),
        **_disk(where),
    }
    return render(request, "coverage/database.html", context)


@project_page
def project_disk(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a project's lead what it takes on disk, against what its policy allows."""
    require_lead(request, visit)
    where = Where((visit.project,), visit.project.slug, is_staff_page=False)
    back = reverse("review:coverage", kwargs={"slug": visit.project.slug})
    context = {**shell(request, visit, "coverage"), "back": back, **_disk(where)}
    return render(request, "coverage/database.html", context)


def _disk(where: Where) -> dict[str, Any]:
    storage = storage_of(where)
    project = where.projects[0] if where.slug else None
    shares = shares_of(where, storage, project) if project else None
    return {
        "where": where,
        "storage": storage,
        "chosen": project,
        "shares": shares,
        "used": sum(share.bytes for share in shares or ()),
        "limit": disk_limit(project) if project else None,
    }


def verdicts(request: HttpRequest) -> HttpResponse:
    """Show staff the verdicts of one project's memories."""
    where = _where(request)
    if not where.slug:
        return redirect("admin:index")
    back = f"{reverse('admin:index')}?project={where.slug}"
    address = f"{reverse('admin:verdicts')}?project={where.slug}"
    context = {
        "place": "coverage",
        "may_open": _may_open(request, where.projects[0]),
        **_verdicts(request, where, address, back),
    }
    return render(request, "coverage/verdicts.html", context)


@project_page
def project_verdicts(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a project's lead the verdicts of its memories."""
    require_lead(request, visit)
    slug = {"slug": visit.project.slug}
    where = Where((visit.project,), visit.project.slug, is_staff_page=False)
    address, back = (
        reverse(f"review:{name}", kwargs=slug) for name in ("coverage_verdicts", "coverage")
    )
    context = {
        **shell(request, visit, "coverage"),
        "may_open": True,
        **_verdicts(request, where, address, back),
    }
    return render(request, "coverage/verdicts.html", context)


def _verdicts(request: HttpRequest, where: Where, address: str, back: str) -> dict[str, Any]:
    asked = valid(VerdictsForm(request.GET)).cleaned_data
    found = verdicts_of(where.projects[0], address, asked)
    names = list(VERDICTS.values())
    return {
        "where": where,
        "verdicts": found,
        "names": names,
        "columns": list(zip(found.totals, names, strict=True)),
        "asked": asked,
        "asked_verdict": VERDICTS.get(asked["verdict"], ""),
        "is_narrowed": any(asked[name] for name in ("type", "verdict", "stale")),
        "first": (asked["after"] or 0) + 1,
        "last": (asked["after"] or 0) + len(found.rows),
        "address": address,
        "back": back,
    }


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
    from review.admin import PAGES  # noqa: PLC0415 -- it registers the site's pages

    # Without being staff: the tables whose rows belong to a project, and of these its own rows.
    tables = {str(each._meta.model_name): each for each in PAGES if has_scope(each)}
    model: type[db_models.Model] | None = tables.get(table)
    if model is None:
        raise Http404
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
    proposed = proposed_in(where.scopes)
    work, knowledge = work_of(where), knowledge_of(where, proposed)
    permitting = Policy.objects.filter(scope_id__in=where.scopes, provider=True)
    return {
        "models_permitted": where.count(permitting.count(), Policy, provider__exact=1),
        "where": where,
        "sources": sources_of(where, proposed),
        "work": work,
        "backlog": backlog_of(where, proposed),
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
        **_pages(where, is_member=True),
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
