"""Who works on a project: everybody in it sees that, a lead changes it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from codememory.models import Role
from codememory.people import MemberError, add_member, change_role, members_of, remove_member
from review.access import Visit, project_page, require_lead
from review.forms import AddMemberForm, MemberForm, RoleForm
from review.shell import shell, valid

ROLES = [
    (Role.READER, "reads everything, decides nothing"),
    (Role.REVIEWER, "promotes, rejects, defers, takes back"),
    (Role.LEAD, "reviews, and manages these people"),
]


@project_page
def people(request: HttpRequest, visit: Visit) -> HttpResponse:
    return _page(request, visit)


@project_page
def add(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Give an existing account a role."""
    if request.method != "POST":
        return redirect("review:people", slug=visit.project.slug)
    require_lead(request, visit)
    form = valid(AddMemberForm(request.POST))
    name, role = form.cleaned_data["name"], Role(form.cleaned_data["role"])
    try:
        add_member(visit.project, name, role, actor=visit.actor)
    except MemberError as error:
        return _page(request, visit, refusal=str(error), name=name)
    return _done(request, visit, f"Added {name} as a {role.lower()}.")


@project_page
def change(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Change a member's role."""
    if request.method != "POST":
        return redirect("review:people", slug=visit.project.slug)
    require_lead(request, visit)
    form = valid(RoleForm(request.POST))
    was, role = Role(form.cleaned_data["was"]), Role(form.cleaned_data["role"])
    try:
        user = change_role(visit.project, number, was, role, actor=visit.actor)
    except MemberError as error:
        return _page(request, visit, refusal=str(error))
    return _done(request, visit, f"{user.get_username()} is now a {role.lower()}.")


@project_page
def remove(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """End a membership."""
    if request.method != "POST":
        return redirect("review:people", slug=visit.project.slug)
    require_lead(request, visit)
    was = Role(valid(MemberForm(request.POST)).cleaned_data["was"])
    try:
        user = remove_member(visit.project, number, was, actor=visit.actor)
    except MemberError as error:
        return _page(request, visit, refusal=str(error))
    return _done(request, visit, f"{user.get_username()} is no longer a member.")


def _done(request: HttpRequest, visit: Visit, said: str) -> HttpResponse:
    """Say it on the next page: where it leads a person who changed themselves depends on that."""
    messages.info(request, said)
    return redirect("review:people", slug=visit.project.slug)


def _page(
    request: HttpRequest, visit: Visit, *, refusal: str | None = None, name: str = ""
) -> HttpResponse:
    context = {
        **shell(request, visit, "people"),
        "members": members_of(visit.project),
        "administrators": User.objects.filter(is_superuser=True, is_active=True).order_by("pk"),
        "roles": ROLES,
        "refusal": refusal,
        "name": name,
    }
    return render(request, "review/people.html", context, status=409 if refusal else 200)
