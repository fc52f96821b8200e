"""Who may open a project's pages: members see, reviewers and leads decide.

For everybody else a project and all of it are absent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.cache import never_cache

from codememory.models import Actor, Project, Role
from codememory.people import DECIDING_ROLES, actor_of, role_in
from review.refusals import note_refusal

METHODS = ("GET", "HEAD", "POST")
READING = ("GET", "HEAD")
KEYS_COOKIE = "codememory-keys"  # "off": this browser wants no single-key shortcuts


@dataclass(frozen=True, slots=True)
class Visit:
    """A signed-in person at a project that they may see."""

    project: Project
    user: User
    role: Role

    @property
    def actor(self) -> Actor:
        return actor_of(self.user)

    @property
    def may_decide(self) -> bool:
        return self.role in DECIDING_ROLES

    @property
    def is_lead(self) -> bool:
        return self.role == Role.LEAD


View = Callable[Concatenate[HttpRequest, Visit, ...], HttpResponse]


def signed_in(request: HttpRequest) -> User:
    """Return the user of a view behind `login_required`."""
    return cast("User", request.user)


def project_page(view: View) -> Callable[..., HttpResponse]:
    """Hand the view its Visit; a foreign project answers exactly as one that does not exist."""

    @never_cache
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        project = Project.objects.filter(slug=slug).first()
        role = role_in(request.user, project) if project else None
        if project is None or role is None:
            _record_refusal(request, project, "not a member" if project else "no such project")
            raise Http404
        if request.method not in METHODS:  # not before: an absent project allows nothing either
            return HttpResponseNotAllowed(METHODS)
        return view(request, Visit(project, signed_in(request), role), **kwargs)

    return guarded


def require_decider(request: HttpRequest, visit: Visit) -> None:
    """Refuse those who may only read."""
    if not visit.may_decide:
        _record_refusal(request, visit.project, f"role {visit.role.lower()}")
        raise PermissionDenied


def require_lead(request: HttpRequest, visit: Visit) -> None:
    """Refuse those who do not manage the project's people."""
    if not visit.is_lead:
        _record_refusal(request, visit.project, f"role {visit.role.lower()}")
        raise PermissionDenied


def _record_refusal(request: HttpRequest, project: Project | None, reason: str) -> None:
    note_refusal(request, actor_of(signed_in(request)), project, reason)
