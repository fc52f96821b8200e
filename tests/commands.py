"""Runs commands in tests: in this process, or as a person does, in one of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command

from codememory import database
from codememory.errors import CodeMemoryError

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and the status it ended with."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def said(name: str, *arguments: str) -> Said:
    """Run a command in this process, as manage.py does; errors of ours are status 1."""
    out, err = StringIO(), StringIO()
    status = 0
    try:
        call_command(name, *arguments, stdout=out, stderr=err)
    except SystemExit as ended:
        status = int(ended.code or 0)
    except CodeMemoryError as error:
        status = 1
        err.write(str(error))
    return Said(status, out.getvalue(), err.getvalue())


def manage(home: Path, *arguments: str, seconds: float = 120) -> Said:
    """Run manage.py in a process of its own with a home of its own; nobody is at its stdin."""
    ended = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Said(ended.returncode, ended.stdout, ended.stderr)


@contextmanager
def temporary_home(name: str) -> Iterator[Path]:
    """A home for several tests, short enough for a socket; removed with its database."""
    folder = Path("/tmp") / f"codememory-test-{os.getuid()}-{os.getpid()}.{name}"  # noqa: S108
    yield folder
    database.discard(folder)


def environment(home: Path) -> dict[str, str]:
    unwanted = {"DATABASE_URL", "DJANGO_SETTINGS_MODULE"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "CODEMEMORY_HOME": str(home)}
