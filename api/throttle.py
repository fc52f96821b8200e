"""So many requests a minute for each token, over REST and MCP together, counted in this process."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import THROTTLED
from api.problems import CONTENT_TYPE, body_of
from codememory.models import ApiToken

SECONDS = 60.0
MOST_TOKENS = 10_000  # remembered at a time; far more than live tokens that ask within a minute


class RequestCounter:
    """Remembers when each token asked within the last minute; exact, and safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._asked: dict[int, deque[float]] = {}
        self._lock = threading.Lock()

    def wait(self, token_id: int) -> float | None:
        """Count a request of the token: None lets it pass, else so many seconds are to wait."""
        now = time.monotonic()
        with self._lock:
            if token_id not in self._asked and len(self._asked) >= MOST_TOKENS:
                self._forget(now)
            asked = self._asked.setdefault(token_id, deque())
            while asked and asked[0] <= now - SECONDS:
                asked.popleft()
            if len(asked) >= self.most:
                return asked[0] + SECONDS - now
            asked.append(now)
        return None

    def clear(self) -> None:
        with self._lock:
            self._asked.clear()

    def _forget(self, now: float) -> None:
        for token_id in [pk for pk, asked in self._asked.items() if asked[-1] <= now - SECONDS]:
            del self._asked[token_id]


COUNTER = RequestCounter(240)


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
        answer = JSONResponse(
            body_of(THROTTLED),
            status_code=THROTTLED.status,
            media_type=CONTENT_TYPE,
            headers={"Retry-After": str(math.ceil(wait)), "Cache-Control": "no-store"},
        )
        await answer(scope, receive, send)
