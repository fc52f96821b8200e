"""So many requests a minute for each token, over REST and MCP together, counted in this process.

Those without a valid token are counted by the address they come from.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import THROTTLED
from api.problems import CONTENT_TYPE, body_of
from codememory.models import ApiToken

SECONDS = 60.0
MOST_KEYS = 10_000  # remembered at a time; far more than live tokens that ask within a minute
MOST_OF_STRANGERS = 60  # requests of one address without a valid token


class RequestCounter:
    """Remembers when each token (its number) or address asked within the last minute; exact, and
    safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._asked: dict[int | str, deque[float]] = {}
        self._lock = threading.Lock()

    def wait(self, key: int | str, most: int | None = None) -> float | None:
        """Count a request of the key: None lets it pass, else so many seconds are to wait."""
        now = time.monotonic()
        with self._lock:
            if key not in self._asked and len(self._asked) >= MOST_KEYS:
                self._forget(now)
            asked = self._asked.setdefault(key, deque())
            while asked and asked[0] <= now - SECONDS:
                asked.popleft()
            if len(asked) >= (self.most if most is None else most):
                return asked[0] + SECONDS - now
            asked.append(now)
        return None

    def clear(self) -> None:
        with self._lock:
            self._asked.clear()

    def _forget(self, now: float) -> None:
        for key in [key for key, asked in self._asked.items() if asked[-1] <= now - SECONDS]:
            del self._asked[key]
        if len(self._asked) >= MOST_KEYS:  # many addresses at once: tokens are worth more
            self._asked = {key: a for key, a in self._asked.items() if isinstance(key, int)}


COUNTER = RequestCounter(240)


def stranger_waits(address: str) -> float | None:
    """Count a request without a valid token; seconds to wait where there were too many."""
    return COUNTER.wait(network_of(address), MOST_OF_STRANGERS)


def network_of(address: str) -> str:
    """Whom an address belongs to: in IPv6 everybody has a network of many."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 6 and found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else address


class TokenThrottle(BaseThrottle):
    """The counter at REST's door; it comes after authentication, so a token is known."""

    _wait: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:  # noqa: ARG002 -- DRF's signature
        if isinstance(request.auth, ApiToken):
            self._wait = COUNTER.wait(request.auth.pk)
        return self._wait is None

    def wait(self) -> float | None:
        return self._wait


class ThrottledApp:
    """The counter at MCP's door, behind the middleware that has verified the token."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = scope.get("user")
        wait = None
        if isinstance(user, AuthenticatedUser):
            wait = COUNTER.wait(int(user.access_token.client_id))
        if wait is None:
            await self.app(scope, receive, send)
            return
        await _refusal(wait)(scope, receive, send)


class StrangersApp:
    """Counts what MCP's own middleware refuses for want of a token, and refuses more of it.

    `tell` is called in a thread with the Authorization header and the address of each.
    """

    def __init__(self, app: ASGIApp, tell: Callable[[str, str], None]) -> None:
        self.app = app
        self.tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_refused = False

        async def watch(message: Message) -> None:
            nonlocal is_refused
            if message["type"] == "http.response.start" and message["status"] == 401:
                client = scope.get("client") or ("", 0)
                if wait := stranger_waits(client[0]):
                    is_refused = True
                    await _refusal(wait)(scope, receive, send)
                else:
                    header = Headers(scope=scope).get("authorization", "")
                    await sync_to_async(self.tell, thread_sensitive=False)(header, client[0])
            if not is_refused:
                await send(message)

        await self.app(scope, receive, watch)


def _refusal(wait: float) -> JSONResponse:
    return JSONResponse(
        body_of(THROTTLED),
        status_code=THROTTLED.status,
        media_type=CONTENT_TYPE,
        headers={"Retry-After": str(math.ceil(wait)), "Cache-Control": "no-store"},
    )
