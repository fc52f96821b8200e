"""Every page and act of a foreign project answers as one of a project that does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.urls import URLPattern

from codememory.models import AuditEvent, Project
from review.urls import urlpatterns
from tests.builders import signed_in

SLUG = "projects/<slug:slug>/"
PARTS = {"int:number": "1", "slug:table": "run", "str:name": "A1.1"}


def places(slug: str) -> Iterator[str]:
    """The address of every page and act below a project."""
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        route = str(pattern.pattern)
        if route.startswith(SLUG):
            rest = re.sub(r"<([^>]+)>", lambda part: PARTS[part[1]], route.removeprefix(SLUG))
            yield f"/projects/{slug}/{rest}"


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_foreign_project_is_as_absent_as_none(project: Project, bob: User, method: str) -> None:
    ask = getattr(signed_in(bob), method)
    wrong = []
    foreign, absent = list(places(project.slug)), list(places("no-project"))
    assert len(foreign) > 40
    for place, nowhere in zip(foreign, absent, strict=True):
        answer, other = ask(place), ask(nowhere)
        if (answer.status_code, answer.content) != (404, other.content):
            wrong.append(place)
    assert wrong == []
    assert AuditEvent.objects.filter(action="access.refused").count() == 2 * len(foreign)


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_is_not_signed_in_is_sent_to_sign_in(
    project: Project, client: object, method: str
) -> None:
    answers = [getattr(client, method)(place) for place in places(project.slug)]
    assert {answer.status_code for answer in answers} == {302}
    assert all(answer["Location"].startswith("/accounts/login/?next=") for answer in answers)
