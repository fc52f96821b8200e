"""What an agent's side does in these tests, with the official client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp_types import CallToolResult

T = TypeVar("T")
Session = Callable[[Client], Awaitable[T]]


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


def calling(tool: str, **arguments: Any) -> Session[CallToolResult]:
    """A session of one call."""

    async def session(client: Client) -> CallToolResult:
        return await client.call_tool(tool, arguments)

    return session


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")
