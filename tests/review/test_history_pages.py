"""The history of a file, page by page, in the console."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from codememory.models import Role
from review.explorer.history import EVENTS
from tests.builders import make_person
from tests.collected import collect
from tests.repos import RepoBuilder
from tests.review.explored import page

pytestmark = pytest.mark.django_db
EVENT = re.compile(r'<li id="(F[0-9]+)">')


@pytest.fixture
def ann(tmp_path: Path) -> User:
    repo = RepoBuilder(tmp_path / "shop")
    repo.import_commits("rate.txt", (f"the rate of day {n}\n" for n in range(EVENTS + 2)))
    return make_person(collect(repo, ("git",)), Role.READER, "ann")


def test_the_older_page_goes_on_where_the_first_ended(ann: User) -> None:
    first = page(ann, "history/?subject=rate.txt")
    (older,) = re.findall(r'href="(\?[^"]*)" rel="next"', first)
    second = page(ann, f"history/{unescape(older)}")
    assert len({*EVENT.findall(first), *EVENT.findall(second)}) == EVENTS + 2
    assert len(EVENT.findall(second)) == 2


def test_a_link_to_an_older_page_of_something_else_shows_the_newest(ann: User) -> None:
    (older,) = re.findall(
        r'[?&;]after=([0-9.a-f]+)" rel="next"', page(ann, "history/?subject=rate.txt")
    )
    assert len(EVENT.findall(page(ann, f"history/?subject=rate.txt&after=9.{'0' * 16}"))) == EVENTS
    page(ann, f"history/?after={older}")
