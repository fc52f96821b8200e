"""What was promoted, judged now: each number equals its rows; disk against the policy's limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from codememory.models import Candidate, Policy, Project, Role
from codememory.policies import newest_policy, set_policy, values_of
from codememory.removal import owned_models
from review import row_counts
from review.coverage import storage, verdicts
from tests.builders import make_memory, make_person, make_project, signed_in
from tests.collected import collect
from tests.repos import RepoBuilder
from tests.review.test_coverage import behind, figures

pytestmark = pytest.mark.django_db

RULE = "Every refund must be booked before the customer is told."
OLD = "Every receipt must be printed on paper for the refund desk."
DOCUMENT = "# Notes\n\n## Rules\n\n- {}\n"
STAFF = "/admin/verdicts/?project=shop"
LEAD = "/projects/shop/coverage/verdicts/"


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    """A rule that is still there, and one that is not."""
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("docs/refunds.md", DOCUMENT.format(RULE))
    repo.write("docs/receipts.md", DOCUMENT.format(OLD))
    repo.commit()
    project = collect(repo)
    root = User.objects.create_superuser("root")
    for said in (RULE, OLD):
        make_memory(Candidate.objects.get(statement=said), root)
    repo.write("docs/receipts.md", DOCUMENT.format("Receipts are mailed."))
    repo.commit()
    return project


@pytest.fixture
def staff(shop: Project) -> Client:
    return signed_in(User.objects.get(username="root"))


@pytest.fixture
def lead(shop: Project) -> Client:
    return signed_in(make_person(shop, Role.LEAD, "lea"))


def said_in(client: Client, address: str) -> list[str]:
    text = client.get(address).content.decode()
    return [said for said in (RULE, OLD) if said in text]


def test_every_number_equals_the_rows_that_it_opens(staff: Client, lead: Client) -> None:
    for client, address in ((staff, STAFF), (lead, LEAD)):
        found = figures(client.get(address).content.decode())
        assert len(found) == 11
        assert [(href, n) for href, n in found if behind(client, href) != n] == []


def test_a_rule_that_is_not_there_any_more_is_stale(staff: Client) -> None:
    assert said_in(staff, f"{STAFF}&stale=yes") == [OLD]
    assert said_in(staff, f"{STAFF}&verdict=HISTORICAL") == [OLD]
    assert said_in(staff, f"{STAFF}&verdict=CURRENT_SUPPORTED") == [RULE]


def test_what_the_policy_excludes_is_counted_and_not_shown(shop: Project, staff: Client) -> None:
    row = newest_policy(shop)
    values = {**values_of(row), "exclude": ["docs/refunds.md"]}
    set_policy(shop, values, opened=row.generation, actor=None, by="test")
    assert said_in(staff, STAFF) == [OLD]
    assert behind(staff, f"{STAFF}&verdict=WITHHELD") == "1"


def test_only_so_many_are_judged_and_the_page_says_so(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "MOST", 1)
    text = re.sub(r"<[^>]+>", "", staff.get(STAFF).content.decode())
    assert "the newest 1 of 2 memories" in text


def test_the_dashboard_leads_to_them_to_the_disk_and_to_the_policy(
    staff: Client, lead: Client
) -> None:
    found = (
        (staff, "/admin/?project=shop", [STAFF, "/admin/database/?project=shop"]),
        (lead, "/projects/shop/coverage/", [LEAD, "/projects/shop/coverage/disk/"]),
    )
    for client, dashboard, places in found:
        text = client.get(dashboard).content.decode()
        for place in [*places, "/projects/shop/policy/"]:
            assert f'href="{place}"' in text
            assert client.get(place).status_code == 200, place


def test_disk_is_said_against_what_the_policy_allows(shop: Project, lead: Client) -> None:
    Policy.objects.create(
        scope=shop.scope, generation=9, sources=["git"], disk_bytes=10_000_000_000
    )
    text = re.sub(r"<[^>]+>", "", lead.get("/projects/shop/coverage/disk/").content.decode())
    assert re.search(r"about [\d.]+ [kM]B of the 10.0 GB that its policy allows: [\d.]+ %", text)


def test_a_leads_rows_by_table_are_as_many_as_the_page_says(lead: Client) -> None:
    found = figures(lead.get("/projects/shop/coverage/disk/").content.decode())
    assert len(found) >= len(owned_models())
    assert [(href, n) for href, n in found if behind(lead, href) != n] == []


def test_no_model_is_counted_as_none_with_its_rows(staff: Client) -> None:
    text = staff.get("/admin/").content.decode()
    (href,) = [href for href, _ in figures(text) if "provider__exact" in href]
    assert behind(staff, href) == "0"
    assert "No model." in text


def test_these_pages_are_for_leads_and_staff_alone(shop: Project) -> None:
    reader = signed_in(make_person(shop, Role.READER, "rita"))
    stranger = signed_in(make_person(make_project("other"), Role.LEAD, "bob"))
    for place in (LEAD, "/projects/shop/coverage/disk/"):
        assert (reader.get(place).status_code, stranger.get(place).status_code) == (403, 404)
    assert reader.get(STAFF).status_code == 302


@pytest.mark.parametrize("wrong", ["type=rumour", "verdict=TRUE", "stale=no"])
def test_an_unknown_filter_is_refused(staff: Client, wrong: str) -> None:
    assert staff.get(f"{STAFF}&{wrong}").status_code == 400


def test_memories_are_listed_a_page_at_a_time(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "ROWS", 1)
    first = staff.get(STAFF).content.decode()
    (later,) = re.findall(r'href="([^"]+)" rel="next"', first)
    second = staff.get(later.replace("&amp;", "&")).content.decode()
    assert [said for said in (RULE, OLD) if said in first and said in second] == []
    assert all(said in first + second for said in (RULE, OLD))
    assert "2 to 2 of 2" in second
    assert 'data-rows="2"' in first
    assert 'data-rows="2"' in second


def test_rows_that_are_many_are_told_by_the_same_reckoning_on_both_pages(
    shop: Project, staff: Client, lead: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    monkeypatch.setattr(row_counts, "COUNTED", 0)
    monkeypatch.setattr(storage, "COUNTED", 0)
    for client, address in (
        (staff, "/admin/database/?project=shop"),
        (lead, "/projects/shop/coverage/disk/"),
    ):
        text = client.get(address).content.decode()
        found = dict(figures(text))
        (changes,) = [href for href in found if "filechange" in href and "measure" not in href]
        behind_it = client.get(changes).content.decode()
        assert f"about {found[changes]}" in text
        assert f'About <b data-rows="{found[changes]}">' in behind_it
    narrowed = staff.get("/admin/codememory/filechange/?path_class__exact=NORMAL").content.decode()
    assert "About <b" not in narrowed
