"""Runs every check and every test; with arguments of pytest it runs just pytest with them.

Checks come first and pytest last, so that the last line is pytest's own summary. `--faults` runs
the long form of the faults instead, some rounds of each, and prints a table; see its `--help`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand

from codememory import database

FAILED_CHECKS = "CODEMEMORY_FAILED_CHECKS"  # told to pytest, which repeats it above its last line
CHECKS = {
    "lint": ["-m", "ruff", "check", "."],
    "format": ["-m", "ruff", "format", "--check", "."],
    "spelling": ["-m", "codespell_lib", "."],
    "types": ["-m", "mypy", "."],
    "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
    "system": ["manage.py", "check", "--deploy", "--fail-level", "WARNING"],
}


class Command(BaseCommand):
    help = __doc__

    def run_from_argv(self, argv: list[str]) -> None:
        """Everything after `test` belongs to pytest, its --help too."""
        if argv[2:3] == ["--faults"]:
            sys.exit(run_module("tests.faults", argv[3:]))
        sys.exit(run_all() if not argv[2:] else run_module("pytest", argv[2:]))


def run_all() -> int:
    folder = Path(f"/tmp/codememory-test-{os.getuid()}-{os.getpid()}.checks")  # noqa: S108 -- short
    environment = {**os.environ, "CODEMEMORY_HOME": str(folder)}  # the person's own stays untouched
    environment.pop("DATABASE_URL", None)
    try:
        failed = [name for name in CHECKS if not _passes(name, environment)]
    finally:
        database.discard(folder)
    print(f"checks: {', '.join(failed)} FAILED" if failed else "checks: all passed", flush=True)
    os.environ[FAILED_CHECKS] = ", ".join(failed)
    status = run_module("pytest", ["-n", "3", "--dist", "worksteal"])
    return status or (1 if failed else 0)


def run_module(name: str, arguments: list[str]) -> int:
    """The tests choose a home, then read the settings: nothing may make them read earlier."""
    environment = {**os.environ}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "-m", name, *arguments]
    return subprocess.call(command, cwd=settings.ROOT, env=environment)


def _passes(name: str, environment: dict[str, str]) -> bool:
    print(f"--- {name}: {' '.join(CHECKS[name])}", flush=True)
    started = time.monotonic()
    command = [sys.executable, *CHECKS[name]]
    status = subprocess.call(command, cwd=settings.ROOT, env=environment)
    outcome = "passed" if status == 0 else f"FAILED with status {status}"
    print(f"--- {name}: {outcome} in {time.monotonic() - started:.1f} s", flush=True)
    return status == 0
