"""The decisions on one candidate as forms: each view calls one action and says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from codememory.models import Candidate, DecisionAction
from review import actions
from review.access import Visit, project_page, require_decider
from review.changes import changes_since
from review.forms import ReasonForm, ShownForm, SupersedeForm
from review.last_acts import remember_decision
from review.outcomes import Changed, Decided, Outcome, Refused, Unsure
from review.queries import latest_decision, sheet_of
from review.queue import next_open
from review.shell import (
    candidate_address,
    filters_in,
    find_candidate,
    queue_address,
    shell,
    valid,
)
from review.views import candidate_page

CARRIED = ("version", "shown", "rivals", "seen", "back", "memory")  # what was seen stays the same
Decide = Callable[[Candidate, Any, Visit], Outcome]


def _decision(form_class: type[ShownForm], decide: Decide) -> Callable[..., HttpResponse]:
    """Return the view of one decision: its form, its action, its answer."""

    @project_page
    def view(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
        found = find_candidate(visit, number)
        if request.method != "POST":
            return redirect(candidate_address(visit, found))
        require_decider(request, visit)
        form = form_class(request.POST)
        if "reason" in form.errors and len(form.errors) == 1:
            refusal = f"Say it in {actions.MAX_REASON} characters or fewer."
            return candidate_page(request, visit, found, refusal=refusal, status=422)
        outcome = decide(found, valid(form), visit)
        return _answer(request, visit, found, form, outcome)

    return view


promote = _decision(
    ShownForm,
    lambda found, form, visit: actions.promote_candidate(
        found, form.value_with_rivals(), actor=visit.actor, is_sure=form.is_sure
    ),
)
promote_as_plan = _decision(
    ShownForm,
    lambda found, form, visit: actions.promote_as_plan(
        found, form.value_with_rivals(), actor=visit.actor, is_sure=form.is_sure
    ),
)
supersede = _decision(
    SupersedeForm,
    lambda found, form, visit: actions.supersede_memory(
        found,
        form.value_with_rivals(),
        memory_id=form.cleaned_data["memory"],
        actor=visit.actor,
        is_sure=form.is_sure,
    ),
)
reject = _decision(
    ReasonForm,
    lambda found, form, visit: actions.reject_candidate(
        found, form.value(), reason=form.cleaned_data["reason"], actor=visit.actor
    ),
)
defer = _decision(
    ReasonForm,
    lambda found, form, visit: actions.defer_candidate(
        found, form.value(), reason=form.cleaned_data["reason"], actor=visit.actor
    ),
)
undo = _decision(
    ShownForm,
    lambda found, form, visit: actions.undo_decision(found, form.value(), actor=visit.actor),
)


def _answer(
    request: HttpRequest, visit: Visit, found: Candidate, form: ShownForm, outcome: Outcome
) -> HttpResponse:
    """Say what came of a decision: on to the next candidate, or why nothing was decided."""
    match outcome:
        case Changed():
            found.refresh_from_db()
            context = {
                **shell(request, visit, "queue", filters_in(request)),
                "candidate": found,
                "latest": latest_decision(visit.project, found),
                "changes": changes_since(visit.project, found, form),
                "again": candidate_address(visit, found) + filters_in(request).query(),
            }
            return render(request, "review/changed.html", context, status=409)
        case Refused(reason):
            return candidate_page(request, visit, found, refusal=reason, status=422)
        case Unsure(reason):
            return _ask_again(request, visit, found, reason)
        case Decided(decision):
            remember_decision(request, visit.project, decision)
            is_undo = decision.action == DecisionAction.UNDO
            return redirect(_onward(request, visit, found, form, is_undo))


def _ask_again(request: HttpRequest, visit: Visit, found: Candidate, reason: str) -> HttpResponse:
    """Show what would become a memory, and ask whether it is meant: the same form, once more."""
    filters = filters_in(request)
    context = {
        **shell(request, visit, "queue", filters),
        "candidate": found,
        "sheet": sheet_of(visit.project, found),
        "why": reason,
        "fields": [(name, request.POST[name]) for name in CARRIED if name in request.POST],
        "again": request.get_full_path(),
        "back_to": candidate_address(visit, found) + filters.query(),
    }
    return render(request, "review/sure.html", context)


def _onward(
    request: HttpRequest, visit: Visit, decided: Candidate, form: ShownForm, is_undo: bool
) -> str:
    """Return where to go on: the candidate taken back, else the next one that is open."""
    filters = filters_in(request)
    target = decided if is_undo else next_open(visit.project, filters, decided)
    if target and form.cleaned_data["back"] != "queue":
        return candidate_address(visit, target) + filters.query()
    return queue_address(visit) + filters.query(at=target.pk if target else None)
