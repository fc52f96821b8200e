"""The queue's page, the pane beside its list by itself, claims, and saved filters."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from codememory.models import Project, SavedFilter
from codememory.people import visible_projects
from review import claims, queries
from review.access import Visit, project_page, require_decider
from review.claims import Claim, claims_of
from review.filters import SORTS, Filters
from review.queue import Page, page_of, progress
from review.queue_counts import Counts, pending_elsewhere
from review.second_reviewers import Waiting, waiting_in
from review.shell import (
    asked_in,
    candidate_address,
    filters_in,
    find_candidate,
    queue_address,
    shell,
    valid,
)

MAX_SAVED = 20
MAX_PROJECTS = 8  # other projects named beside the filters


class SaveForm(forms.Form):
    name = forms.CharField(max_length=60)


class ClaimForm(forms.Form):
    act = forms.ChoiceField(choices=[("claim", "claim"), ("release", "release")])
    back = forms.ChoiceField(choices=[("queue", "queue"), ("page", "page")], required=False)


@dataclass(frozen=True, slots=True)
class Listed:
    """A row as it is drawn."""

    row: queries.Row
    similar: int
    claim: Claim | None
    is_decided: bool  # since the page was opened
    waiting: Waiting | None = None  # for a second reviewer

    @property
    def number(self) -> int:
        return int(self.row.candidate.pk)


@project_page
def queue(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a page of the queue beside the filters, and the current candidate beside both."""
    asked, filters = asked_in(request), filters_in(request)
    if not filters.asof:
        filters = replace(filters, asof=str(int(time.time() * 1000)))
    page = page_of(visit.project, filters, asked["at"] or asked["upto"])
    filters = replace(filters, after=page.after)
    rows = _listed(visit, filters, page)
    wanted = asked["at"] or asked["upto"]
    here = next((row for row in rows if row.number == wanted), rows[0] if rows else None)
    at = rows.index(here) if here else 0
    numbers = [row.number for row in rows]
    selected = select_up_to(numbers, {*asked["c"], *asked["g"]}, asked["upto"])
    counts = Counts(visit.project, filters)
    frame = shell(request, visit, "queue", filters)
    context = {
        **frame,
        **_beside(visit, filters, counts),
        "filters": filters,
        "counts": counts.by_state(),
        "progress": progress(visit.project, frame["pending"]),
        "page": page,
        "opened": int(filters.asof) // 1000,
        "rows": rows,
        "selected": selected,
        "previous": rows[at - 1] if at else None,
        "following": rows[at + 1] if at + 1 < len(rows) else None,
        "select_all": _select_all(filters, rows),
        "is_arriving": bool(asked["at"]),
        **(_pane(visit, here) if here else {"here": None}),
    }
    return render(request, "review/queue.html", context)


