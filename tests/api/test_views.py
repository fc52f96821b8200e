from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from rest_framework.test import APIClient

from api import fence
from api.fence import MAX_ANSWER_BYTES
from api.throttle import COUNTER
from codememory import tokens
from codememory.models import ApiToken, EvidenceSegment, Project
from tests.api.builders import evidence_ids

ADDED = {"note", "trust", "has_unseen"}  # to every answer
PAGES = ["status", "search?q=cache", "context?task=cache"]


def page(project: Project, ending: str) -> str:
    return f"/api/v1/projects/{project.slug}/{ending}"


@pytest.mark.parametrize("ending", PAGES)
def test_every_page_answers_its_project(rest: APIClient, alice: Project, ending: str) -> None:
    response = rest.get(page(alice, ending))
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"


def test_only_the_tokens_projects_are_listed(rest: APIClient, alice: Project, bob: Project) -> None:
    [listed] = rest.get("/api/v1/projects").json()["projects"]
    assert listed == {"project": "alpha", "root": alice.root, "attached": False}


@pytest.mark.parametrize("ending", [*PAGES, "evidence/S1"])
def test_bobs_project_answers_as_an_absent_one(
    rest: APIClient, alice: Project, bob: Project, ending: str
) -> None:
    foreign = rest.get(page(bob, ending))
    absent = rest.get(page(bob, ending).replace("beta", "nowhere"))
    assert foreign.status_code == absent.status_code == 404
    assert foreign.content == absent.content
    assert dict(foreign.headers) == dict(absent.headers)


@pytest.mark.usefixtures("collected")
def test_every_evidence_of_bob_answers_as_absent(
    rest: APIClient, alice: Project, bob: Project
) -> None:
    absent = rest.get(page(alice, "evidence/S999999999"))
    for evidence_id in evidence_ids(bob):
        foreign = rest.get(page(alice, f"evidence/{evidence_id}"))
        assert (foreign.status_code, foreign.content) == (404, absent.content)


@pytest.mark.usefixtures("collected")
def test_every_evidence_of_alice_is_open_to_her_agent(rest: APIClient, alice: Project) -> None:
    for evidence_id in evidence_ids(alice):
        answer = rest.get(page(alice, f"evidence/{evidence_id}")).json()
        assert answer["id"] == evidence_id
        assert answer["trust"] == "untrusted_data"


@pytest.mark.parametrize("strange", ["S0", "S-1", "S" + "9" * 40, "X1", "S1.1", "S1%00", "A1", "é"])
def test_strange_evidence_ids_answer_as_absent(
    rest: APIClient, alice: Project, strange: str
) -> None:
    assert rest.get(page(alice, f"evidence/{strange}")).status_code == 404


@pytest.mark.parametrize("ending", ["projects", "projects/alpha/status", "elsewhere"])
def test_nobody_reads_without_a_token(client: APIClient, alice: Project, ending: str) -> None:
    response = client.get(f"/api/v1/{ending}")
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_signed_in_browser_is_nobody_here(client: APIClient, alice: Project) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    assert client.get("/api/v1/projects").status_code == 401


def test_a_token_in_the_address_is_no_token(client: APIClient, bearer: str) -> None:
    assert client.get(f"/api/v1/projects?token={bearer}").status_code == 401


def test_a_token_without_the_scope_is_refused(client: APIClient, alice: Project) -> None:
    _, plain = tokens.create_token("agent", [alice], ["propose"])
    response = client.get("/api/v1/projects", headers={"Authorization": f"Bearer {plain}"})
    assert response.status_code == 403


def test_an_expired_token_is_refused(client: APIClient, alice: Project) -> None:
    token, plain = tokens.create_token("agent", [alice], ["read"], timedelta(days=1))
    ApiToken.objects.filter(pk=token.pk).update(expires_at=Now())
    response = client.get("/api/v1/projects", headers={"Authorization": f"Bearer {plain}"})
    assert response.status_code == 401


def test_a_revoked_token_is_refused(rest: APIClient, bearer: str) -> None:
    tokens.revoke(bearer)
    assert rest.get("/api/v1/projects").status_code == 401


@pytest.mark.parametrize(
    "ending",
    [
        "search",
        "search?q=",
        "search?q=a&limit=0",
        "search?q=a&limit=51",
        "search?q=a&limit=x",
        "search?q=a&kind=person",
        "search?q=a&colour=red",
        "search?q=a&path=%00",
        "context",
        "context?task=a&budget=1",
        "context?task=a&path=%00",
        "status?x=1",
    ],
)
def test_bad_parameters_are_a_problem(rest: APIClient, alice: Project, ending: str) -> None:
    response = rest.get(page(alice, ending))
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == "INVALID_PARAMETERS"


