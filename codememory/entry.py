"""What manage.py does once its environment stands: lend the database to the command, and run it."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import signal
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from codememory import database, home
from codememory.errors import CodeMemoryError, DatabaseError
from codememory.unseen import to_json, visible

WORDS_OF_DJANGO = frozenset({"help", "version", "--help", "-h", "--version"})
NEED_NOTHING = frozenset({"help", "test"})
# Ours bring the database up to date before they start; Django's own commands leave it as it is.
BRING_UP_TO_DATE = frozenset(
    {"up", "demo", "collect", "status", "runs", "search", "context", "list", "evidence"}
    | {"projects", "policy", "token", "createadmin", "mcp", "doctor"}
)
MIGRATION_LOCK = 0x436F6465  # "Code": the number of the advisory lock


def run(arguments: Sequence[str]) -> int:
    """Run one command; errors of ours become one line on stderr and status 1."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "codememory.settings")
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a missing git is for `doctor` to say
    as_json = "--json" in arguments
    try:
        with database_for(arguments), _usage_as_error() if as_json else contextlib.nullcontext():
            _execute(arguments)
    except CodeMemoryError as error:
        if as_json:
            print(to_json({"error": error_facts(error)}))
        else:
            print(f"codememory: {visible(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def error_facts(error: CodeMemoryError) -> dict[str, object]:
    """What programs are told of an error: a fixed code, the text, what to do, if to try again."""
    return {
        "code": error.code,
        "message": str(error),
        "hint": error.hint,
        "retryable": error.retryable,
    }


class UsageError(CodeMemoryError):
    """The command line is not understood."""


class UnknownCommandError(UsageError):
    """There is no command of that name."""

    def __init__(self, name: str, names: Collection[str]) -> None:
        close = difflib.get_close_matches(name, sorted(names), n=1)
        meant = f", did you mean {close[0]}?" if close else ";"
        super().__init__(f"unknown command {name!r}{meant} `{program()} help` lists all")


@contextlib.contextmanager
def _usage_as_error() -> Iterator[None]:
    """Let a mistake of usage be told as JSON: parsers print it and exit, and Django makes them."""

    def refuse(self: argparse.ArgumentParser, message: str) -> NoReturn:
        error = UsageError(message)
        error.hint = f"`{self.prog} --help` says more"
        raise error

    before = argparse.ArgumentParser.error
    argparse.ArgumentParser.error = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        argparse.ArgumentParser.error = before  # type: ignore[method-assign]


def program() -> str:
    """How we were started: the command of the environment runs manage.py and is not it."""
    started = {Path(word).name for word in sys.orig_argv[1:3]}
    return "codememory" if "codememory" in started else Path(sys.argv[0]).name


def needs_database(arguments: Sequence[str]) -> bool:
    asks_for_help = any(word in {"--help", "-h", "--version"} for word in arguments)
    return arguments[0] not in NEED_NOTHING and not asks_for_help


def is_demo(arguments: Sequence[str]) -> bool:
    return arguments[0] == "demo" or (arguments[0] == "evidence" and "--demo" in arguments)


@contextlib.contextmanager
def database_for(arguments: Sequence[str]) -> Iterator[None]:
    """Hold what the command needs: a home, its secrets, and a share in the running database."""
    if not needs_database(arguments):
        yield
        return
    folder = home.folder()
    if is_demo(arguments):
        folder = _demo_home(folder, is_new=arguments[0] == "demo")
    with contextlib.ExitStack() as stack:
        try:
            _lend(folder, stack)
        except CodeMemoryError as error:
            if arguments[0] != "doctor":
                raise
            print(f"codememory: {error}", file=sys.stderr)
        yield


def _lend(folder: Path, stack: contextlib.ExitStack) -> None:
    if database.is_external():
        home.prepare(folder)
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)  # so that the share is given back
    stack.enter_context(database.ensure_running(folder))


def _demo_home(folder: Path, *, is_new: bool) -> Path:
    """The demo's own home inside ours, with a database of its own: what it shows is thrown away."""
    demo = folder / "demo"
    os.environ.pop("DATABASE_URL", None)
    os.environ["CODEMEMORY_HOME"] = str(demo)
    if is_new:
        database.prepare_home(folder)
        database.discard(demo)
    elif not demo.exists():
        raise CodeMemoryError("there is no demo here yet: run demo first")
    return demo


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _execute(arguments: Sequence[str]) -> None:
    # Django reads the settings when it is imported, and they read the home prepared above.
    import django  # noqa: PLC0415
    from django.core.management import execute_from_command_line, get_commands  # noqa: PLC0415
    from django.db import InterfaceError, OperationalError, connections  # noqa: PLC0415

    try:
        django.setup()
        if arguments[0] in BRING_UP_TO_DATE and needs_database(arguments):
            try:
                bring_up_to_date()
            except OperationalError as error:
                if arguments[0] != "doctor":  # which reports it with everything else
                    said = str(error).splitlines()[0]
                    raise DatabaseError(f"the database does not answer: {said}") from error
        if arguments[0] not in {*get_commands(), *WORDS_OF_DJANGO}:
            raise UnknownCommandError(arguments[0], get_commands())
        try:
            execute_from_command_line([program(), *arguments])
        except (OperationalError, InterfaceError) as error:
            said = str(error).partition("\n")[0]
            reason = f"the database does not answer: {said}; what was committed stays, try again"
            raise DatabaseError(reason, retryable=True) from error
    finally:
        connections.close_all()


def bring_up_to_date() -> None:
    """Run pending migrations; of several commands at once one does, and the others wait for it."""
    from django.core.management import call_command  # noqa: PLC0415 -- as above
    from django.db import connection  # noqa: PLC0415

    if not _is_behind():
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        # A crash may take the last migrations with it, whole: they would only run again.
        cursor.execute("SET synchronous_commit = off")
        try:
            if _is_behind():
                print("codememory: preparing the database", file=sys.stderr, flush=True)
                call_command("migrate", verbosity=0, interactive=False, stdout=sys.stderr)
                call_command("createcachetable", verbosity=0, stdout=sys.stderr)
        finally:
            cursor.execute("RESET synchronous_commit")
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])


def _is_behind() -> bool:
    from django.db import connection  # noqa: PLC0415 -- as above
    from django.db.migrations.executor import MigrationExecutor  # noqa: PLC0415

    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
