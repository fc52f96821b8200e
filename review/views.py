"""The console's pages and the three decisions; each view calls one query or one action."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from codememory.models import Candidate, CandidateState
from codememory.people import visible_projects
from review import actions, queries
from review.access import Visit, project_page, require_decider, signed_in
from review.forms import QueueForm, RejectForm, ShownForm
from review.queue import Filters, choices, neighbours, next_open, page_of, progress


@never_cache
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Go to the only project's queue, or to the list of projects."""
    found = list(visible_projects(signed_in(request))[:2])
    if len(found) == 1:
        return redirect("review:queue", slug=found[0].slug)
    return redirect("review:projects")


@never_cache
@login_required
def projects(request: HttpRequest) -> HttpResponse:
    pending = Candidate.objects.filter(scope=OuterRef("scope"), state=CandidateState.PENDING)
    counted = pending.order_by().values("scope").annotate(count=Count("pk")).values("count")
    found = visible_projects(signed_in(request)).annotate(pending=Coalesce(Subquery(counted), 0))
    return render(request, "review/projects.html", {"projects": found, "place": "projects"})


@never_cache
@login_required
def keys(request: HttpRequest) -> HttpResponse:
    return render(request, "review/keys.html", {"place": "keys"})


@project_page
def queue(request: HttpRequest, visit: Visit) -> HttpResponse:
    asked = _asked(request)
    filters = Filters.of(asked)
    page = page_of(visit.project, filters, asked["after"])
    rows = queries.rows_of(visit.project, page.candidates)
    here = next((row for row in rows if row.candidate.pk == asked["at"]), rows[0] if rows else None)
    at = rows.index(here) if here else 0
    context = {
        **_shell(request, visit, filters),
        "filters": filters,
        "choices": choices(visit.project, filters),
        "progress": progress(visit.project),
        "page": page,
        "rows": rows,
        "here": here,
        "sheet": queries.sheet_of(visit.project, here.candidate) if here else None,
        "previous": rows[at - 1] if at else None,
        "following": rows[at + 1] if at + 1 < len(rows) else None,
        "page_query": filters.query(after=asked["after"]),
        "back": "queue",
    }
    return render(request, "review/queue.html", context)


@project_page
def candidate(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    return _candidate_page(request, visit, _find(visit, number))


@project_page
def promote(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    found = _find(visit, number)
    if request.method != "POST":
        return redirect(_page(visit, found))
    require_decider(request, visit)
    form = _valid(ShownForm(request.POST))
    outcome = actions.promote_candidate(found, form.value(), actor=visit.actor)
    return _answer(request, visit, found, form, outcome)


@project_page
def reject(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    found = _find(visit, number)
    if request.method != "POST":
        return redirect(_page(visit, found))
    require_decider(request, visit)
    form = RejectForm(request.POST)
    if "reason" in form.errors and len(form.errors) == 1:
        reason = f"Say it in {actions.MAX_REASON} characters or fewer."
        return _candidate_page(request, visit, found, refusal=reason, status=422)
    _valid(form)
    outcome = actions.reject_candidate(
        found, form.value(), reason=form.cleaned_data["reason"], actor=visit.actor
    )
    return _answer(request, visit, found, form, outcome)


@project_page
def undo(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    found = _find(visit, number)
    if request.method != "POST":
        return redirect(_page(visit, found))
    require_decider(request, visit)
    form = _valid(ShownForm(request.POST))
    outcome = actions.undo_decision(found, form.value(), actor=visit.actor)
    return _answer(request, visit, found, form, outcome)


def _answer(
    request: HttpRequest,
    visit: Visit,
    found: Candidate,
    form: ShownForm,
    outcome: actions.Outcome,
) -> HttpResponse:
    """Say what came of a decision: on to the next candidate, or why nothing was decided."""
    match outcome:
        case actions.Changed():
            found.refresh_from_db()
            context = {
                **_shell(request, visit, _filters(request)),
                "candidate": found,
                "latest": queries.latest_decision(visit.project, found),
                "again": _page(visit, found) + _filters(request).query(),
            }
            return render(request, "review/changed.html", context, status=409)
        case actions.Refused(reason):
            return _candidate_page(request, visit, found, refusal=reason, status=422)
        case actions.Decided(decision):
            request.session[_last_act_key(visit)] = decision.pk
            return redirect(_onward(request, visit, found, form, decision.action == "UNDO"))


def _onward(
    request: HttpRequest, visit: Visit, decided: Candidate, form: ShownForm, is_undo: bool
) -> str:
    """Return where to go on: the candidate taken back, else the next one that is open."""
    filters = _filters(request)
    target = decided if is_undo else next_open(visit.project, filters, decided)
    if target and form.cleaned_data["back"] != "queue":
        return _page(visit, target) + filters.query()
    queue_page = reverse("review:queue", kwargs={"slug": visit.project.slug})
    return queue_page + filters.query(at=target.pk if target else None)


def _candidate_page(
    request: HttpRequest,
    visit: Visit,
    found: Candidate,
    *,
    refusal: str | None = None,
    status: int = 200,
) -> HttpResponse:
    filters = _filters(request)
    previous, following = neighbours(visit.project, filters, found)
    context = {
        **_shell(request, visit, filters, beside=found),
        "candidate": found,
        "sheet": queries.sheet_of(visit.project, found),
        "history": queries.history_of(visit.project, found),
        "previous": previous,
        "following": following,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
        "back": "page",
    }
    return render(request, "review/candidate.html", context, status=status)


def _shell(
    request: HttpRequest, visit: Visit, filters: Filters, *, beside: Candidate | None = None
) -> dict[str, Any]:
    """Return what every page of a project shows around its own."""
    last = queries.last_act(visit.project, request.session.get(_last_act_key(visit)))
    if last and beside and last.candidate.pk == beside.pk and last.can_undo:
        last = None  # the decision bar of that very page says it
    return {
        "visit": visit,
        "project": visit.project,
        "pending": queries.count_pending(visit.project),
        "place": "queue",
        "query": filters.query(),
        "last": last,
    }


def _asked(request: HttpRequest) -> dict[str, Any]:
    form = QueueForm(request.GET)
    if not form.is_valid():
        raise BadRequest("unknown filter")
    return form.cleaned_data


def _filters(request: HttpRequest) -> Filters:
    return Filters.of(_asked(request))


def _find(visit: Visit, number: int) -> Candidate:
    found = Candidate.objects.filter(scope_id=visit.project.scope_id, pk=number).first()
    if found is None:
        raise Http404
    return found


def _page(visit: Visit, found: Candidate) -> str:
    return reverse("review:candidate", kwargs={"slug": visit.project.slug, "number": found.pk})


def _valid(form: ShownForm) -> ShownForm:
    if not form.is_valid():
        raise BadRequest("not a decision form of this console")
    return form


def _last_act_key(visit: Visit) -> str:
    return f"last-act-{visit.project.pk}"
