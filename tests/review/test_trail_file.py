"""The audit trail as a file, and the trail of everything: the page's rows, harmless in a sheet."""

from __future__ import annotations

import asyncio
import csv
import io
import re

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.test import AsyncClient, Client

from codememory import audit, tokens
from codememory.models import Actor, ActorKind, AuditEvent, Candidate, Project, Role
from review import trail_rows
from tests.builders import PASSWORD, make_memory, make_person, signed_in

AUDIT = "/projects/payments-api/audit/"
FILE = f"{AUDIT}file.csv"


def rows_of(client: Client, address: str = FILE) -> list[dict[str, str]]:
    answer = client.get(address)
    assert answer.status_code == 200
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture
def events(project: Project, alice: User, candidate: Candidate) -> None:
    make_memory(candidate, alice)
    for number in range(5):
        audit.record("step", scope=project.scope, subject=f"R{number}")
    audit.record("step.last", scope=project.scope)


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


def test_the_file_holds_the_rows_of_the_page_and_of_all_that_follow(
    alice: User, events: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail_rows, "CHUNK", 2)
    acts = [row["act"] for row in rows_of(signed_in(alice))]
    assert acts == ["step.last", *["step"] * 5, "candidate.promote"]


def test_filters_narrow_the_file_as_they_narrow_the_page(alice: User, events: None) -> None:
    query = "?action=step&subject=R3"
    page = signed_in(alice).get(AUDIT + query).content.decode()
    assert f'href="{FILE}?action=step&amp;subject=R3"' in page
    assert [row["on"] for row in rows_of(signed_in(alice), FILE + query)] == ["R3"]


def test_whoever_takes_the_file_leaves_an_event(alice: User, events: None) -> None:
    rows_of(signed_in(alice), f"{FILE}?action=step")
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.actor.name if event.actor else "") == ("audit.export", "alice")
    assert event.facts == {"rows": 5, "filters": ["action"]}


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=1+1", "'=1+1"),
        (" @SUM(A1)", "' @SUM(A1)"),
        ("-2", "'-2"),
        ("\t=1", "<U+0009>=1"),
        ("a\r\n=1", "a<U+000D><U+000A>=1"),
        ("\u202ecod", "<U+202E>cod"),
        ("C12", "C12"),
    ],
)
def test_no_cell_is_a_formula_or_holds_a_control(cell: str, shown: str) -> None:
    assert trail_rows.harmless(cell) == shown


def test_a_name_cannot_become_a_formula(project: Project, alice: User) -> None:
    agent = Actor.objects.create(kind=ActorKind.AGENT, name='=HYPERLINK("http://x")')
    audit.record("propose", scope=project.scope, actor=agent)
    (row,) = rows_of(signed_in(alice))
    assert row["actor"] == '\'=HYPERLINK("http://x")'


def test_who_was_refused_is_in_the_file_of_leads_alone(project: Project, bob: User) -> None:
    signed_in(bob).get(AUDIT)
    lena, alice = make_person(project, Role.LEAD, "lena"), make_person(project, name="al")
    assert [row["act"] for row in rows_of(signed_in(lena))] == ["access.refused"]
    assert "access.refused" not in [row["act"] for row in rows_of(signed_in(alice))]


def test_another_projects_file_is_absent(project: Project, bob: User, events: None) -> None:
    foreign, absent = (
        signed_in(bob).get(address) for address in (FILE, "/projects/no/audit/file.csv")
    )
    assert (foreign.status_code, foreign.content) == (404, absent.content)


def test_sign_ins_good_and_bad_are_in_the_trail_of_everything(root: User) -> None:
    for password in ("wrong", PASSWORD):
        Client().post("/accounts/login/", {"username": "root", "password": password})
    text = signed_in(root).get("/audit/").content.decode()
    acts = re.findall(r'data-l="What"><span class="mono">([^<]+)', text)
    assert acts[:2] == ["sign-in", "sign-in.failed"]
    assert {row["act"] for row in rows_of(signed_in(root), "/audit/file.csv")} >= set(acts)


def test_tokens_policies_and_projects_are_narrowed_in_it(project: Project, root: User) -> None:
    tokens.create_token("bot", [project], ["read"])
    text = signed_in(root).get("/audit/?project=payments-api&action=token.create").content.decode()
    assert 'data-l="Project">payments-api' in text
    other = signed_in(root).get("/audit/?project=other").content.decode()
    assert "Nothing matches" in other


@pytest.mark.parametrize("address", ["/audit/", "/audit/file.csv"])
def test_the_trail_of_everything_is_absent_for_who_is_not_staff(alice: User, address: str) -> None:
    assert signed_in(alice).get(address).status_code == 404
    assert AuditEvent.objects.latest("pk").action == "access.refused"


@pytest.mark.django_db(transaction=True)
def test_a_server_that_waits_for_nobody_sends_the_same(project: Project) -> None:
    alice = make_person(project, name="al")
    for number in range(5):
        audit.record("step", scope=project.scope, subject=f"R{number}")

    async def lines() -> bytes:
        client = AsyncClient()
        await client.aforce_login(alice, backend="django.contrib.auth.backends.ModelBackend")
        answer = await client.get(FILE)
        sent = b"".join([chunk async for chunk in answer])  # type: ignore[attr-defined]
        await sync_to_async(connections.close_all)()  # the thread's own
        return sent

    assert asyncio.run(lines()).count(b"\r\n") == 6
