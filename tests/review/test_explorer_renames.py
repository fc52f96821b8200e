"""Doubtful origins: a reviewer chooses, may choose again, and never over somebody else's choice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from codememory.models import AuditEvent, OriginState, PathOrigin, Project, Role
from codememory.timeline import history_of
from tests.builders import make_person, make_project, signed_in
from tests.repos import RepoBuilder
from tests.review.explored import SLUG, make_shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    return make_shop(RepoBuilder(tmp_path / "shop"), ("git",))


@pytest.fixture
def ann(shop: Project) -> User:
    return make_person(shop, Role.REVIEWER, "ann")


def origins() -> list[PathOrigin]:
    return list(PathOrigin.objects.exclude(state=OriginState.CERTAIN).order_by("pk"))


def states() -> list[str]:
    return [one.state for one in origins()]


def settle(client: Client, choice: object, *, seen: str = "", state: str = "open") -> Any:
    """Choose for the only file, as a page that is open now would."""
    if not seen:
        seen = seen_on(client, state)
    number = origins()[0].file_change_id
    form = {"choice": str(choice), "seen": seen, "state": state}
    return client.post(f"{SLUG}/renames/F{number}/settle", form)


def seen_on(client: Client, state: str = "open") -> str:
    text = client.get(f"{SLUG}/renames/?state={state}").content.decode()
    found = re.search(r'name="seen" value="([0-9a-f]{64})"', text)
    assert found is not None
    return found[1]


def test_the_queue_shows_every_file_that_it_may_have_come_from(shop: Project, ann: User) -> None:
    text = signed_in(ann).get(f"{SLUG}/renames/").content.decode()
    assert "twin.py" in text
    assert '<span class="mono">left.py</span>' in text
    assert '<span class="mono">right.py</span>' in text


def test_what_a_reviewer_chose_is_followed_and_its_rival_is_not(shop: Project, ann: User) -> None:
    left, _ = origins()
    assert settle(signed_in(ann), left.pk).status_code == 302
    assert states() == ["ACCEPTED", "REFUSED"]
    names = [one["path"] for one in history_of(shop, "twin.py")["names"]]
    assert names == ["left.py", "twin.py"]


def test_none_of_them_is_a_choice_too(shop: Project, ann: User) -> None:
    settle(signed_in(ann), "none")
    assert states() == ["REFUSED", "REFUSED"]
    assert [one["path"] for one in history_of(shop, "twin.py")["names"]] == ["twin.py"]


def test_a_choice_is_made_again_and_taken_back(shop: Project, ann: User) -> None:
    client = signed_in(ann)
    left, right = origins()
    settle(client, left.pk)
    settle(client, right.pk, state="settled")
    assert states() == ["REFUSED", "ACCEPTED"]
    settle(client, "open", state="settled")
    assert states() == ["OPEN", "OPEN"]
    assert [one.settled_by for one in origins()] == [None, None]


def test_every_choice_is_in_the_audit_trail(shop: Project, ann: User) -> None:
    left, _ = origins()
    settle(signed_in(ann), left.pk)
    event = AuditEvent.objects.get(action="origin.settle")
    assert event.actor is not None
    assert (event.actor.user, event.subject) == (ann, f"F{left.file_change_id}")
    assert event.facts["chosen"] == f"origin {left.pk}"


def test_a_choice_over_somebody_elses_is_refused_and_shown(shop: Project, ann: User) -> None:
    left, right = origins()
    other = signed_in(make_person(shop, Role.LEAD, "leo"))
    seen = seen_on(other)
    settle(signed_in(ann), left.pk)
    answer = settle(other, right.pk, seen=seen)
    assert answer.status_code == 409
    assert "changed since you opened it" in answer.content.decode()
    assert states() == ["ACCEPTED", "REFUSED"]


def test_a_reader_sees_the_queue_and_settles_nothing(shop: Project) -> None:
    client = signed_in(make_person(shop, Role.READER, "rita"))
    text = client.get(f"{SLUG}/renames/").content.decode()
    assert "<fieldset disabled>" in text
    assert settle(client, "none").status_code == 403
    assert states() == ["OPEN", "OPEN"]


@pytest.mark.parametrize("choice", ["", "-1", "0", "all", "9" * 30])
def test_what_is_no_choice_is_refused(choice: str) -> None:
    client = signed_in(make_person(make_project("shop")))
    form = {"choice": choice, "seen": "0" * 64}
    assert client.post(f"{SLUG}/renames/F1/settle", form).status_code == 400


def test_an_origin_of_another_file_is_absent(shop: Project, ann: User) -> None:
    assert settle(signed_in(ann), 10**9).status_code == 404
    client = signed_in(ann)
    form = {"choice": "none", "seen": "0" * 64}
    assert client.post(f"{SLUG}/renames/F999999999/settle", form).status_code == 404


def test_a_choice_needs_its_token(shop: Project, ann: User) -> None:
    client = signed_in(ann, enforce_csrf_checks=True)
    assert settle(client, "none").status_code == 403
    assert states() == ["OPEN", "OPEN"]


def test_an_address_settles_nothing(shop: Project, ann: User) -> None:
    number = origins()[0].file_change_id
    address = f"{SLUG}/renames/F{number}/settle?choice=none&seen={'0' * 64}"
    assert signed_in(ann).get(address).status_code == 302
    assert states() == ["OPEN", "OPEN"]
