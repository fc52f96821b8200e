"""`mcp [--project P]...`: serves one agent over stdin and stdout until stdin ends."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import anyio
from django.core.management.base import BaseCommand

from api.access import ProcessAccess
from api.server import stdio_server
from api.stdin import ending_at_signals
from codememory.projects import project_of_path, require_project


class Command(BaseCommand):
    help = (
        "Serve an agent over stdio. It may read the projects named; without a name, the project of "
        "the current directory, or all projects of your database when there is none."
    )

    # An agent waits for the first answer; `up` and `doctor` run the checks.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--project", action="append", default=[], metavar="P", help="a name or a path"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 -- Django's signature
        with redirect_stdout(sys.stderr):  # stdout belongs to JSON-RPC alone
            server = stdio_server(ProcessAccess(_project_ids(options["project"])))
        with ending_at_signals():
            anyio.run(server.run_stdio_async)


def _project_ids(names: list[str]) -> frozenset[int] | None:
    if names:
        return frozenset(require_project(name).pk for name in names)
    here = project_of_path(Path.cwd())
    return None if here is None else frozenset({here.pk})
