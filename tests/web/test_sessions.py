"""A browser's session: made anew at sign-in, and over when it has to be."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from codememory import session_limits
from tests.builders import PASSWORD, make_person, make_project, signed_in

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"
COOKIE = "codememory-session"
SIGN_IN = {"username": "alice", "password": PASSWORD}


@pytest.fixture
def alice() -> User:
    return make_person(make_project(), name="alice")


def is_in(client: Client) -> bool:
    return client.get("/projects/").status_code == 200


@pytest.mark.usefixtures("alice")
def test_signing_in_makes_a_new_session_and_a_new_form_key() -> None:
    client = Client()
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    client.cookies[COOKIE] = session.session_key or ""
    client.get(LOGIN)
    before = (client.cookies[COOKIE].value, client.cookies["codememory-csrf"].value)
    client.post(LOGIN, SIGN_IN)
    after = (client.cookies[COOKIE].value, client.cookies["codememory-csrf"].value)
    assert is_in(client)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_session_that_was_signed_out_stays_out(alice: User) -> None:
    client = signed_in(alice)
    kept = client.cookies[COOKIE].value
    client.post("/accounts/logout/")
    client.cookies[COOKIE] = kept
    assert not is_in(client)


def test_a_disabled_account_has_no_session_left(alice: User) -> None:
    client = signed_in(alice)
    assert is_in(client)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert not is_in(client)


def test_a_changed_password_ends_every_other_session(alice: User) -> None:
    elsewhere = signed_in(alice)
    alice.set_password("another long pass phrase")
    alice.save(update_fields=["password"])
    assert not is_in(elsewhere)


@pytest.mark.parametrize("limit", ["CODEMEMORY_SESSION_IDLE_SECONDS", "CODEMEMORY_SESSION_SECONDS"])
def test_a_session_ends_by_itself(
    alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    client = signed_in(alice)
    assert is_in(client)
    setattr(settings, limit, 100)
    now = client.session[session_limits.SEEN]
    monkeypatch.setattr("codememory.session_limits.time.time", lambda: now + 99)
    assert is_in(client)
    monkeypatch.setattr("codememory.session_limits.time.time", lambda: now + 250)
    assert not is_in(client)


def test_whoever_works_on_is_not_idle(
    alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(alice)
    is_in(client)
    settings.CODEMEMORY_SESSION_IDLE_SECONDS = 100
    now = client.session[session_limits.SEEN]
    for later in (90, 180, 270):
        monkeypatch.setattr("codememory.session_limits.time.time", lambda at=now + later: at)
        assert is_in(client)


def test_what_a_page_asks_by_itself_keeps_no_session_alive(
    alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(alice)
    is_in(client)
    settings.CODEMEMORY_SESSION_IDLE_SECONDS = 100
    now = client.session[session_limits.SEEN]
    answers = []
    for later in (90, 180):
        monkeypatch.setattr("codememory.session_limits.time.time", lambda at=now + later: at)
        answers.append(client.get("/status/", headers={"X-Unattended": "yes"}).status_code)
    assert answers == [200, 302]


@pytest.mark.usefixtures("alice")
def test_cookies_are_kept_from_scripts_and_other_sites() -> None:
    client = Client()
    client.get(LOGIN)
    client.post(LOGIN, SIGN_IN)
    session, form = client.cookies[COOKIE], client.cookies["codememory-csrf"]
    assert (session["httponly"], session["samesite"]) == (True, "Lax")
    assert (form["httponly"], form["samesite"]) == (True, "Strict")


def test_a_form_without_its_key_changes_nothing(alice: User) -> None:
    client = signed_in(alice, enforce_csrf_checks=True)
    for address in ("/accounts/", "/accounts/logout/", "/accounts/keys/"):
        answer = client.post(address, {"keys": "off"})
        assert answer.status_code == 403, address
    assert is_in(client)


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "\t//e.x",
    ],
)
@pytest.mark.usefixtures("alice")
def test_signing_in_leads_nowhere_else(place: str) -> None:
    answer = Client().post(LOGIN, {**SIGN_IN, "next": place}, QUERY_STRING="")
    assert answer.headers["Location"] == "/"


@pytest.mark.usefixtures("alice")
def test_signing_in_leads_back_to_the_page_that_was_asked_for() -> None:
    answer = Client().post(LOGIN, {**SIGN_IN, "next": "/keys/"})
    assert answer.headers["Location"] == "/keys/"
