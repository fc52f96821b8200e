"""How soon a running `up` has read a new commit, and what a collection takes that finds nothing.

    python benchmarks/freshness.py REPO... [--times N]

Each REPO is cloned and collected by an `up` of its own. Then N collections are asked for with
nothing new, and N with one new commit each, which is searched for until it is found; making it
counts. Repositories of different length in one run show whether the length matters. Prints one
table and one JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import throwaway
from benchmarks.processes import load

ROOT = Path(__file__).resolve().parent.parent
LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 3_600.0
QUIET_SECONDS = 2.0
ASKED = ("run, nothing new", "asked to ended, nothing new", "commit begun to found")
AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    roots = [root.resolve() for root in options.repositories]
    one_alone = len(roots) == 1
    figures = [(measure if one_alone else measure_apart)(root, options.times) for root in roots]
    for one in figures:
        print(f"{one['repository']}, {one['commits']:,} commits, load {one['load']}")
        for name in ASKED:
            print(
                f"  {name:<28}{one[name]['median']:>8.2f} s median, {one[name]['most']:.2f} s most"
            )
    print(json.dumps(figures))
    return 0


def measure_apart(root: Path, times: int) -> dict[str, Any]:
    """In a process of its own: the key that tasks are signed with is read once in a process."""
    command = [sys.executable, str(Path(__file__).resolve()), str(root), "--times", str(times)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(said.splitlines()[-1])[0]
    return found


def measure(root: Path, times: int) -> dict[str, Any]:
    scratch = Path(tempfile.mkdtemp(prefix="cm-fresh-"))
    try:
        clone = scratch / root.name
        command = ["git", "clone", "-q", "--no-hardlinks", str(root), str(clone)]
        subprocess.run(command, check=True, env=throwaway.plain_environment())
        with throwaway.throwaway_database() as lease, running_up(lease.server.data.parent, clone):
            return ask(clone, times)
    finally:
        shutil.rmtree(scratch)


@contextmanager
def running_up(home: Path, clone: Path) -> Iterator[None]:
    """An `up` on the database of this process, which had no project before."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--project", str(clone), "--yes"]
    with (home / "up.log").open("wb") as told:
        process = subprocess.Popen(
            [*command, "--port", str(port)], cwd=ROOT, stdout=told, stderr=told, env={**os.environ}
        )
    try:
        wait(lambda: bool(ended_runs("git")))
        settle()
        yield
    finally:
        from django.db import connection  # noqa: PLC0415 -- needs Django

        connection.close()  # its server may end with `up`
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def ask(clone: Path, times: int) -> dict[str, Any]:
    from codememory.collect import request_runs  # noqa: PLC0415 -- needs Django
    from codememory.models import Project  # noqa: PLC0415

    project = Project.objects.get()
    before, runs, answers, found = load(), [], [], []
    for number in range(times):
        started = time.monotonic()
        [run] = request_runs(project, ["git"])
        wait(partial(has_ended, run.pk))
        answers.append(time.monotonic() - started)
        run.refresh_from_db()
        assert run.started_at is not None
        assert run.ended_at is not None
        runs.append((run.ended_at - run.started_at).total_seconds())
        word = f"zanzibarian{number}quux"
        (clone / "fresh.py").write_text(f"def {word}():\n    return {number}\n")
        throwaway.git(clone, "add", "fresh.py")
        started = time.monotonic()
        throwaway.git(clone, *AUTHOR, "commit", "-q", "--no-verify", "-m", "fx")
        request_runs(project, ["git"])
        head = throwaway.git(clone, "rev-parse", "HEAD").decode().strip()
        wait(partial(is_found, project.scope_id, word, head))
        found.append(time.monotonic() - started)
        settle()
    return {
        "repository": clone.name,
        "commits": int(throwaway.git(clone, "rev-list", "--count", "HEAD")),
        "load": before,
        "run, nothing new": told(runs),
        "asked to ended, nothing new": told(answers),
        "commit begun to found": told(found),
    }


def has_ended(run_id: int) -> bool:
    return run_id in ended_runs("git")


def is_found(scope_id: int, word: str, head: str) -> bool:
    """Whether a search shows this commit; words of others are much alike."""
    from codememory.models import FileChange  # noqa: PLC0415 -- needs Django
    from codememory.search.query import search  # noqa: PLC0415

    changes = [hit.target_id for hit in search([scope_id], word).hits if hit.kind == "change"]
    rows = FileChange.objects.filter(scope_id=scope_id, logical_change_id__in=changes)
    return rows.filter(commit__oid=head).exists()


def settle() -> None:
    """Wait until nothing has run for a while: `up` itself looks for new commits as well."""
    since = time.monotonic()
    while time.monotonic() < since + QUIET_SECONDS:
        if running():
            since = time.monotonic()
        time.sleep(LOOK_SECONDS)


def told(seconds: list[float]) -> dict[str, float]:
    return {"median": round(median(seconds), 3), "most": round(max(seconds), 3)}


def ended_runs(source: str) -> set[int]:
    from codememory.models import Run, RunState  # noqa: PLC0415 -- needs Django

    rows = Run.objects.filter(source=source)
    if failed := rows.filter(state__in=[RunState.FAILED, RunState.POISONED]).first():
        raise SystemExit(f"{failed.error_class}: {failed.error_text}")
    return set(rows.filter(state=RunState.DONE).values_list("pk", flat=True))


def running() -> bool:
    from codememory.models import Run, RunState  # noqa: PLC0415 -- needs Django

    return Run.objects.filter(state__in=[RunState.QUEUED, RunState.RUNNING]).exists()


def wait(is_there: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_there():
        if time.monotonic() > until:
            raise SystemExit("nothing came of it")
        time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())
