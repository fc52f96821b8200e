"""The console's pages around projects: the way in, the list of projects, the page of keys."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from codememory.models import Candidate, CandidateState
from codememory.people import visible_projects
from review.access import signed_in
from review.shortcuts import GROUPS


@require_safe
@never_cache
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Go to the only project's queue, or to the list of projects."""
    found = list(visible_projects(signed_in(request))[:2])
    if len(found) == 1:
        return redirect("review:queue", slug=found[0].slug)
    return redirect("review:projects")


@require_safe
@never_cache
@login_required
def projects(request: HttpRequest) -> HttpResponse:
    pending = Candidate.objects.filter(scope=OuterRef("scope"), state=CandidateState.PENDING)
    counted = pending.order_by().values("scope").annotate(count=Count("pk")).values("count")
    found = visible_projects(signed_in(request)).annotate(pending=Coalesce(Subquery(counted), 0))
    return render(request, "review/projects.html", {"projects": found, "place": "projects"})


@require_safe
@never_cache
@login_required
def keys(request: HttpRequest) -> HttpResponse:
    return render(request, "review/keys.html", {"groups": GROUPS, "place": "keys"})
