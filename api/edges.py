"""What holds for every request and answer, whoever serves it: sizes, headers, the word of a proxy.

Outermost in the application, so that it holds for MCP, REST, pages, static files and errors alike.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import Problem
from api.problems import CONTENT_TYPE, body_of

MCP_BYTES = 4 << 20  # the transport's own limit
MAX_BYTES = 1 << 20  # of any other body: forms and short JSON
TOO_LARGE = Problem(413, "BODY_TOO_LARGE", "The body is longer than any request of this interface.")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

LACKED = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class Edge:
    """Bounds bodies, completes headers, and believes a proxy only where the settings say so."""

    def __init__(self, app: ASGIApp, *, trusts_proxy: bool = False) -> None:
        self.app = app
        self.trusts_proxy = trusts_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.trusts_proxy:
            scope = behind_proxy(scope)
        limit = MCP_BYTES if scope["path"] == "/mcp" else MAX_BYTES
        body = _Body(scope, receive, limit)
        answer = _Answer(send, body)
        if not body.is_too_large:
            await self.app(scope, body.receive, answer.send)
        if body.is_too_large and not answer.has_begun:
            body.is_too_large = False
            await _refuse(scope, receive, answer.send)


class _Body:
    """A body that is read so far; for the application the rest looks like a client that left."""

    def __init__(self, scope: Scope, receive: Receive, limit: int) -> None:
        declared = Headers(scope=scope).get("content-length", "0")
        self.is_too_large = declared.isdecimal() and int(declared) > limit
        self._receive, self._left = receive, limit

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left >= 0:
            return message
        self.is_too_large = True
        return {"type": "http.disconnect"}


class _Answer:
    """Sends an answer with the headers that it lacks; none to a body that was not read whole."""

    def __init__(self, send: Send, body: _Body) -> None:
        self._send, self._body = send, body
        self.has_begun = False

    async def send(self, message: Message) -> None:
        if self._body.is_too_large and not self.has_begun:
            return
        if message["type"] == "http.response.start":
            self.has_begun = True
            given = [*message.get("headers", ())]
            names = {name.lower() for name, _ in given}  # Django writes them in both cases
            missing = [(name, value) for name, value in LACKED if name not in names]
            message = {**message, "headers": given + missing}
        await self._send(message)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    answer = JSONResponse(
        body_of(TOO_LARGE),
        status_code=TOO_LARGE.status,
        media_type=CONTENT_TYPE,
        headers={"Connection": "close"},
    )
    await answer(scope, receive, send)


def behind_proxy(scope: Scope) -> Scope:
    """The request as the proxy got it: the last address that it names, and its scheme.

    Everything before the last address is the client's own word, and counts for nothing.
    """
    headers = Headers(scope=scope)
    changed: dict[str, Any] = {}
    address = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    if _is_address(address):
        changed["client"] = (address, 0)
    if headers.get("x-forwarded-proto") in {"http", "https"}:
        changed["scheme"] = headers["x-forwarded-proto"]
    return {**scope, **changed}


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
