"""The lead's switch for a second reviewer; it stands on the page of people."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from review.access import Visit, project_page, require_lead
from review.forms import SecondReviewerForm
from review.second_reviewers import people_beside, switch_second_reviewer
from review.shell import valid


@project_page
def switch(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Let memories take two people from now on, or one."""
    if request.method == "POST":
        require_lead(request, visit)
        is_on = valid(SecondReviewerForm(request.POST)).cleaned_data["second_reviewer"] == "on"
        if switch_second_reviewer(visit.project, is_on=is_on, actor=visit.actor):
            messages.info(request, _said(visit, is_on))
    return redirect("review:people", slug=visit.project.slug)


def _said(visit: Visit, is_on: bool) -> str:
    if not is_on:
        return "One person makes a memory from now on."
    alone = "" if people_beside(visit.project.scope_id, visit.actor) else " There is none yet."
    return f"A memory takes a second reviewer from now on.{alone}"
