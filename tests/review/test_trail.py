"""The audit trail's page: filtered by its address, paged by a key, its own project's alone."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from codememory import audit
from codememory.models import AuditEvent, Candidate, Project, Role
from codememory.people import actor_of
from review import refusals as refusals_module
from review import trail
from tests.builders import make_memory, make_person, signed_in

AUDIT = "/projects/payments-api/audit/"


def page(user: User, query: str = "") -> str:
    return signed_in(user).get(AUDIT + query).content.decode()


def rows(text: str) -> list[str]:
    """What each row says was done."""
    return re.findall(r'data-l="What"><span class="mono">([^<]+)', text)


@pytest.fixture
def events(project: Project, alice: User, candidate: Candidate) -> None:
    make_memory(candidate, alice)
    audit.record("token.create", scope=project.scope, subject="cm_ab12", scopes=["read"])


def test_it_shows_who_did_what_newest_first(alice: User, events: None) -> None:
    text = page(alice)
    assert rows(text) == ["token.create", "candidate.promote"]
    assert "the machine" in text
    assert ">alice<" in text


def test_an_event_on_a_candidate_leads_to_it(
    alice: User, events: None, candidate: Candidate
) -> None:
    assert f'href="/projects/payments-api/candidates/{candidate.pk}/">C{candidate.pk}</a>' in page(
        alice
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?action=token.create", ["token.create"]),
        ("?subject=cm_ab12", ["token.create"]),
        ("?person={alice}", ["candidate.promote"]),
        ("?action=token.create&person={alice}", []),
        ("?subject=nothing", []),
        ("?since=2020-01-01", ["token.create", "candidate.promote"]),
        ("?since=2020-01-01&until=2020-01-02", []),
        ("?since=9999-12-31", []),
        ("?until=9999-12-31&action=token.create", ["token.create"]),
    ],
)
def test_filters_stand_in_the_address(
    alice: User, events: None, query: str, expected: list[str]
) -> None:
    assert rows(page(alice, query.format(alice=actor_of(alice).pk))) == expected


def test_pages_follow_the_number_of_the_last_event_shown(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail, "PAGE_SIZE", 2)
    for number in range(5):
        audit.record(f"step.{'abcde'[number]}", scope=project.scope)
    first = page(alice)
    (older,) = re.findall(r'href="(\?before=\d+)" rel="next"', first)
    audit.record("step.later", scope=project.scope)
    assert (rows(first), rows(page(alice, older))) == (
        ["step.e", "step.d"],
        ["step.c", "step.b"],
    )


def test_who_was_refused_is_for_leads_alone(project: Project, alice: User, bob: User) -> None:
    signed_in(bob).get(AUDIT)
    lena = make_person(project, Role.LEAD, "lena")
    assert "bob" not in page(alice)
    assert rows(page(lena)) == ["access.refused"]


def test_events_of_another_project_are_not_in_it(alice: User, bob: User, events: None) -> None:
    foreign = signed_in(bob).get(AUDIT)
    absent = signed_in(bob).get("/projects/nowhere/audit/")
    own = signed_in(bob).get("/projects/other/audit/").content.decode()
    assert (foreign.status_code, foreign.content) == (404, absent.content)
    assert "candidate.promote" not in own


def test_a_name_stands_for_the_number_of_an_account(project: Project, alice: User) -> None:
    audit.record("member.add", scope=project.scope, subject=f"user {alice.pk}", role="READER")
    assert f"user {alice.pk}" not in page(alice)


@pytest.mark.parametrize("statement", ["UPDATE {} SET action = 'x'", "DELETE FROM {}"])
def test_the_database_refuses_to_change_it(events: None, statement: str) -> None:
    table = AuditEvent._meta.db_table
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        connection.cursor().execute(statement.format(table))


@pytest.mark.parametrize(
    "query", ["action=a b", "person=x", "before=0", "subject=%00", "since=yesterday"]
)
def test_an_unknown_filter_is_refused(alice: User, query: str) -> None:
    assert signed_in(alice).get(f"{AUDIT}?{query}").status_code == 400


def test_a_project_without_events_says_so(alice: User) -> None:
    assert "Nothing happened yet" in page(alice)


def refusals() -> list[dict[str, object]]:
    return [event.facts for event in AuditEvent.objects.filter(action="access.refused")]


def test_what_is_refused_again_within_a_minute_is_counted(
    project: Project, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, queue = signed_in(bob), "/projects/payments-api/review/"
    for address in (AUDIT, AUDIT, queue, AUDIT, "/projects/nowhere/audit/"):
        client.get(address)
    first = [("audit", "not a member"), ("queue", "not a member"), ("audit", "no such project")]
    assert [(facts["page"], facts["reason"]) for facts in refusals()] == first
    assert "again" not in page(make_person(project, Role.LEAD, "lena"))
    monkeypatch.setattr(refusals_module, "MINUTE", 0.0)
    page(make_person(project, Role.LEAD, "lea"))
    told = [(facts["page"], facts.get("again")) for facts in refusals()]
    assert told == [("audit", None), ("queue", None), ("audit", None), ("audit", 2)]


def test_the_oldest_is_told_where_too_many_are_counted(
    project: Project, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals_module, "MOST", 1)
    monkeypatch.setattr(refusals_module, "_noted", {})
    client = signed_in(bob)
    for address in (AUDIT, AUDIT, "/projects/payments-api/review/"):
        client.get(address)
    told = [(facts["page"], facts.get("again")) for facts in refusals()]
    assert told == [("audit", None), ("queue", None), ("audit", 1)]


@pytest.mark.parametrize("address", ["/audit/", "/projects/", "/keys/"])
def test_pages_that_are_only_read_are_not_sent_anything(alice: User, address: str) -> None:
    alice.is_staff = True
    alice.save()
    client = signed_in(alice)
    answers = [getattr(client, way)(address).status_code for way in ("put", "delete", "post")]
    assert answers == [405, 405, 405]
    assert client.head(address).status_code == 200
