"""`token create|list|revoke`: bearer tokens for agents; a token is printed once and never again."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from codememory import tokens
from codememory.address import shown_address
from codememory.models import ApiToken, Project
from codememory.projects import require_exact_project

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Command(BaseCommand):
    help = "Make, list and revoke the tokens by which agents read over HTTP."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a token and print it, once")
        create.add_argument("--project", action="append", required=True, metavar="P")
        create.add_argument("--scopes", default="read", help="read, or read,propose")
        create.add_argument("--expires", type=duration, metavar="D", help="30d, 12h or 2027-01-31")
        create.add_argument("--name", help="the agent's name in the audit trail")
        create.add_argument("--url", help="where agents reach it (where `up` serves)")
        listed = actions.add_parser("list", help="show all tokens by their prefix")
        revoked = actions.add_parser("revoke", help="end a token now")
        revoked.add_argument("prefix")
        for action in (create, listed, revoked):
            action.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 -- Django's signature
        act = {"create": _create, "list": _list, "revoke": _revoke}[options["action"]]
        answer, text = act(options)
        self.stdout.write(json.dumps(answer, indent=2) if options["json"] else text)


def duration(text: str) -> timedelta:
    """Read `30d`, `12h`, `2w`, `90m`, or a date: the end of that day, UTC."""
    if match := re.fullmatch(r"([0-9]{1,5})([mhdw])", text):
        return timedelta(**{UNITS[match[2]]: int(match[1])})
    try:
        last = date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            "give a number and m, h, d or w, or a date like 2027-01-31"
        ) from None
    end = datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)
    return end - datetime.now(UTC)


def _create(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    projects = list({p.pk: p for p in map(require_exact_project, options["project"])}.values())
    scopes = [scope.strip() for scope in options["scopes"].split(",") if scope.strip()]
    name = options["name"] or f"agent of {projects[0].slug}"
    token, plain = tokens.create_token(name, projects, scopes, options["expires"])
    url, note = shown_address(options["url"])
    text = _how_to_use(plain, token, projects[0], url, f", {note}" if note else "")
    return {"token": plain, **describe(token)}, text


def _list(_: dict[str, Any]) -> tuple[dict[str, Any], str]:
    rows = [describe(token) for token in ApiToken.objects.select_related("actor").order_by("pk")]
    lines = [
        f"{row['prefix']}  {row['state']:8}  {','.join(row['scopes'])}  "
        f"{','.join(row['projects'])}  {row['agent']}  expires {row['expires_at'] or 'never'}"
        for row in rows
    ]
    return {"tokens": rows}, "\n".join(lines) or "There are no tokens."


def _revoke(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    token = tokens.revoke(options["prefix"])
    return describe(token), f"{token.prefix} is revoked."


def describe(token: ApiToken) -> dict[str, Any]:
    return {
        "prefix": token.prefix,
        "state": _state(token),
        "agent": token.actor.name,
        "projects": [project.slug for project in tokens.readable_projects(token.pk)],
        "scopes": token.scopes,
        "created_at": _time(token.created_at),
        "expires_at": _time(token.expires_at),
        "revoked_at": _time(token.revoked_at),
    }


def _state(token: ApiToken) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "live" if tokens.is_live(token.pk) else "expired"


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _how_to_use(plain: str, token: ApiToken, project: Project, url: str, note: str) -> str:
    program = str(Path(sys.executable).parent / "codememory")
    over_http = {
        "type": "http",
        "url": f"{url}/mcp",
        "headers": {"Authorization": f"Bearer {plain}"},
    }
    over_stdio = {"command": program, "args": ["mcp", "--project", project.slug]}
    curl = f'curl -H "Authorization: Bearer {plain}" {url}/api/v1/projects/{project.slug}/status'
    return "\n".join(
        [
            f"token: {plain}",
            f"It is shown this once. Expires: {_time(token.expires_at) or 'never'}.",
            f"`token revoke {token.prefix}` ends it.",
            "",
            f"REST{note}:",
            f"  {curl}",
            f"An MCP client's configuration, over HTTP{note}:",
            "  " + json.dumps({"mcpServers": {"codememory": over_http}}),
            "or over stdio, which needs no token:",
            "  " + json.dumps({"mcpServers": {"codememory": over_stdio}}),
        ]
    )
