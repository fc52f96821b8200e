"""A CodeMemory of its own for one measurement: made in a temporary home, removed afterwards.

`history.py` and `evidence.py` use it; everything goes through the product's own code.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from codememory import database

if TYPE_CHECKING:
    from codememory.models import Project, Run


@contextlib.contextmanager
def throwaway_database() -> Iterator[database.Lease]:
    """Run an embedded server with an empty, migrated database; the settings are read from here."""
    home = Path(tempfile.gettempdir()) / f"codememory-bench-{os.getpid()}"
    os.environ.pop("DATABASE_URL", None)
    os.environ["CODEMEMORY_HOME"] = str(home)
    os.environ["DJANGO_SETTINGS_MODULE"] = "codememory.settings"
    lease = database.ensure_running(home)
    try:
        set_up()
        from codememory.entry import bring_up_to_date  # noqa: PLC0415 -- needs the settings

        bring_up_to_date()
        yield lease
    finally:
        lease.close()
        database.discard(home)


def set_up() -> None:
    import django  # noqa: PLC0415 -- reads the settings, and they read the home

    django.setup()
    logging.getLogger("django-q").setLevel(logging.WARNING)  # it tells of every wake-up


def register(root: Path) -> Project:
    from codememory.projects import register_project  # noqa: PLC0415 -- needs Django

    return register_project(root)[0]


def collect(project: Project, source: str) -> tuple[Run, float]:
    """Work off one run in this process, slice by slice; returns it with the seconds it took."""
    from codememory import runs  # noqa: PLC0415 -- needs Django
    from codememory.projects import primary_worktree  # noqa: PLC0415
    from codememory.slices import work_slice  # noqa: PLC0415

    started = time.monotonic()
    run = runs.request_run(primary_worktree(project), source, 1, None)
    while claim := runs.claim_run(run.pk):
        work_slice(claim)
    run.refresh_from_db()
    if run.state != "DONE":
        raise SystemExit(f"{source} ended {run.state}: {run.error_class} {run.error_text}")
    return run, time.monotonic() - started


def git(root: Path, *arguments: str, text: bytes | None = None) -> bytes:
    """What stock git prints, without the user's own configuration."""
    return subprocess.run(
        ["git", "-C", str(root), *arguments],
        env=plain_environment(),
        input=text,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout


def plain_environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
