"""One home with its `up`, for one fault after the other: subjects, plans, SQL, commands.

Nothing here uses Django: rows are read by connections of its own, which no fault of the product
can take along.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from codememory import database
from codememory.database import place, server
from tests.commands import ROOT, environment
from tests.faults.processes import Cluster, kill, processes, wait_for
from tests.fingerprint import QUERIES
from tests.repos import RepoBuilder, stamp

MANAGE = str(ROOT / "manage.py")
COMMITS, DOCUMENTS = 350, 6
LIVE = ("QUEUED", "RUNNING")
Rows = list[tuple[Any, ...]]


@dataclass(slots=True)
class Subject:
    """A copy of the template repository, and what was seen of its first run."""

    repo: RepoBuilder
    scope: int = 0
    runs: dict[str, int] = field(default_factory=dict)  # by source
    stamped: dict[str, tuple[int, str]] = field(default_factory=dict)
    struck_at: float = 0.0
    seconds: float = 0.0  # from the fault until everything was done

    @property
    def root(self) -> Path:
        return self.repo.root

    @property
    def slug(self) -> str:
        return self.root.name


def make_template(root: Path) -> RepoBuilder:
    """A history of four pages, and documents that state rules and change."""
    repo = RepoBuilder(root)
    lines = [f"value_{number} = {number}\n" for number in range(40)]
    repo.import_commits(
        "long.py", ("".join(lines[: n % 40]) + f"n = {n}\n" for n in range(COMMITS - 3))
    )
    for version in range(3):
        for number in range(DOCUMENTS):
            rule = f"We decided to keep rule {number} for {version + 1} years.\n"
            repo.write(f"docs/rule-{number}.md", f"# Rule {number}\n\n{rule}\n## Why\n\nIt is.\n")
        repo.commit()
    return repo


class World:
    """A home, its database, its `up`, and a neighbour whose rows no fault may change."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.work = Path(tempfile.mkdtemp(prefix="cm-faults-"))
        self.failpoints = self.work / "failpoints"
        self.failpoints.mkdir()
        self.port = 0
        self.up: subprocess.Popen[bytes] | None = None
        self._up_extra: dict[str, str] = {}
        self._number = 0
        self._outputs: dict[int, Path] = {}

    def open(self) -> None:
        """Make the template, keep the server up, and read the calm and the neighbouring project."""
        self.lease = database.ensure_running(self.home, durable=False)
        self.template = make_template(self.work / "template")
        self.neighbour = self.subject("neighbour")
        self.collect(self.neighbour, "--wait")
        self.expected = self.fingerprint(self.neighbour.scope)

    def close(self) -> None:
        self.stop_up()
        for left in list(processes(self.home)):
            kill(left.pid)
        self.lease.close()
        database.discard(self.home)
        shutil.rmtree(self.work, ignore_errors=True)

    # --- commands -----------------------------------------------------------------------------

    def start(
        self, *arguments: str, extra: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start manage.py with this home; what it says goes to a file of its own."""
        self._number += 1
        path = self.work / f"{self._number}.out"
        with path.open("wb") as out:
            started = subprocess.Popen(
                [sys.executable, MANAGE, *arguments],
                env=self._environment(extra),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._outputs[started.pid] = path
        return started

    def run(self, *arguments: str, extra: dict[str, str] | None = None) -> str:
        """Run manage.py to its end; returns stdout, and fails unless its status is 0."""
        ended = subprocess.run(
            [sys.executable, MANAGE, *arguments],
            env=self._environment(extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = f"{' '.join(arguments)} ended with {ended.returncode}: {ended.stderr[-2000:]}"
        assert ended.returncode == 0, said
        return ended.stdout

    def _environment(self, extra: dict[str, str] | None) -> dict[str, str]:
        ours = {"CODEMEMORY_FAILPOINTS": str(self.failpoints), "CODEMEMORY_LOG_LEVEL": "INFO"}
        return environment(self.home) | ours | (extra or {})

    def up_words(self, port: int) -> list[str]:
        """`up` asks for runs of all projects unless one is named: the neighbour is."""
        return ["up", "--port", str(port), "--project", str(self.neighbour.root), "--yes"]

    def ensure_up(self, extra: dict[str, str] | None = None) -> None:
        """Have an `up` with a whole cluster run, in just this environment."""
        wanted = extra or {}
        if self.up is not None and (self.up.poll() is not None or wanted != self._up_extra):
            self.stop_up()
        if self.up is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            self.up = self.start(*self.up_words(self.port), extra=extra)
            self._up_extra = wanted
        wait_for(self._is_whole, "a whole cluster")
        # Its start asked for the neighbour's runs: they must not follow somebody else's plan.
        wait_for(lambda: self.is_quiet(self.neighbour), "the neighbour's runs")

    def is_quiet(self, subject: Subject) -> bool:
        return not set(self.states(subject).values()) & set(LIVE)

    def _is_whole(self) -> bool:
        assert self.up is not None
        assert self.up.poll() is None, f"`up` ended: {self.said(self.up)}"
        return self.cluster.is_whole()

    def said(self, process: subprocess.Popen[bytes]) -> str:
        return self._outputs[process.pid].read_text(errors="replace")[-1000:]

    def stop_up(self) -> None:
        self.forget_plan()
        if self.up is not None:
            self.up.terminate()
            self.up.wait(90)
            self.up = None

    def start_over(self) -> None:
        """After a failed trial: whatever it left stopped or held must not fail the next one."""
        self.forget_plan()
        for left in list(processes(self.home)):
            kill(left.pid)
        if self.up is not None:
            self.up.wait()
            self.up = None
        self.sql("DELETE FROM django_q_ormq")
        query = "UPDATE codememory_run SET state = 'CANCELLED', lease_owner = NULL,"
        self.sql(f"{query} lease_until = NULL WHERE state IN ('QUEUED', 'RUNNING')")

    @property
    def cluster(self) -> Cluster:
        assert self.up is not None
        return Cluster(self.home, self.up.pid)

    # --- subjects -----------------------------------------------------------------------------

    def subject(self, name: str | None = None) -> Subject:
        """Copy the template; its bytes and times are remembered."""
        self._number += 1
        root = self.work / (name or f"subject-{self._number}")
        shutil.copytree(self.template.root, root, symlinks=True)
        return Subject(RepoBuilder(root), stamped=stamp(root))

    def collect(self, subject: Subject, *arguments: str) -> None:
        """Register the subject where that is new, and queue its runs."""
        words = ["collect", "--project", str(subject.root), "--yes", "--json", *arguments]
        self.note_runs(subject, json.loads(self.run(*words))["runs"])

    def note_runs(self, subject: Subject, told: list[dict[str, str]]) -> None:
        subject.runs = {run["source"]: int(run["id"][1:]) for run in told}
        query = "SELECT scope_id FROM codememory_run WHERE id = %s"
        subject.scope = self.sql(query, next(iter(subject.runs.values())))[0][0]

    # --- plans --------------------------------------------------------------------------------

    def plan(self, point: str, first: int, times: int, action: str, run: int | None = None) -> None:
        """From now on, the product does this at the point; earlier hits are forgotten."""
        self.forget_plan()
        draft = self.failpoints / "draft"
        draft.write_text(f"{point} {first} {times} {action} {run or ''}")
        draft.replace(self.failpoints / "plan")

    def forget_plan(self) -> None:
        """End the plan: whoever is held at its point goes on."""
        (self.failpoints / "plan").unlink(missing_ok=True)
        for path in self.failpoints.iterdir():
            path.unlink(missing_ok=True)

    def wait_hit(self, number: int = 1) -> int:
        """Wait for that many hits of the plan; returns the pid that made the last one."""
        hits: list[Path] = []

        def is_hit() -> bool:
            hits[:] = sorted(self.failpoints.glob("hit.*"), key=lambda p: int(p.suffix[1:]))
            return len(hits) >= number and bool(hits[-1].read_text())

        wait_for(is_hit, f"hit {number} of {self._planned()}")
        return int(hits[-1].read_text().split()[0])

    def _planned(self) -> str:
        path = self.failpoints / "plan"
        return path.read_text() if path.exists() else "no plan"

    # --- rows ---------------------------------------------------------------------------------

    def server(self) -> place.Server:
        return place.Server(self.home, place.folder_of(self.home), place.account_for(self.home))

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """A connection of our own, waiting for a server that is just being started again."""
        until = time.monotonic() + 120
        host = str(place.socket_folder(place.folder_of(self.home)))
        while True:
            try:
                opened = psycopg.connect(
                    host=host, port=place.PORT, user=server.NAME, dbname=server.NAME,
                    autocommit=True, connect_timeout=10,
                )  # fmt: skip
                break
            except psycopg.OperationalError:
                assert time.monotonic() < until, "the database does not come back"
                time.sleep(0.2)
        with opened:
            yield opened

    def sql(self, query: str, *values: object) -> Rows:
        """Run one statement; once more where the server was killed under it."""
        for is_last in (False, True):
            try:
                with self.connected() as connection:
                    cursor = connection.execute(query.encode(), values)
                    return cursor.fetchall() if cursor.description else []
            except psycopg.OperationalError:
                if is_last:
                    raise
        raise AssertionError

    def fingerprint(self, scope: int) -> dict[str, tuple[int, str]]:
        """Count and digest of the rows of each table, by content."""
        found = {}
        for name, query in QUERIES.items():
            ((count, digest),) = self.sql(
                "SELECT count(*), coalesce(md5(string_agg(row, chr(10) ORDER BY row)), '')"
                f" FROM ({query}) AS all_rows (row)",
                scope,
            )
            found[name] = (int(count), str(digest))
        return found

    def owned_rows(self, scope: int, *, but: tuple[str, ...] = ()) -> dict[str, int]:
        """How many rows each table has of a scope: of all that have one, but those named."""
        tables = self.sql(
            "SELECT c.table_name FROM information_schema.columns c"
            " JOIN information_schema.tables t USING (table_schema, table_name)"
            " WHERE column_name = 'scope_id' AND c.table_name LIKE 'codememory%%'"
            " AND t.table_type = 'BASE TABLE' AND %s = 1",
            1,
        )
        names = sorted(name for (name,) in tables if name not in but)
        parts = [f"SELECT '{n}', count(*) FROM \"{n}\" WHERE scope_id = {scope:d}" for n in names]
        return {name: int(count) for name, count in self.sql(" UNION ALL ".join(parts)) if count}

    def states(self, subject: Subject) -> dict[int, str]:
        rows = self.sql("SELECT id, state FROM codememory_run WHERE scope_id = %s", subject.scope)
        return {int(number): str(state) for number, state in rows}

    def run_row(self, number: int) -> dict[str, Any]:
        names = "state, fence, attempts, lost_leases, head_oid, phase, error_class, error_text"
        ((row),) = self.sql(f"SELECT {names} FROM codememory_run WHERE id = %s", number)
        return dict(zip(names.split(", "), row, strict=True))

    def restarts(self) -> dict[str, Any]:
        """What the supervisor says it had to start again."""
        try:
            found: dict[str, Any] = json.loads((self.home / "supervisor.json").read_text())
        except (OSError, ValueError):
            return {}
        return found

    def queue_log(self) -> str:
        return (self.home / "logs" / "queue.log").read_text(errors="replace")


@contextmanager
def opened(name: str) -> Iterator[World]:
    """A world in a home of tests, removed afterwards with all its processes."""
    folder = Path("/tmp") / f"codememory-test-{os.getuid()}-{os.getpid()}.{name}"  # noqa: S108
    world = World(folder)
    try:
        world.open()
        yield world
    finally:
        world.close()
