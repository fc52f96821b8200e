"""What an agent's side does in these tests, with the official client."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import anyio
import httpx2
from django.db import connection
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp_types import CallToolResult

T = TypeVar("T")
Session = Callable[[Client], Awaitable[T]]
ROOT = Path(__file__).resolve().parents[2]
# What manage.py does once its environment stands; `before` runs ahead of it in the same process.
START = "import sys; from codememory.entry import run; sys.exit(run(sys.argv[1:]))"


def in_memory(server: MCPServer[Any], session: Session[T], mode: str = "auto") -> T:
    async def main() -> T:
        async with Client(server, mode=mode) as client:
            return await session(client)

    return anyio.run(main)


def over_http(url: str, token: str, session: Session[T], mode: str = "auto") -> T:
    async def main() -> T:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode) as client:
                return await session(client)

    return anyio.run(main)


def process(*arguments: str, cwd: Path = ROOT, before: str = "") -> StdioServerParameters:
    """How `mcp` is started for this test's database."""
    given = connection.settings_dict
    place = {"host": given["HOST"], "port": given["PORT"], "user": given["USER"]}
    url = f"postgresql:///{given['NAME']}?{urlencode(place)}"
    start = START if not before else f"import django; django.setup()\n{before}\n{START}"
    environment = os.environ | {"DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONUNBUFFERED", None)  # what a print leaves in a buffer comes out last
    return StdioServerParameters(
        command=sys.executable, args=["-c", start, "mcp", *arguments], env=environment, cwd=cwd
    )


def over_stdio(parameters: StdioServerParameters, session: Session[T]) -> T:
    async def main() -> T:
        async with Client(stdio_client(parameters)) as client:
            return await session(client)

    return anyio.run(main)


def calling(tool: str, **arguments: Any) -> Session[CallToolResult]:
    """A session of one call."""

    async def session(client: Client) -> CallToolResult:
        return await client.call_tool(tool, arguments)

    return session


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")
