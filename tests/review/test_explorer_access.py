"""Who sees the explorer's pages, and that no page asks the database without end."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from codememory.models import FileChange, Project, Role, SourceRevision
from tests.builders import make_person, make_project, signed_in
from tests.repos import RepoBuilder
from tests.review.explored import SLUG, changes_of, make_shop

pytestmark = pytest.mark.django_db

PAGES = [
    "history/",
    "history/?subject=till.py",
    "history/?subject=till.py:Till.open",
    "changes/L{change}/",
    "documents/D{document}/",
    "evidence/A{content}.1/",
    "knowledge/",
    "knowledge/?q=refund",
    "ask/",
    "ask/?task=refund",
    "ask/?task=refund&format=json",
    "renames/",
    "renames/?state=settled",
    "more/",
]
MOST_QUERIES = 90


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    return make_shop(RepoBuilder(tmp_path / "shop"))


@pytest.fixture
def bob(db: None) -> User:
    return make_person(make_project("other"), Role.LEAD, "bob")


def addresses(project: Project) -> list[str]:
    named = {
        "change": changes_of(project, "till.py")[1].pk,
        "document": SourceRevision.objects.filter(kind="documents").earliest("pk").pk,
        "content": FileChange.objects.filter(kind="M").earliest("pk").content_change_id,
    }
    return [f"{SLUG}/{place.format(**named)}" for place in PAGES]


def test_a_reader_sees_every_page(shop: Project) -> None:
    client = signed_in(make_person(shop, Role.READER, "rita"))
    assert [a for a in addresses(shop) if client.get(a).status_code != 200] == []


def test_to_a_foreign_lead_every_page_is_as_if_there_were_none(shop: Project, bob: User) -> None:
    client = signed_in(bob)
    absent = client.get("/projects/absent/history/").content
    for address in addresses(shop):
        answer = client.get(address)
        assert (answer.status_code, answer.content) == (404, absent), address


def test_what_belongs_to_a_foreign_project_is_absent_in_ones_own(shop: Project, bob: User) -> None:
    client = signed_in(bob)
    for address in addresses(shop):
        own = address.replace("/shop/", "/other/")
        if any(part in own for part in ("/changes/", "/documents/", "/evidence/")):
            assert client.get(own).status_code == 404, own


def test_a_foreign_history_is_not_found_by_name(shop: Project, bob: User) -> None:
    text = signed_in(bob).get("/projects/other/history/?subject=till.py").content.decode()
    assert "Nothing stored has that path or name" in text


def test_nobody_sees_a_page_without_signing_in(shop: Project) -> None:
    for address in addresses(shop):
        answer = Client().get(address)
        assert answer.status_code == 302, address
        assert answer["Location"].startswith("/accounts/login/")


def test_pages_ask_a_bounded_number_of_times(shop: Project) -> None:
    client = signed_in(make_person(shop, Role.READER, "rita"))
    for address in addresses(shop):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get(address)
        assert len(asked) <= MOST_QUERIES, (address, len(asked))


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PUT", "DELETE"])
def test_a_page_answers_no_method_that_it_does_not_know(rita: User, method: str) -> None:
    answer = signed_in(rita).generic(method, "/projects/payments-api/audit/")
    assert (answer.status_code, answer.content) == (405, b"")