@pytest.mark.parametrize("question", ["a%00cache", "%ED%A0%80", "cache+" * 5_000, "(:-%26|!*"])
def test_any_question_gets_an_answer(rest: APIClient, alice: Project, question: str) -> None:
    assert rest.get(page(alice, f"search?q={question}")).status_code == 200
    assert rest.get(page(alice, f"context?task={question}")).status_code == 200


@pytest.mark.parametrize("cursor", ["x", "AAAA", "é", "-" * 2000])
@pytest.mark.parametrize("ending", ["search?q=cache", "context?task=cache"])
def test_a_strange_cursor_is_a_problem(
    rest: APIClient, alice: Project, ending: str, cursor: str
) -> None:
    response = rest.get(page(alice, f"{ending}&cursor={cursor}"))
    assert response.status_code == 400
    assert response.json()["code"] == "BAD_CURSOR"


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_nothing_can_be_changed(rest: APIClient, alice: Project, method: str) -> None:
    assert getattr(rest, method)("/api/v1/projects/alpha/status").status_code == 405


def test_what_is_allowed_is_said_and_is_true(rest: APIClient, alice: Project) -> None:
    refused = rest.options("/api/v1/projects/alpha/status")
    assert refused["Content-Type"] == "application/problem+json"
    assert refused["Allow"] == "GET, HEAD"
    assert rest.head("/api/v1/projects/alpha/status").status_code == 200


@pytest.mark.parametrize("address", ["/api/v1/projects", "/api/v1/nothing", "/api/schema/"])
def test_a_foreign_host_is_a_problem_too(rest: APIClient, address: str) -> None:
    refused = rest.get(address, headers={"host": "evil.example"})
    assert (refused.status_code, refused.json()["code"]) == (400, "BAD_REQUEST")
    assert refused["Content-Type"] == "application/problem+json"


def test_an_address_beside_the_interface_is_a_problem_too(rest: APIClient) -> None:
    absent = rest.get("/api/nothing")
    assert (absent.status_code, absent.json()["code"]) == (404, "NOT_FOUND")
    assert rest.get("/nothing/", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.usefixtures("collected")
def test_an_answer_larger_than_its_budget_says_so(rest: APIClient, alice: Project) -> None:
    asked = "/api/v1/projects/alpha/context?task=change+the+session+cache&budget="
    small, large = rest.get(f"{asked}200").json(), rest.get(f"{asked}12000").json()
    size = len(fence.compact_json({k: v for k, v in small.items() if k not in ADDED}))
    assert small["note"].startswith(f"About {-(-size // 4)} tokens, more than the 200 asked for")
    assert large["note"] is None


def test_no_answer_is_stored_on_the_way(rest: APIClient, alice: Project) -> None:
    for address in ("/api/v1/projects", "/api/v1/nothing", "/api/v1/projects/alpha/search"):
        assert rest.get(address)["Cache-Control"] == "no-store"


def test_json_is_answered_whatever_is_asked_for(rest: APIClient, alice: Project) -> None:
    response = rest.get("/api/v1/projects", headers={"Accept": "text/html"})
    assert response["Content-Type"] == "application/json"


def test_a_busy_token_has_to_wait(
    rest: APIClient, alice: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COUNTER, "most", 3)
    answers = [rest.get("/api/v1/projects") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1]["Retry-After"]) > 0


@pytest.mark.usefixtures("collected")
def test_long_evidence_is_cut_and_says_so(rest: APIClient, alice: Project) -> None:
    EvidenceSegment.objects.filter(scope=alice.scope_id).update(content=b'"\\' * 20_000)
    segment = EvidenceSegment.objects.filter(scope=alice.scope_id).earliest("pk")
    response = rest.get(page(alice, f"evidence/S{segment.pk}"))
    assert len(response.content) <= MAX_ANSWER_BYTES
    assert "of 40000 characters" in response.json()["note"]


@pytest.mark.usefixtures("collected")
def test_a_large_page_is_asked_for_smaller_and_says_so(
    rest: APIClient, alice: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fence, "MAX_ANSWER_BYTES", 1_500)
    response = rest.get(page(alice, "search?q=session+cache&limit=50"))
    assert response.status_code == 200
    assert response.json()["note"].startswith("Lowered limit from 50 to ")
    assert response.json()["next"]
