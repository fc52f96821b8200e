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


@pytest.fixture
def desk(tmp_path: Path) -> User:
    """A file that was commented, spaced, renamed, and then copied."""
    repo, body = RepoBuilder(tmp_path / "shop"), "".join(f"X{n} = {n}\n" for n in range(30))
    for text in (body, f"# a comment\n{body}", f"# a comment\n\n\n{body}"):
        repo.write("till.py", text)
        repo.commit()
    repo.rename("till.py", "desk.py")
    repo.commit()
    repo.write("copy.py", f"# a comment\n\n\n{body}")
    repo.commit()
    return make_person(collect(repo, ("git",)), Role.REVIEWER, "ann")


def test_an_event_says_that_only_comments_or_spacing_changed(desk: User) -> None:
    text = page(desk, "history/?subject=desk.py").lower()
    assert text.count(">comments only<") == 1
    assert text.count(">formatting only<") == 1


def test_an_event_says_where_a_file_came_from_and_how_sure_that_is(desk: User) -> None:
    renamed, copied = (
        " ".join(re.sub("<[^>]+>", " ", page(desk, f"history/?subject={path}")).split())
        for path in ("desk.py", "copy.py")
    )
    assert "Renamed from till.py 100 % alike, the only possible source" in renamed
    assert "Copied from desk.py 100 % alike, the only possible source" in copied
