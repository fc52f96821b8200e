"""Requests that no browser and no agent of ours sends: refused early, and the same way."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest

from api.edges import MAX_BYTES, MCP_BYTES

pytestmark = pytest.mark.django_db(transaction=True)
REST = "/api/v1/projects/alpha/runs"


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size // 65536 + 1):
        yield b"x" * 65536


def raw(url: str, request: bytes) -> bytes:
    """The first line of the answer to exactly these bytes."""
    place = urlsplit(url)
    with socket.create_connection((str(place.hostname), int(place.port or 0)), 10) as connection:
        connection.sendall(request)
        return connection.recv(65536).split(b"\r\n", 1)[0]


@pytest.mark.parametrize("address", ["/accounts/login/", REST, "/healthz"])
def test_a_body_that_says_it_is_too_long_is_not_read(url: str, address: str) -> None:
    head = f"POST {address} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MAX_BYTES + 1}\r\n\r\n"
    assert raw(url, head.encode()).split()[1] == b"413"


@pytest.mark.parametrize("address", ["/accounts/login/", REST])
def test_a_body_without_a_length_is_read_so_far(url: str, bearer: str, address: str) -> None:
    headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
    answer = httpx2.post(url + address, content=chunks(3 * MAX_BYTES), headers=headers)
    assert answer.status_code == 413
    assert answer.json()["code"] == "BODY_TOO_LARGE"


def test_a_long_call_of_a_tool_is_refused(url: str, bearer: str) -> None:
    headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
    headers["Accept"] = "application/json, text/event-stream"
    answer = httpx2.post(f"{url}/mcp", content=b"x" * (MCP_BYTES + 1), headers=headers)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "lines",
    [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: -1",
        "Content-Length: 4x",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding : chunked",
    ],
)
def test_two_ways_to_read_a_request_are_none(url: str, lines: str) -> None:
    request = f"POST {REST} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n\r\n0\r\n\r\nGET /x"
    status = raw(url, request.encode()).split()[1:2]
    assert status in ([b"400"], [b"401"], []), "one request and never two"
    assert status != [b"401"] or "chunked" in lines


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "a b"])
def test_a_foreign_host_is_refused(url: str, host: str) -> None:
    request = f"GET /accounts/login/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert raw(url, request.encode()).split()[1] == b"400"


def test_a_forwarded_host_is_nobodys_word(url: str) -> None:
    answer = httpx2.get(f"{url}/", headers={"X-Forwarded-Host": "evil.example"})
    assert answer.headers["Location"].startswith("/")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND"])
@pytest.mark.parametrize("address", ["/healthz", "/accounts/logout/", "/api/v1/projects", "/mcp"])
def test_other_methods_are_not_allowed(url: str, bearer: str, method: str, address: str) -> None:
    headers = {"Authorization": f"Bearer {bearer}"}
    answer = httpx2.request(method, url + address, headers=headers)
    assert answer.status_code in {400, 403, 405}


@pytest.mark.parametrize("address", ["search?q=a%00b", "search?q=x&path=%00", "changes?path=a%00"])
def test_a_nul_is_no_failure(url: str, bearer: str, address: str) -> None:
    headers = {"Authorization": f"Bearer {bearer}"}
    answer = httpx2.get(f"{url}/api/v1/projects/alpha/{address}", headers=headers)
    assert answer.status_code in {200, 400}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", "sources=git"),
        ("multipart/form-data; boundary=x", "--x--"),
        ("text/plain", "{}"),
        ("application/xml", "<a/>"),
    ],
)
def test_only_json_is_taken(url: str, proposing: str, kind: str, body: str) -> None:
    headers = {"Authorization": f"Bearer {proposing}", "Content-Type": kind}
    assert httpx2.post(url + REST, content=body, headers=headers).status_code == 415


@pytest.mark.parametrize(
    "body",
    ['{"a": NaN}', '{"sources": [], "sources": []}', "[" * 5000, '"\\ud800"', "null", "[]"],
)
def test_json_that_parsers_differ_in_is_refused(url: str, proposing: str, body: str) -> None:
    headers = {"Authorization": f"Bearer {proposing}", "Content-Type": "application/json"}
    assert httpx2.post(url + REST, content=body, headers=headers).status_code == 400


@pytest.fixture
def proposing(alice: object) -> str:
    from codememory import tokens  # noqa: PLC0415
    from codememory.models import Project  # noqa: PLC0415

    return tokens.create_token("proposer", list(Project.objects.all()), ["read", "propose"])[1]


@pytest.mark.parametrize("query", ["token", "access_token", "api_key"])
def test_a_token_in_an_address_is_no_token(url: str, bearer: str, query: str) -> None:
    assert httpx2.get(f"{url}/api/v1/projects?{query}={bearer}").status_code == 401
    assert httpx2.post(f"{url}/mcp?{query}={bearer}", json={}).status_code == 401


def test_a_cookie_opens_no_agents_door(url: str, alice: object) -> None:
    answer = httpx2.get(f"{url}/api/v1/projects", headers={"Cookie": "codememory-session=x"})
    assert answer.status_code == 401
    assert json.loads(answer.text)["code"] == "NOT_AUTHENTICATED"
