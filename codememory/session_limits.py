"""Ends sessions that were idle too long, or that somebody signed in to too long ago."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

SINCE, SEEN = "signed-in-at", "seen-at"
NOTED_EVERY = 60  # seconds: a row is not written for every request
UNATTENDED = "X-Unattended"  # a header of requests that a page makes by itself


class SessionLimits:
    """Middleware behind Django's own authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            self._check(request)
        return self.get_response(request)

    def _check(self, request: HttpRequest) -> None:
        now, session = int(time.time()), request.session
        since, seen = session.get(SINCE, now), session.get(SEEN, now)
        is_idle = now - seen > settings.CODEMEMORY_SESSION_IDLE_SECONDS
        if is_idle or now - since > settings.CODEMEMORY_SESSION_SECONDS:
            logout(request)
        elif UNATTENDED in request.headers:
            return  # nobody did anything
        elif SINCE not in session or now - seen >= NOTED_EVERY:
            session[SINCE], session[SEEN] = since, now
