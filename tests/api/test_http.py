from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest
from django.db.models.functions import Now
from mcp import Client

from api.throttle import COUNTER
from codememory import tokens
from codememory.models import ApiToken, Project, TokenProject
from tests.api.agents import calling, over_http, text_of
from tests.api.builders import evidence_ids

pytestmark = pytest.mark.django_db(transaction=True)
ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_reads_its_project(url: str, bearer: str, bob: Project, mode: str) -> None:
    result = over_http(f"{url}/mcp", bearer, calling("project_status"), mode)
    assert result.structured_content is not None
    assert result.structured_content["project"] == "alpha"


def test_bobs_project_answers_as_an_absent_one(url: str, bearer: str, bob: Project) -> None:
    foreign = over_http(f"{url}/mcp", bearer, calling("project_status", project="beta"))
    absent = over_http(f"{url}/mcp", bearer, calling("project_status", project="nowhere"))
    assert foreign.is_error
    assert foreign.model_dump_json() == absent.model_dump_json()


@pytest.mark.usefixtures("collected")
def test_every_evidence_of_bob_answers_as_absent(url: str, bearer: str, bob: Project) -> None:
    async def session(client: Client) -> list[str]:
        asked = ["S999999999", *evidence_ids_of_bob]
        answers = [await client.call_tool("get_evidence", {"evidence_id": each}) for each in asked]
        return [answer.model_dump_json() for answer in answers]

    evidence_ids_of_bob = evidence_ids(bob)
    assert len(set(over_http(f"{url}/mcp", bearer, session))) == 1


def test_an_attachment_outlives_the_connection(url: str, alice: Project, bob: Project) -> None:
    token, plain = tokens.create_token("agent", [alice, bob], ["read"])
    assert "PROJECT_REQUIRED" in text_of(over_http(f"{url}/mcp", plain, calling("project_status")))
    over_http(f"{url}/mcp", plain, calling("attach_project", project="beta"))
    attached = TokenProject.objects.exclude(attached_at=None).get(token=token)
    result = over_http(f"{url}/mcp", plain, calling("project_status"))
    assert attached.scope_id == bob.scope_id
    assert "'project': 'beta'" in str(result.structured_content)


def post(url: str, plain: str | None, **headers: str) -> httpx2.Response:
    bearer = {"Authorization": f"Bearer {plain}"} if plain else {}
    return httpx2.post(f"{url}/mcp", json=ASK, headers={**ACCEPT, **bearer, **headers})


def test_nobody_gets_in_without_a_token(url: str) -> None:
    response = post(url, None)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def expire(token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk).update(expires_at=Now())


@pytest.mark.parametrize("end", [expire, lambda token: tokens.revoke(token.prefix)])
def test_a_token_that_has_ended_is_no_token(
    url: str, alice: Project, end: Callable[[ApiToken], object]
) -> None:
    token, plain = tokens.create_token("agent", [alice], ["read"], timedelta(days=1))
    assert post(url, plain).status_code == 200
    end(token)
    assert post(url, plain).status_code == 401


def test_a_token_without_the_scope_is_refused(url: str, alice: Project) -> None:
    _, plain = tokens.create_token("agent", [alice], ["propose"])
    assert post(url, plain).status_code == 403


def test_a_name_that_was_bound_to_this_address_is_refused(url: str, bearer: str) -> None:
    assert post(url, bearer, Host="attacker.example").status_code == 421
    assert post(url, bearer, Origin="http://attacker.example").status_code == 403


def test_rest_is_served_beside_it(url: str, bearer: str) -> None:
    headers = {"Authorization": f"Bearer {bearer}"}
    response = httpx2.get(f"{url}/api/v1/projects/alpha/status", headers=headers)
    assert response.status_code == 200
    assert response.json()["project"] == "alpha"


def test_a_busy_token_has_to_wait_at_both_doors(
    url: str, bearer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COUNTER, "most", 2)
    assert [post(url, bearer).status_code for _ in range(2)] == [200, 200]
    refused = post(url, bearer)
    assert refused.status_code == 429
    assert refused.json()["code"] == "THROTTLED"
    assert int(refused.headers["Retry-After"]) > 0
    headers = {"Authorization": f"Bearer {bearer}"}
    assert httpx2.get(f"{url}/api/v1/projects", headers=headers).status_code == 429


def test_another_token_need_not_wait(
    url: str, bearer: str, alice: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COUNTER, "most", 1)
    assert post(url, bearer).status_code == 200
    _, other = tokens.create_token("other", [alice], ["read"])
    assert post(url, other).status_code == 200
