"""The decisions on one candidate as forms: each view calls one action and says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from codememory.models import Candidate
from review import actions
from review.access import Visit, project_page, require_decider
from review.answering import answer
from review.candidate_pages import candidate_page
from review.forms import (
    ConfirmForm,
    MergeForm,
    ReasonForm,
    ShownForm,
    SupersedeForm,
    TargetForm,
    TermsForm,
)
from review.outcomes import Outcome, Refused
from review.promoting import is_plan
from review.shell import candidate_address, filters_in, find_candidate, valid
from review.terms import Terms

Decide = Callable[[Candidate, Any, Visit], Outcome]
NOT_CHOSEN = "Choose what it joins, then merge again."
MERGE = "merge"


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
        return answer(request, visit, found, form, outcome)

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
confirm = _decision(
    ConfirmForm,
    lambda found, form, visit: actions.confirm_endorsement(
        found,
        form.value_with_rivals(),
        endorsement_id=form.cleaned_data["endorsement"],
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


def _on_terms(part: str) -> Callable[..., HttpResponse]:
    """Return the view of the form that promotes on other terms, opened for one part of them."""

    @project_page
    def view(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
        found = find_candidate(visit, number)
        if request.method != "POST":
            return candidate_page(request, visit, found, part=part)
        require_decider(request, visit)
        form = TermsForm(request.POST)
        if refusal := _too_long(form):
            return candidate_page(request, visit, found, refusal=refusal, part=part, status=422)
        terms = valid(form).terms(part)
        if form.cleaned_data["again"]:
            return candidate_page(request, visit, found, part=part)
        outcome = _promote(found, form, terms, visit)
        return answer(request, visit, found, form, outcome, part=part)

    return view


def _too_long(form: TermsForm) -> str | None:
    for name, most in (("context", actions.MAX_REASON), ("narrow_to", 1000), ("wording", 2000)):
        if name in form.errors:
            return f"Say it in {most} characters or fewer."
    return None


def _promote(found: Candidate, form: TermsForm, terms: Terms, visit: Visit) -> Outcome:
    shown, memory = form.value_with_rivals(), form.cleaned_data["memory"]
    if memory:
        return actions.supersede_memory(
            found, shown, memory_id=memory, actor=visit.actor, terms=terms, is_sure=form.is_sure
        )
    promote = actions.promote_as_plan if is_plan(found) else actions.promote_candidate
    return promote(found, shown, actor=visit.actor, terms=terms, is_sure=form.is_sure)


edit = _on_terms("wording")
narrow = _on_terms("narrow")
context = _on_terms("context")


@project_page
def merge(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Show what the candidate could be merged into, or merge it."""
    found = find_candidate(visit, number)
    if request.method != "POST":
        asked = valid(TargetForm(request.GET)).cleaned_data["into"]
        return candidate_page(request, visit, found, part=MERGE, into=asked)
    require_decider(request, visit)
    form = valid(MergeForm(request.POST))
    into, seen = form.target
    outcome: Outcome = Refused(NOT_CHOSEN)
    if into:
        outcome = actions.merge_candidate(
            found,
            form.value(),
            into=into,
            target_shown=seen,
            actor=visit.actor,
            is_sure=form.is_sure,
        )
    return answer(request, visit, found, form, outcome, part=MERGE, into=into)


@project_page
def view_as(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Show differences side by side or unified from now on, in this session."""
    found = find_candidate(visit, number)
    if request.method == "POST":
        request.session["unified"] = request.POST.get("view") == "unified"
    return redirect(candidate_address(visit, found) + filters_in(request).query())