@project_page
def pane(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show one candidate as the pane beside the list does, for a script that moves in the list."""
    asked, filters = asked_in(request), filters_in(request)
    found = find_candidate(visit, asked["at"] or 0)
    row = Listed(
        queries.rows_of(visit.project, [found])[0],
        0,
        claims_of(visit.project, visit.user.pk, [found.pk]).get(found.pk),
        is_decided=False,
    )
    context = {**shell(request, visit, "queue", filters), **_pane(visit, row)}
    return render(request, "review/_peek.html", context)


@project_page
def claim(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Claim a candidate, or give the claim up; what refuses it is said above the list."""
    found = find_candidate(visit, number)
    if request.method != "POST":
        return redirect(candidate_address(visit, found))
    require_decider(request, visit)
    asked = valid(ClaimForm(request.POST)).cleaned_data
    refusal = None
    if asked["act"] == "claim":
        refusal = claims.claim(found, actor=visit.actor)
    else:
        claims.release(found, actor=visit.actor)
    filters = filters_in(request)
    if refusal:
        context = {
            **shell(request, visit, "queue", filters),
            "candidate": found,
            "refusal": refusal,
            "back_to": queue_address(visit) + filters.query(at=found.pk),
        }
        return render(request, "review/claimed.html", context, status=409)
    if asked["back"] == "page":
        return redirect(candidate_address(visit, found) + filters.query())
    return redirect(queue_address(visit) + filters.query(at=found.pk))


@project_page
def save(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Keep the filters of the address under a name, for this person alone."""
    filters = filters_in(request)
    if request.method == "POST":
        name = " ".join(valid(SaveForm(request.POST)).cleaned_data["name"].split())
        own = SavedFilter.objects.filter(scope_id=visit.project.scope_id, user=visit.user)
        if name and (own.filter(name=name).exists() or own.count() < MAX_SAVED):
            query = filters.anew().removeprefix("?")
            SavedFilter.objects.update_or_create(
                scope_id=visit.project.scope_id,
                user=visit.user,
                name=name,
                defaults={"query": query},
            )
    return redirect(queue_address(visit) + filters.query())


@project_page
def forget(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Remove one of this person's saved filters."""
    if request.method == "POST":
        SavedFilter.objects.filter(
            scope_id=visit.project.scope_id, user=visit.user, pk=number
        ).delete()
    return redirect(queue_address(visit) + filters_in(request).query())


def select_up_to(numbers: list[int], selected: set[int], upto: int | None) -> set[int]:
    """Add the rows from the last selected one before a row up to it; alone without one."""
    chosen = selected & set(numbers)
    if upto not in numbers:
        return chosen
    end = numbers.index(upto)
    start = max((at for at in range(end) if numbers[at] in chosen), default=end)
    return chosen | set(numbers[start : end + 1])


def _listed(visit: Visit, filters: Filters, page: Page) -> list[Listed]:
    rows = queries.rows_of(visit.project, [row.candidate for row in page.rows])
    numbers = [row.candidate.pk for row in page.rows]
    held = claims_of(visit.project, visit.user.pk, numbers)
    endorsed = waiting_in(visit.project, visit.user.pk, numbers)
    return [
        Listed(
            row,
            found.similar,
            held.get(found.candidate.pk),
            is_decided=filters.state not in ("any", found.candidate.state.lower()),
            waiting=endorsed.get(found.candidate.pk),
        )
        for row, found in zip(rows, page.rows, strict=True)
    ]


def _pane(visit: Visit, here: Listed) -> dict[str, Any]:
    """What the pane and its decision bar show."""
    return {
        "here": here,
        "claim": here.claim,
        "candidate": here.row.candidate,
        "sheet": queries.sheet_of(visit.project, here.row.candidate),
        "back": "queue",
    }


def _beside(visit: Visit, filters: Filters, counts: Counts) -> dict[str, Any]:
    """The rail: saved filters, facets, other projects."""
    own = SavedFilter.objects.filter(scope_id=visit.project.scope_id, user=visit.user)
    saved = counts.saved(own.order_by("name"))
    others = list(visible_projects(visit.user).exclude(pk=visit.project.pk)[:MAX_PROJECTS])
    pending = pending_elsewhere(others) if others else {}
    return {
        "total": counts.total,
        "facets": counts.facets(),
        "saved": saved,
        "is_saved": any(one.is_chosen for one in saved),
        "projects": [_other(project, filters, pending) for project in others],
        "sorts": SORTS,
    }


def _other(project: Project, filters: Filters, pending: dict[int, int]) -> dict[str, Any]:
    query = replace(filters, path="", like="").anew()
    return {"slug": project.slug, "query": query, "count": pending.get(project.scope_id, 0)}


def _select_all(filters: Filters, rows: list[Listed]) -> str:
    open_rows = [row for row in rows if not row.is_decided]
    alone = [row.number for row in open_rows if not row.similar]
    return filters.query(c=alone, g=[row.number for row in open_rows if row.similar])
