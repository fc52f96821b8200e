"""Sign-in, one-time links and passwords."""

from __future__ import annotations

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from codememory.errors import CodeMemoryError
from codememory.models import AuditEvent, SignInLink
from codememory.people import create_administrator
from review.forms import SIGN_IN_FAILED
from tests.builders import PASSWORD, make_person, signed_in

LOGIN = "/accounts/login/"
NEW = {"new_password1": "a longer pass phrase", "new_password2": "a longer pass phrase"}

pytestmark = pytest.mark.django_db


def sign_in(client: Client, name: str, password: str) -> int:
    return client.post(LOGIN, {"username": name, "password": password}).status_code


def test_a_link_sets_a_password_and_signs_in() -> None:
    client, path = Client(), create_administrator("root")
    assert client.post(path, NEW).headers["Location"] == "/"
    assert client.get("/projects/").status_code == 200
    assert sign_in(Client(), "root", NEW["new_password1"]) == 302


def test_a_link_works_once() -> None:
    path = create_administrator("root")
    Client().post(path, NEW)
    answer = Client().post(path, NEW)
    assert answer.status_code == 404
    assert "This link does not work" in answer.content.decode()


def test_opening_a_link_does_not_use_it_up() -> None:
    path = create_administrator("root")
    Client().head(path)
    Client().get(path)
    assert Client().post(path, NEW).status_code == 302


def test_a_link_ends_after_a_day() -> None:
    path = create_administrator("root")
    SignInLink.objects.update(expires_at=timezone.now())
    assert Client().get(path).status_code == 404


def test_a_fresh_link_ends_the_earlier_one() -> None:
    earlier, fresh = create_administrator("root"), create_administrator("root")
    assert Client().get(earlier).status_code == 404
    assert Client().get(fresh).status_code == 200


def test_a_weak_password_does_not_use_the_link_up() -> None:
    path = create_administrator("root")
    weak = Client().post(path, {"new_password1": "password", "new_password2": "password"})
    assert weak.status_code == 422
    assert Client().get(path).status_code == 200


def test_only_a_digest_of_the_token_is_stored() -> None:
    token = create_administrator("root").split("/")[-2]
    (link,) = SignInLink.objects.all()
    assert len(token) >= 43
    assert token.encode() not in bytes(link.digest)


def test_createadmin_prints_a_link_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("createadmin", "second", url="http://127.0.0.1:8420")
    line = capsys.readouterr().out.strip()
    assert line.startswith("sign-in: http://127.0.0.1:8420/accounts/start/")
    assert Client().get(line.removeprefix("sign-in: http://127.0.0.1:8420")).status_code == 200


def test_createadmin_makes_nobody_an_administrator_by_name() -> None:
    make_person(name="alice")
    with pytest.raises(CodeMemoryError, match="no administrator"):
        call_command("createadmin", "alice")


@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_every_failure_says_the_same(name: str) -> None:
    make_person(name="alice")
    answer = Client().post(LOGIN, {"username": name, "password": "wrong"})
    assert answer.status_code == 401
    assert SIGN_IN_FAILED in answer.content.decode()


def test_a_disabled_account_fails_like_an_unknown_one() -> None:
    User.objects.filter(pk=make_person().pk).update(is_active=False)
    answer = Client().post(LOGIN, {"username": "alice", "password": PASSWORD})
    assert (answer.status_code, SIGN_IN_FAILED in answer.content.decode()) == (401, True)


@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_after_five_failures_sign_in_pauses(name: str) -> None:
    make_person(name="alice")
    client = Client()
    for _ in range(5):
        sign_in(client, name, "wrong")
    answer = client.post(LOGIN, {"username": name, "password": PASSWORD})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "900")
    assert SIGN_IN_FAILED in answer.content.decode()


def test_a_name_that_no_database_can_hold_fails_like_any_other() -> None:
    answer = Client().post(LOGIN, {"username": "a\0b", "password": "x"})
    assert (answer.status_code, SIGN_IN_FAILED in answer.content.decode()) == (401, True)


def test_a_pause_counts_no_further_tries() -> None:
    client = Client()
    for _ in range(7):
        sign_in(client, "nobody", "wrong")
    assert AccessAttempt.objects.get().failures_since_start <= 7


def test_sign_in_is_audited_both_ways() -> None:
    user, client = make_person(name="alice"), Client()
    sign_in(client, "my password by mistake", "x")
    sign_in(client, "alice", PASSWORD)
    failed, done = AuditEvent.objects.order_by("id")
    assert (failed.action, failed.subject) == ("sign-in.failed", "unknown user")
    assert (done.action, done.actor and done.actor.user) == ("sign-in", user)


def test_sign_out_is_audited_once() -> None:
    user = make_person(name="alice")
    client = signed_in(user)
    client.post("/accounts/logout/")
    client.post("/accounts/logout/")
    (event,) = AuditEvent.objects.all()
    assert (event.action, event.actor and event.actor.user) == ("sign-out", user)


def test_sign_in_does_not_send_anybody_elsewhere() -> None:
    make_person(name="alice")
    answer = Client().post(
        f"{LOGIN}?next=https://evil.example/", {"username": "alice", "password": PASSWORD}
    )
    assert answer.headers["Location"] == "/"


def test_changing_the_password_ends_other_sessions() -> None:
    user = make_person(name="alice")
    here, elsewhere = signed_in(user), signed_in(user)
    here.post("/accounts/", {"old_password": PASSWORD, **NEW})
    assert here.get("/projects/").status_code == 200
    assert elsewhere.get("/projects/").status_code == 302


def test_signing_out_takes_a_form() -> None:
    client = signed_in(make_person())
    assert client.get("/accounts/logout/").status_code == 405
    client.post("/accounts/logout/")
    assert client.get("/projects/").status_code == 302
