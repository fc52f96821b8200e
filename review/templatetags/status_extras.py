"""The badge that says on every page how the project is doing."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext

from review.health import Status, status_for

register = template.Library()


@register.simple_tag(takes_context=True)
def status_here(context: RequestContext) -> Status | None:
    """Return the status of the page's project; None where nobody is signed in."""
    request: Any = context.get("request")
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return None
    return status_for(user, context.get("visit"))
