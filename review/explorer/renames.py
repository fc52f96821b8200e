"""The queue of doubtful origins: where a file came from, for a reviewer to choose; others read."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from review.access import Visit, project_page, require_decider
from review.explorer.forms import RenamesForm, SettleForm
from review.explorer.origins import (
    Arrival,
    Moved,
    arrivals,
    count_arrivals,
    find_arrival,
    settle,
)
from review.shell import shell, valid

ARRIVALS = 20  # on a page


@project_page
def renames(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show files of which nobody chose yet where they came from, or those that are settled."""
    asked = valid(RenamesForm(request.GET)).cleaned_data
    return _page(request, visit, is_settled=asked["state"] == "settled", after=asked["after"])


@project_page
def settle_rename(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Record the choice for one file; what changed since it was shown is not decided."""
    if request.method != "POST":
        return redirect("review:renames", slug=visit.project.slug)
    require_decider(request, visit)
    asked = valid(SettleForm(request.POST)).cleaned_data
    is_settled = asked["state"] == "settled"
    outcome = settle(visit.project, number, asked["choice"], asked["seen"], visit.actor)
    if outcome is None:
        raise Http404
    if isinstance(outcome, Moved):
        arrival = find_arrival(visit.project, number)
        return _page(request, visit, is_settled=is_settled, moved=arrival, status=409)
    messages.info(request, outcome.sentence)
    address = reverse("review:renames", kwargs={"slug": visit.project.slug})
    return redirect(f"{address}?state=settled" if is_settled else address)


def _page(
    request: HttpRequest,
    visit: Visit,
    *,
    is_settled: bool,
    after: int | None = None,
    moved: Arrival | None = None,
    status: int = 200,
) -> HttpResponse:
    found = arrivals(visit.project, is_settled=is_settled, after=after, limit=ARRIVALS + 1)
    shown = found[:ARRIVALS]
    more = {"after": shown[-1].row.pk} if len(found) > ARRIVALS else None
    context: dict[str, Any] = {
        **shell(request, visit, "renames"),
        "arrivals": shown,
        "is_settled": is_settled,
        "after": after,
        "moved": moved,
        "counts": count_arrivals(visit.project),
        "next": f"?{urlencode({'state': 'settled' if is_settled else 'open', **more})}"
        if more
        else None,
    }
    return render(request, "explorer/renames.html", context, status=status)
