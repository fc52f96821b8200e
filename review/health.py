"""How projects are doing, for the badge of every page: one statement, counted from committed rows.

A unit is one thing that search can find: an entry of the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from codememory.models import Project
from codememory.people import visible_projects
from review.access import Visit, project_page, signed_in

# The index knows how many entries it has. Live runs and those that ended badly each have an index
# of their own; whether a later run made up for one is looked up in a third.
_COUNTS = """
    SELECT
      (SELECT coalesce(sum(changes + texts), 0) FROM codememory_searchtotal
        WHERE scope_id = ANY(%(scopes)s)),
      (SELECT count(*) FROM codememory_run
        WHERE scope_id = ANY(%(scopes)s) AND state IN ('QUEUED', 'RUNNING')),
      (SELECT count(*) FROM codememory_run bad
        WHERE bad.scope_id = ANY(%(scopes)s) AND bad.state IN ('FAILED', 'POISONED')
          AND NOT EXISTS (
            SELECT FROM codememory_run later
            WHERE later.scope_id = bad.scope_id AND later.worktree_id = bad.worktree_id
              AND later.source = bad.source AND later.id > bad.id))
"""


class Health(StrEnum):
    """The worst that holds of any project."""

    HEALTHY = "Healthy"
    COLLECTING = "Collecting"
    FAILING = "Failing"


@dataclass(frozen=True, slots=True)
class Status:
    """What the badge says, and where it leads and asks again."""

    units: int
    live: int
    failed: int
    href: str
    source: str

    @property
    def health(self) -> Health:
        if self.failed:
            return Health.FAILING
        return Health.COLLECTING if self.live else Health.HEALTHY

    @property
    def shape(self) -> str:
        """The name of its shape, which is another one for each."""
        return self.health.name.lower()

    @property
    def fact(self) -> str:
        """What a person may want to know beyond the word."""
        if self.failed:
            return f"{self.failed} run{'s' if self.failed != 1 else ''} failed"
        if self.live:
            return f"{self.live} run{'s' if self.live != 1 else ''}"
        return f"{self.units:,} unit{'s' if self.units != 1 else ''}"

    @property
    def sentence(self) -> str:
        """All of it, for the badge's title and for who does not see it."""
        return f"{self.units:,} units can be found, {self.live} runs live, {self.failed} failed"


def status_of(projects: Sequence[Project], href: str, source: str) -> Status:
    """Count; one statement."""
    scopes = [project.scope_id for project in projects]
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, {"scopes": scopes})
        units, live, failed = cursor.fetchone()
    return Status(int(units), live, failed, href, source)


def status_for(user: User, visit: Visit | None) -> Status:
    """Return the status of the visited project, else of all that the user may see."""
    if visit is None:
        href = reverse("admin:index") if user.is_staff else reverse("review:projects")
        return status_of(list(visible_projects(user)), href, reverse("review:status"))
    slug = visit.project.slug
    source = reverse("review:project_status", kwargs={"slug": slug})
    if user.is_staff:
        href = f"{reverse('admin:index')}?project={slug}"
    else:
        place = "review:coverage" if visit.is_lead else "review:knowledge"
        href = reverse(place, kwargs={"slug": slug})
    return status_of([visit.project], href, source)


@never_cache
@login_required
def status(request: HttpRequest) -> HttpResponse:
    """Answer with the badge alone, of all projects."""
    context = {"status": status_for(signed_in(request), None)}
    return render(request, "_status.html", context)


@project_page
def project_status(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Answer with the badge alone, of one project."""
    return render(request, "_status.html", {"status": status_for(visit.user, visit)})
