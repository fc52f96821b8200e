"""The tokens by which agents read a project: its lead makes one, sees them all, and ends them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import BooleanField, Case, F, Q, Value, When
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_variables

from codememory import tokens
from codememory.models import ApiToken, Role, TokenScope
from codememory.people import role_in
from review.access import Visit, project_page, require_lead
from review.forms import LARGEST
from review.shell import shell, valid

LIVES = {
    "1": "1 day",
    "30": "30 days",
    "90": "90 days",
    "365": "1 year",
    "": "It does not expire",
}
DEFAULT_LIFE = "30"
SCOPES = {
    TokenScope.READ.value: "Read",
    f"{TokenScope.READ.value},{TokenScope.PROPOSE.value}": "Read, and propose candidates",
}
SHOWN = 200  # tokens on the page, the newest


class TokenForm(forms.Form):
    """Whom a token is for, what it may do and for how long."""

    name = forms.CharField(max_length=100)
    scopes = forms.ChoiceField(choices=list(SCOPES.items()))
    days = forms.ChoiceField(choices=list(LIVES.items()), required=False)

    @property
    def life(self) -> timedelta | None:
        days = self.cleaned_data["days"]
        return timedelta(days=int(days)) if days else None


class AskedForm(forms.Form):
    """Which token the page asks about before it is ended."""

    end = forms.IntegerField(min_value=1, max_value=LARGEST, required=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A token as the page shows it; `others` counts the other projects that it reads."""

    token: ApiToken
    state: str
    others: int
    is_attached: bool
    may_revoke: bool  # else it is only taken from this project


@project_page
def token_list(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the project's tokens; the address may name one that is to be ended."""
    require_lead(request, visit)
    number = valid(AskedForm(request.GET)).cleaned_data["end"]
    return _page(request, visit, ending=_find(visit, number) if number else None)


@project_page
@sensitive_variables("plain")
def make(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Make a token and show it: on this answer alone, and nowhere again."""
    if request.method != "POST":
        return redirect("review:tokens", slug=visit.project.slug)
    require_lead(request, visit)
    form = valid(TokenForm(request.POST))
    token, plain = tokens.create_token(
        form.cleaned_data["name"],
        [visit.project],
        form.cleaned_data["scopes"].split(","),
        form.life,
        by=visit.actor,
    )
    return _page(request, visit, made=token, plain=plain)


@project_page
def end(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Revoke a token, or take this project from one that others count on."""
    if request.method != "POST":
        return redirect("review:tokens", slug=visit.project.slug)
    require_lead(request, visit)
    row = _find(visit, number)
    if row.may_revoke:
        done = tokens.end(row.token, by=visit.actor)
        said = f"Revoked {row.token.prefix}. It opens nothing from now on."
    else:
        done = tokens.withdraw(row.token, visit.project, by=visit.actor)
        said = f"{row.token.prefix} no longer reads {visit.project.slug}."
    messages.info(request, said if done else f"{row.token.prefix} had ended already.")
    return redirect("review:tokens", slug=visit.project.slug)


def _rows(visit: Visit) -> list[Row]:
    """The project's tokens, live ones first; what they read beside it is not named."""
    has_ended = ~Q(revoked_at=None) | Q(expires_at__lte=Now())
    found = (
        ApiToken.objects.filter(projects__scope_id=visit.project.scope_id)
        .annotate(
            has_ended=Case(
                When(has_ended, then=Value(True)),
                default=Value(False),
                output_field=BooleanField(),
            ),
            attached=F("projects__attached_at"),
        )
        .select_related("actor")
        .prefetch_related("projects__scope__project")
        .order_by("has_ended", "-pk")[:SHOWN]
    )
    return [_row(visit, token) for token in found]


def _row(visit: Visit, token: Any) -> Row:
    others = [
        link.scope.project
        for link in token.projects.all()
        if link.scope_id != visit.project.scope_id and hasattr(link.scope, "project")
    ]
    state = "revoked" if token.revoked_at else "expired" if token.has_ended else "live"
    leads = all(role_in(visit.user, project) == Role.LEAD for project in others)
    return Row(token, state, len(others), token.attached is not None, leads)


def _find(visit: Visit, number: int) -> Row:
    """Return a token of the project; any other one is absent."""
    found = [row for row in _rows(visit) if row.token.pk == number]
    if not found:
        raise Http404
    return found[0]


@sensitive_variables("plain")
def _page(
    request: HttpRequest,
    visit: Visit,
    *,
    ending: Row | None = None,
    made: ApiToken | None = None,
    plain: str = "",
) -> HttpResponse:
    context = {
        **shell(request, visit, "people"),
        "rows": _rows(visit),
        "ending": ending,
        "made": made,
        "plain": plain,
        "server": request.build_absolute_uri("/").rstrip("/"),
        "lives": LIVES.items(),
        "default_life": DEFAULT_LIFE,
        "scopes": SCOPES.items(),
    }
    return render(request, "people/tokens.html", context)
