"""The ASGI application: MCP over streamable HTTP at /mcp, Django for everything else."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from django.core.asgi import get_asgi_application
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "codememory.settings")
django_application = cast("ASGIApp", get_asgi_application())  # typed apart, called alike

from django.conf import settings  # noqa: E402 -- these need Django set up
from django.urls import get_resolver  # noqa: E402

from api.edges import Edge  # noqa: E402
from api.refusals import note_refusal_apart  # noqa: E402
from api.server import http_server, transport_security  # noqa: E402
from api.throttle import StrangersApp, ThrottledApp  # noqa: E402
from codememory.kept_connections import close_kept, keep_connections  # noqa: E402


def create_application() -> Edge:
    """Compose the two; the lifespan runs the MCP sessions (a mounted one would never run)."""
    server = http_server()
    mcp_application = server.streamable_http_app(
        stateless_http=True, transport_security=transport_security()
    )
    # Innermost: who asks is known there.
    mcp_application.user_middleware.append(Middleware(ThrottledApp))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        get_resolver().url_patterns  # noqa: B018 -- loads every page
        # What is loaded by now is never garbage: no request has to wait until it was looked at.
        gc.collect()
        gc.freeze()
        keep_connections()
        try:
            async with server.session_manager.run():
                yield
        finally:
            close_kept()

    # A route, not its middleware around everything: Django's own requests are not its concern.
    routes = [
        Route("/mcp", endpoint=StrangersApp(mcp_application, note_refusal_apart)),
        Mount("/", app=django_application),
    ]
    return Edge(
        Starlette(routes=routes, lifespan=lifespan), trusts_proxy=settings.CODEMEMORY_TRUST_PROXY
    )


application = create_application()
