"""Who has no valid token may ask so often and no oftener; who has one is not held up by them."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from api import throttle
from api.edges import Edge, behind_proxy
from api.refusals import OF_ALL, OF_AN_ADDRESS, note_refusal
from api.throttle import RequestCounter, network_of, stranger_waits
from codememory import tokens
from codememory.models import AuditEvent

pytestmark = pytest.mark.django_db(transaction=True)
BAD = {"Authorization": "Bearer cmt_" + "x" * 43}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MOST_OF_STRANGERS", 3)
    OF_AN_ADDRESS.clear()
    OF_ALL.clear()


@pytest.mark.parametrize("headers", [{}, BAD, {"Authorization": "Basic eDp5"}])
@pytest.mark.parametrize("door", ["/api/v1/projects", "/mcp"])
def test_strangers_have_to_wait(url: str, door: str, headers: dict[str, str]) -> None:
    answers = [httpx2.post(url + door, headers=headers, json={}) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert answers[-1].json()["code"] == "THROTTLED"


def test_both_doors_count_together(url: str) -> None:
    for door in ("/api/v1/projects", "/mcp", "/api/v1/projects"):
        assert httpx2.post(url + door, json={}).status_code == 401
    assert httpx2.post(f"{url}/mcp", json={}).status_code == 429


def test_a_valid_token_passes_beside_them(url: str, bearer: str) -> None:
    for _ in range(5):
        httpx2.get(f"{url}/api/v1/projects", headers=BAD)
    headers = {"Authorization": f"Bearer {bearer}"}
    assert httpx2.get(f"{url}/api/v1/projects", headers=headers).status_code == 200


def test_addresses_are_counted_apart_and_networks_together() -> None:
    assert [stranger_waits("192.0.2.1") for _ in range(3)] == [None] * 3
    assert stranger_waits("192.0.2.1") is not None
    assert stranger_waits("192.0.2.2") is None
    assert network_of("2001:db8::1") == network_of("2001:db8::2:1") != network_of("2001:db9::1")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1")


def test_many_addresses_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MOST_KEYS", 10)
    counter = RequestCounter(5)
    counter.wait(7)
    for number in range(100):
        counter.wait(f"192.0.2.{number}")
    assert len(counter._asked) <= 10
    assert 7 in counter._asked


@pytest.mark.parametrize(
    ("sent", "address"),
    [("10.9.9.9, 192.0.2.7", "192.0.2.7"), ("2001:db8::1", "2001:db8::1"), ("junk", "127.0.0.1")],
)
def test_of_a_trusted_proxy_the_last_address_counts(sent: str, address: str) -> None:
    headers = [(b"x-forwarded-for", sent.encode()), (b"x-forwarded-proto", b"https")]
    seen = behind_proxy({"type": "http", "headers": headers, "client": ("127.0.0.1", 1)})
    assert (seen["client"][0], seen["scheme"]) == (address, "https")


def test_without_trust_nothing_of_a_request_changes() -> None:
    import anyio  # noqa: PLC0415

    seen: dict[str, Any] = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.update(scope)

    async def nothing(*_: Any) -> Any:
        return {"type": "http.disconnect"}

    headers = [(b"x-forwarded-for", b"192.0.2.7"), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "path": "/", "headers": headers, "client": ("127.0.0.1", 1)}
    anyio.run(Edge(app), scope, nothing, nothing)
    assert seen["client"] == ("127.0.0.1", 1)
    assert "scheme" not in seen


@pytest.mark.parametrize("door", ["/api/v1/projects", "/mcp"])
def test_a_revoked_token_that_is_tried_is_written_down_once(
    url: str, bearer: str, door: str
) -> None:
    tokens.revoke(bearer)
    for _ in range(2):
        httpx2.post(url + door, headers={"Authorization": f"Bearer {bearer}"}, json={})
    (event,) = AuditEvent.objects.filter(action="token.refused")
    assert (event.subject, event.facts["reason"]) == (bearer[:12], "revoked")
    assert event.scope is not None


def test_what_no_token_is_leaves_no_secret_in_the_trail(url: str) -> None:
    httpx2.get(f"{url}/api/v1/projects", headers=BAD)
    (event,) = AuditEvent.objects.filter(action="token.refused")
    assert (event.subject, event.facts) == ("unknown token", {"address": "127.0.0.1"})


def test_guessing_from_everywhere_fills_no_table() -> None:
    for number in range(30):
        note_refusal(BAD["Authorization"], f"192.0.2.{number}")
    assert AuditEvent.objects.filter(action="token.refused").count() == 10
