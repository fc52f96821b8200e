"""Template parts of the queue: the claim on a candidate, the icon of a source."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import template

from codememory.models import Candidate
from review.claims import Claim, claims_of

register = template.Library()


@register.simple_tag(takes_context=True)
def claim_on(context: dict[str, Any], candidate: Candidate) -> Claim | None:
    """Return the claim that holds on a candidate of the page's project."""
    visit = context["visit"]
    return claims_of(visit.project, visit.user.pk, [candidate.pk]).get(candidate.pk)


@register.filter
def clock(seconds: int) -> str:
    """Write the time of day of a moment, in UTC."""
    return f"{datetime.fromtimestamp(seconds, tz=UTC):%H:%M} UTC"


@register.filter
def iso_of(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()
