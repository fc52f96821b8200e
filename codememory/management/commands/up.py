"""`up`: reads the projects and serves console, REST and MCP, until Ctrl-C."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from codememory import runs
from codememory.address import DEFAULT_PORT, address_of, leave_address, remove_address
from codememory.collect import Progress, UpLock, request_runs
from codememory.collect_history import scratch_folder
from codememory.errors import CodeMemoryError
from codememory.models import Project
from codememory.people import create_administrator
from codememory.preview import preview_lines
from codememory.registering import preview_of, register_after_yes
from codememory.supervisor import is_taken, supervise
from codememory.terminal import ProgressLine, RefusedError, TerminalCommand
from collectors.git import remove_stale

ADMINISTRATOR = "admin"


class Command(TerminalCommand):
    help = (
        "Read the projects and serve console, REST and MCP on 127.0.0.1, until Ctrl-C. "
        "Without --project: the registered ones. A new one is registered after a preview and a yes."
    )
    requires_system_checks = ["codememory"]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--project", action="append", default=[], metavar="P", help="a folder or a name"
        )
        parser.add_argument("--port", type=port, default=DEFAULT_PORT, metavar="N", help="(8420)")
        parser.add_argument("--yes", action="store_true", help="agree to what the previews show")
        parser.add_argument("--preview", action="store_true", help="only count; register nothing")

    def handle(self, *_: Any, **options: Any) -> None:
        if options["preview"]:
            self._preview(options["project"])
            return
        lock = UpLock()
        if not lock.take():
            raise RefusedError(
                "an `up` works on this database already: stop it first, "
                "or give it a project by `collect --project PATH`"
            )
        try:
            status = self._serve(lock, options)
        finally:
            lock.release()
        self.say("stopped; `up` goes on from here")
        if status:
            sys.exit(status)

    def _preview(self, names: list[str]) -> None:
        chosen = names or list(Project.objects.order_by("slug").values_list("slug", flat=True))
        if not chosen:
            raise RefusedError("no project is registered: say which folder by --project PATH")
        for name in chosen:
            self.answer(None, [*preview_lines(preview_of(name)), ""], as_json=False)

    def _serve(self, lock: UpLock, options: dict[str, Any]) -> int:
        number = options["port"]
        if is_taken(number):
            raise RefusedError(f"port {number} of 127.0.0.1 is in use: choose another by --port")
        remove_stale(scratch_folder())
        projects = [
            register_after_yes(self, name, is_given=options["yes"])[0]
            for name in options["project"]
        ] or list(Project.objects.order_by("slug"))
        for project in projects:
            request_runs(project)
        if not projects:
            self.say("no project is registered yet: `collect --project PATH` adds one")
        shown = Collecting()

        def tick() -> None:
            lock.keep()
            shown.show()

        def ready() -> None:
            shown.line.clear()
            leave_address(number)
            self.answer(None, welcome(number, projects), as_json=False)
            self.stdout.flush()

        try:
            return supervise(number, tick, sweep=runs.sweep, on_ready=ready)
        finally:
            remove_address()
            shown.line.clear()


class Collecting:
    """The live line while anything is collected, and one last line when nothing is any more."""

    def __init__(self) -> None:
        self.line = ProgressLine()
        self._progress = Progress()
        self._was_busy = False

    def show(self) -> None:
        if text := self._progress.line():
            self.line.show(text)
        elif self._was_busy:
            self.line.show("everything asked for is collected", is_last=True)
            self.line.clear()
        self._was_busy = bool(text)


def port(text: str) -> int:
    """A port's number, for argparse."""
    number = int(text)
    if not 0 < number < 65536:
        raise ValueError
    return number


def welcome(number: int, projects: list[Project]) -> list[str]:
    """Where everything is; and once, when the account is made, the administrator's sign-in."""
    address = address_of(number)
    slug = projects[0].slug if projects else "NAME"
    program = Path(sys.executable).parent / "codememory"
    return [
        *sign_in_lines(address),
        f"console: {address}/",
        f"REST:    {address}/api/v1/  (a token: `token create --project {slug}`)",
        f"MCP:     {address}/mcp, or over stdio: {program} mcp --project {slug}",
        "Ctrl-C stops all of it.",
    ]


def sign_in_lines(address: str) -> list[str]:
    """Make the administrator where there is none, and return the one line that lets them in."""
    if User.objects.filter(is_superuser=True).exists():
        return []
    try:
        path = create_administrator(ADMINISTRATOR)
    except CodeMemoryError as error:
        return [f"no administrator was made: {error}; `createadmin NAME` makes one"]
    return [f"sign-in: {address}{path}  (once, to set a password for {ADMINISTRATOR})"]
