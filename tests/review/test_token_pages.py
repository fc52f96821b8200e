"""Tokens in the console: made by a lead, shown once, ended for good, and no stranger's business."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client

from codememory import tokens
from codememory.models import ApiToken, AuditEvent, Membership, Project, Role
from tests.builders import make_person, make_project, signed_in

TOKENS = "/projects/payments-api/tokens/"
ASKED = {"name": "reader bot", "scopes": "read", "days": "30"}
pytestmark = pytest.mark.django_db


@pytest.fixture
def lea(project: Project) -> User:
    return make_person(project, Role.LEAD, "lea")


@pytest.fixture
def lead(lea: User) -> Client:
    return signed_in(lea)


def made(client: Client, **asked: str) -> str:
    """Make a token on the page and return it as the answer shows it."""
    answer = client.post(f"{TOKENS}make", {**ASKED, **asked})
    assert answer.status_code == 200
    (plain,) = re.findall(r'value="(cmt_[^"]+)"', answer.content.decode())
    return str(plain)


def test_a_token_is_shown_once_and_works(lead: Client, project: Project) -> None:
    plain = made(lead)
    found = tokens.verify(plain)
    assert found is not None
    assert list(tokens.readable_projects(found.pk)) == [project]
    assert plain not in lead.get(TOKENS).content.decode()


def test_the_answer_that_shows_it_is_kept_nowhere(lead: Client) -> None:
    answer = lead.post(f"{TOKENS}make", ASKED)
    assert "no-store" in answer.headers["Cache-Control"]
    stored = repr(list(ApiToken.objects.values())) + repr(list(AuditEvent.objects.values()))
    (plain,) = re.findall(r'value="(cmt_[^"]+)"', answer.content.decode())
    assert plain not in stored


def test_it_has_the_scopes_and_the_life_that_were_chosen(lead: Client) -> None:
    made(lead, scopes="read,propose", days="1")
    made(lead, days="")
    first, second = ApiToken.objects.order_by("pk")
    assert (first.scopes, second.scopes) == (["propose", "read"], ["read"])
    assert first.expires_at is not None
    assert (first.expires_at - first.created_at).days in {0, 1}
    assert second.expires_at is None


def test_the_trail_names_who_made_and_ended_it(lead: Client, lea: User) -> None:
    made(lead)
    token = ApiToken.objects.get()
    lead.post(f"{TOKENS}{token.pk}/end")
    events = AuditEvent.objects.filter(action__startswith="token.").order_by("pk")
    assert [(e.action, e.subject, str(e.actor)) for e in events] == [
        ("token.create", token.prefix, "lea"),
        ("token.revoke", token.prefix, "lea"),
    ]
    assert "account" not in events[0].facts


def test_ending_asks_first_and_then_ends_at_once(lead: Client) -> None:
    plain = made(lead)
    number = ApiToken.objects.get().pk
    assert "cannot be taken back" in lead.get(f"{TOKENS}?end={number}").content.decode()
    assert tokens.verify(plain) is not None
    answer = lead.post(f"{TOKENS}{number}/end", follow=True)
    assert "It opens nothing from now on" in answer.content.decode()
    assert tokens.verify(plain) is None


def test_ending_it_twice_says_so_and_leaves_one_event(lead: Client) -> None:
    made(lead)
    number = ApiToken.objects.get().pk
    lead.post(f"{TOKENS}{number}/end")
    answer = lead.post(f"{TOKENS}{number}/end", follow=True)
    assert "had ended already" in answer.content.decode()
    assert AuditEvent.objects.filter(action="token.revoke").count() == 1


def test_a_token_that_others_count_on_only_loses_this_project(
    lead: Client, project: Project
) -> None:
    other = make_project("other")
    token, plain = tokens.create_token("both", [project, other], ["read"])
    text = lead.get(f"{TOKENS}?end={token.pk}").content.decode()
    assert "1 other project" in text
    assert ">other<" not in text
    lead.post(f"{TOKENS}{token.pk}/end")
    assert tokens.verify(plain) is not None
    assert list(tokens.readable_projects(token.pk)) == [other]
    assert AuditEvent.objects.latest("pk").action == "token.withdraw"


def test_who_leads_all_of_its_projects_revokes_it(
    lead: Client, lea: User, project: Project
) -> None:
    other = make_project("other")
    Membership.objects.create(scope=other.scope, user=lea, role=Role.LEAD)
    token, plain = tokens.create_token("both", [project, other], ["read"])
    lead.post(f"{TOKENS}{token.pk}/end")
    assert tokens.verify(plain) is None


def test_an_expired_token_is_over(lead: Client) -> None:
    made(lead)
    ApiToken.objects.update(expires_at=Now())
    text = lead.get(TOKENS).content.decode()
    assert '<span class="tag">expired</span>' in text
    assert "?end=" not in text


@pytest.mark.parametrize("name", ["alice", "rita"])
def test_who_does_not_lead_makes_and_sees_none(
    name: str, project: Project, request: pytest.FixtureRequest
) -> None:
    client = signed_in(request.getfixturevalue(name))
    token, _ = tokens.create_token("bot", [project], ["read"])
    answers = [
        client.get(TOKENS),
        client.post(f"{TOKENS}make", ASKED),
        client.post(f"{TOKENS}{token.pk}/end"),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert ApiToken.objects.get().revoked_at is None


def test_tokens_of_another_project_are_absent(lead: Client, bob: User) -> None:
    foreign, _ = tokens.create_token("bot", [Project.objects.get(slug="other")], ["read"])
    assert foreign.prefix not in lead.get(TOKENS).content.decode()
    assert lead.get(f"{TOKENS}?end={foreign.pk}").status_code == 404
    assert lead.post(f"{TOKENS}{foreign.pk}/end").status_code == 404
    assert signed_in(bob).get(TOKENS).status_code == 404


@pytest.mark.parametrize("wrong", [{"scopes": "promote"}, {"days": "2"}, {"name": ""}])
def test_what_the_form_does_not_offer_is_refused(lead: Client, wrong: dict[str, str]) -> None:
    assert lead.post(f"{TOKENS}make", {**ASKED, **wrong}).status_code == 400
    assert not ApiToken.objects.exists()
