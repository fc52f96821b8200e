"""The badge: worst news first, counted by one statement, and asked for again by itself."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from codememory.models import Project, Role, Run, RunState, SearchTotal, Worktree
from review.health import Health, status_of
from tests.builders import make_person, make_project, signed_in

pytestmark = pytest.mark.django_db


def make_run(project: Project, state: str, source: str = "git") -> Run:
    live = {"lease_owner": "w", "lease_until": "2100-01-01T00:00Z"} if state == "RUNNING" else {}
    return Run.objects.create(
        scope=project.scope,
        worktree=Worktree.objects.get(scope=project.scope),
        source=source,
        state=state,
        policy_generation=1,
        **live,
    )


def health(*projects: Project) -> Health:
    return status_of(projects, "", "").health


def badge(client: Client, address: str) -> str:
    text = client.get(address).content.decode()
    found = re.search(r'<a class="status .*?</a>', text)
    assert found is not None, address
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], Health.HEALTHY),
        (["DONE", "CANCELLED"], Health.HEALTHY),
        (["DONE", "QUEUED"], Health.COLLECTING),
        (["DONE", "RUNNING"], Health.COLLECTING),
        (["FAILED"], Health.FAILING),
        (["POISONED"], Health.FAILING),
        (["FAILED", "DONE"], Health.HEALTHY),
        (["FAILED", "RUNNING"], Health.COLLECTING),
    ],
)
def test_the_last_run_of_a_source_counts(
    project: Project, states: list[str], expected: Health
) -> None:
    for state in states:
        make_run(project, state)
    assert health(project) == expected


def test_what_failed_outweighs_what_collects(project: Project) -> None:
    make_run(project, RunState.FAILED, "documents")
    make_run(project, RunState.RUNNING, "git")
    assert health(project) == Health.FAILING


def test_one_statement_counts_all_of_it(project: Project) -> None:
    others = [make_project(f"p{number}") for number in range(3)]
    with CaptureQueriesContext(connection) as caught:
        status_of([project, *others], "", "")
    assert len(caught) == 1


def test_every_page_says_what_can_be_found(project: Project, alice: User) -> None:
    SearchTotal.objects.create(scope=project.scope, changes=1_200, texts=34)
    client = signed_in(alice)
    for address in ("/projects/payments-api/review/", "/projects/", "/accounts/", "/keys/"):
        assert badge(client, address) == "Healthy 1,234 units"


def test_what_a_page_asks_for_again_is_the_same_badge(project: Project, alice: User) -> None:
    make_run(project, RunState.QUEUED)
    client = signed_in(alice)
    text = client.get("/projects/payments-api/review/").content.decode()
    (source,) = re.findall(r'data-source="([^"]+)"', text)
    again = client.get(source, headers={"X-Unattended": "yes"})
    assert badge(client, source) == "Collecting 1 run"
    assert again.headers["Cache-Control"].find("no-store") >= 0


def test_others_count_nothing_of_a_project(project: Project, bob: User) -> None:
    make_run(project, RunState.FAILED)
    client = signed_in(bob)
    assert badge(client, "/projects/").startswith("Healthy")
    answers = [client.get(f"/projects/{slug}/status/") for slug in ("payments-api", "nowhere")]
    assert [answer.status_code for answer in answers] == [404, 404]


def test_the_badge_leads_where_the_reader_may_go(project: Project, rita: User) -> None:
    lead = make_person(project, Role.LEAD, "lea")
    page = "/projects/payments-api/review/"
    found = [
        re.findall(
            r'class="status healthy" href="([^"]+)"', signed_in(user).get(page).content.decode()
        )
        for user in (rita, lead)
    ]
    assert found == [["/projects/payments-api/knowledge/"], ["/projects/payments-api/coverage/"]]


def test_nobody_who_is_signed_out_is_told(client: Client) -> None:
    assert "data-source" not in client.get("/accounts/login/").content.decode()
    assert client.get("/status/").status_code == 302
