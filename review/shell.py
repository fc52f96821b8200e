"""What every page of a project needs around its own part, and how its views find a candidate."""

from __future__ import annotations

from typing import Any, TypeVar

from django import forms
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest
from django.urls import reverse

from codememory.models import Candidate
from review.access import Visit
from review.filters import Filters, QueueForm
from review.last_acts import last_act
from review.queries import count_pending

AnyForm = TypeVar("AnyForm", bound=forms.Form)


def shell(
    request: HttpRequest, visit: Visit, place: str, filters: Filters | None = None
) -> dict[str, Any]:
    """Return the context that the frame of a project's page uses."""
    return {
        "visit": visit,
        "project": visit.project,
        "pending": count_pending(visit.project),
        "place": place,
        "query": filters.query() if filters else "",
        "last": last_act(request, visit.project),
    }


def asked_in(request: HttpRequest) -> dict[str, Any]:
    """Return the queue's address, checked."""
    return valid(QueueForm(request.GET)).cleaned_data


def filters_in(request: HttpRequest) -> Filters:
    return Filters.of(asked_in(request), request.user.pk)


def find_candidate(visit: Visit, number: int) -> Candidate:
    """Return the project's candidate; any other one is absent."""
    found = Candidate.objects.filter(scope_id=visit.project.scope_id, pk=number).first()
    if found is None:
        raise Http404
    return found


def candidate_address(visit: Visit, candidate: Candidate) -> str:
    return reverse("review:candidate", kwargs={"slug": visit.project.slug, "number": candidate.pk})


def queue_address(visit: Visit) -> str:
    return reverse("review:queue", kwargs={"slug": visit.project.slug})


def valid(form: AnyForm) -> AnyForm:
    """Return a form that holds what this console writes; anything else is a bad request."""
    if not form.is_valid():
        raise BadRequest("not an address or a form of this console")
    return form
