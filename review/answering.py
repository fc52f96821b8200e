"""What came of a decision: on to the next candidate, or why nothing was decided."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from codememory.models import Candidate, DecisionAction
from review.access import Visit
from review.candidate_pages import FORMS, candidate_page
from review.changes import changes_since, target_changes
from review.forms import ShownForm
from review.last_acts import remember_decision
from review.merging import Target
from review.outcomes import Changed, Decided, Outcome, Refused, TargetChanged, Unsure
from review.queries import latest_decision, sheet_of
from review.queue import next_open
from review.shell import candidate_address, filters_in, queue_address, shell

SHOWN = ("version", "shown", "rivals", "seen", "back")
TYPED = ("wording", "narrow_kind", "narrow_to", "context")
# What was seen and typed stays the same while it is asked once more.
CARRIED = (*SHOWN, *TYPED, "memory", "endorsement", "into")


def answer(
    request: HttpRequest,
    visit: Visit,
    found: Candidate,
    form: ShownForm,
    outcome: Outcome,
    *,
    part: str = "",
    into: str = "",
) -> HttpResponse:
    """Say what came of a decision; `part` is the form that it was made in, "" the plain bar."""
    match outcome:
        case Changed():
            return _changed(request, visit, found, form, part)
        case TargetChanged(target):
            return _changed(request, visit, found, form, part, target)
        case Refused(reason):
            return candidate_page(
                request, visit, found, refusal=reason, part=part, into=into, status=422
            )
        case Unsure(reason):
            return _ask_again(request, visit, found, reason)
        case Decided(decision):
            remember_decision(request, visit.project, decision)
            is_undo = decision.action == DecisionAction.UNDO
            return redirect(_onward(request, visit, found, form, is_undo))


def _changed(
    request: HttpRequest,
    visit: Visit,
    found: Candidate,
    form: ShownForm,
    part: str,
    target: Target | None = None,
) -> HttpResponse:
    """Say what changed since the page was opened, and keep what was typed."""
    found.refresh_from_db()
    filters = filters_in(request)
    context = {
        **shell(request, visit, "queue", filters),
        "candidate": found,
        "latest": latest_decision(visit.project, found),
        "changes": changes_since(visit.project, found, form),
        "target": target,
        "target_changes": target_changes(target) if target else [],
        "again": candidate_address(visit, found) + filters.query(),
        "typed": _typed(request),
        "retype": _form_address(visit, found, part) + filters.query() if part else "",
        "sheet": sheet_of(visit.project, found),
        "reason": request.POST.get("reason", ""),
        "back": form.cleaned_data["back"],
    }
    return render(request, "review/changed.html", context, status=409)


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    return [(name, request.POST[name]) for name in TYPED if request.POST.get(name)]


def _form_address(visit: Visit, found: Candidate, part: str) -> str:
    kept = {"slug": visit.project.slug, "number": found.pk}
    return reverse(f"review:{FORMS[part]}", kwargs=kept)


def _ask_again(request: HttpRequest, visit: Visit, found: Candidate, reason: str) -> HttpResponse:
    """Show what would become a memory, and ask whether it is meant: the same form, once more."""
    filters = filters_in(request)
    context = {
        **shell(request, visit, "queue", filters),
        "candidate": found,
        "sheet": sheet_of(visit.project, found),
        "why": reason,
        "fields": [(name, request.POST[name]) for name in CARRIED if name in request.POST],
        "typed": _typed(request),
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
