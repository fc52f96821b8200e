"""The console's pages that only show: projects, keys, the queue, a candidate."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from codememory.models import Candidate, CandidateState
from codememory.people import visible_projects
from review import queries
from review.access import Visit, project_page, signed_in
from review.queue import Filters, choices, neighbours, page_of, progress
from review.shell import asked_in, filters_in, find_candidate, shell
from review.shortcuts import GROUPS


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
    return render(request, "review/keys.html", {"groups": GROUPS, "place": "keys"})


@project_page
def queue(request: HttpRequest, visit: Visit) -> HttpResponse:
    asked = asked_in(request)
    filters = Filters.of(asked)
    page = page_of(visit.project, filters, asked["after"])
    rows = queries.rows_of(visit.project, page.candidates)
    wanted = asked["at"] or asked["upto"]
    here = next((row for row in rows if row.candidate.pk == wanted), rows[0] if rows else None)
    at = rows.index(here) if here else 0
    selected = select_up_to([row.candidate.pk for row in rows], set(asked["c"]), asked["upto"])
    found = choices(visit.project, filters)
    context = {
        **shell(request, visit, "queue", filters),
        "filters": filters,
        "choices": found,
        "counts": {choice.value: choice.count for choice in found["state"]},
        "progress": progress(visit.project),
        "page": page,
        "rows": rows,
        "selected": selected,
        "here": here,
        "sheet": queries.sheet_of(visit.project, here.candidate) if here else None,
        "previous": rows[at - 1] if at else None,
        "following": rows[at + 1] if at + 1 < len(rows) else None,
        "after": asked["after"],
        "select_all": filters.query(after=asked["after"], c=[row.candidate.pk for row in rows]),
        "back": "queue",
    }
    return render(request, "review/queue.html", context)


@project_page
def candidate(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    return candidate_page(request, visit, find_candidate(visit, number))


def candidate_page(
    request: HttpRequest,
    visit: Visit,
    found: Candidate,
    *,
    refusal: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show a candidate, with what refused a decision on it."""
    filters = filters_in(request)
    previous, following = neighbours(visit.project, filters, found)
    context = {
        **shell(request, visit, "queue", filters),
        "candidate": found,
        "sheet": queries.sheet_of(visit.project, found),
        "history": queries.history_of(visit.project, found),
        "previous": previous,
        "following": following,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
        "back": "page",
    }
    last = context["last"]
    if last and not last.is_batch and last.candidate.pk == found.pk and last.can_undo:
        context["last"] = None  # the decision bar of that very page says it
    return render(request, "review/candidate.html", context, status=status)


def select_up_to(numbers: list[int], selected: set[int], upto: int | None) -> set[int]:
    """Add the rows from the last selected one before a row up to it; alone without one."""
    chosen = selected & set(numbers)
    if upto not in numbers:
        return chosen
    end = numbers.index(upto)
    start = max((at for at in range(end) if numbers[at] in chosen), default=end)
    return chosen | set(numbers[start : end + 1])
