"""up, by a real process: it reads, serves, says where, and stops cleanly at Ctrl-C."""

from __future__ import annotations

import http.client
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import pytest

from tests.commands import ROOT, Said, environment, manage, temporary_home
from tests.repos import RepoBuilder

pytestmark = pytest.mark.queue
PATIENCE = 120.0


class Up:
    """A running `up` whose output is read as it comes."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "up", *arguments],
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.found: Any = None  # what `status` said meanwhile
        self.out: list[str] = []
        self.err: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        for stream, kept in ((self.process.stdout, self.out), (self.process.stderr, self.err)):
            threading.Thread(target=self._read, args=(stream, kept), daemon=True).start()

    def _read(self, stream: IO[str], kept: list[str]) -> None:
        with stream:
            for line in stream:
                kept.append(line.rstrip("\n"))
                self._lines.put(kept[-1])

    def wait_for(self, word: str) -> str:
        """The first line with a word, on either stream."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                line = self._lines.get(timeout=1)
            except queue.Empty:
                continue
            if word in line:
                return line
        raise AssertionError(f"no {word!r} in {self.out} {self.err}")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with temporary_home("up") as folder:
        yield folder


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = RepoBuilder(tmp_path_factory.mktemp("up") / "shop")
    repo.write("shop.py", "def open():\n    return 1\n")
    repo.write("README.md", "# Shop\n\nThe shop must stay open.\n")
    repo.commit()
    return repo.root


def status_of(address: str) -> int:
    parts = urlsplit(address)
    server = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    with closing(server):
        server.request("GET", parts.path)
        return server.getresponse().status


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def first(home: Path, shop: Path, port: int) -> Up:
    """A first `up`, seen through to its end; what happened in between is kept in it."""
    up = Up(home, "--project", str(shop), "--yes", "--port", str(port))
    up.wait_for("MCP:")
    up.wait_for("everything asked for is collected")
    link = next(line.split()[1] for line in up.out if line.startswith("sign-in: "))
    up.out.append(f"status of the sign-in page: {status_of(link)}")
    up.found = manage(home, "status", "--project", "shop", "--json").document
    link = manage(home, "createadmin", "second").out
    up.out.append(f"a link that was made meanwhile: {link}")
    second = manage(home, "up", "--port", str(port + 1))
    up.err.append(f"a second one: {second.status} {second.err.strip()}")
    up.out.append(f"exit: {up.stop()}")
    return up


def test_it_says_where_everything_is(first: Up, port: int) -> None:
    said = "\n".join(first.out)
    for what in ("console: ", "REST: ", "MCP: "):
        assert re.search(rf"^{what} *http://127.0.0.1:{port}/", said, re.MULTILINE)


def test_its_sign_in_link_opens(first: Up) -> None:
    assert "status of the sign-in page: 200" in first.out


def test_it_shows_the_preview_and_reads_the_project(first: Up) -> None:
    assert any("1 commit reachable" in line for line in first.err)
    assert first.found["sources"]["git"]["state"] == "COMPLETE"
    assert first.found["runs"]["queued"] == 0


def test_other_commands_know_its_address_while_it_runs(first: Up, home: Path, port: int) -> None:
    [line] = [line for line in first.out if line.startswith("a link that was made meanwhile")]
    assert f"http://127.0.0.1:{port}/accounts/start/" in line
    assert not (home / "address").exists()


def test_a_second_up_is_refused(first: Up) -> None:
    refusal = next(line for line in first.err if line.startswith("a second one: "))
    assert refusal.startswith("a second one: 1 codememory: an `up` works on this database already")


def test_ctrl_c_ends_it_cleanly_with_its_database(first: Up, home: Path) -> None:
    assert "exit: 0" in first.out
    assert not (home / "postgres/data/postmaster.pid").exists()


def test_again_it_asks_nothing_and_makes_no_second_link(first: Up, home: Path, port: int) -> None:
    up = Up(home, "--port", str(port))
    up.wait_for("MCP:")
    assert up.stop() == 0
    assert not any("sign-in" in line for line in up.out)


def test_without_a_yes_it_registers_nothing(home: Path) -> None:
    said: Said = manage(home, "up", "--project", str(ROOT), "--port", "1")
    assert said.status == 1
    assert "--yes" in said.err or "NOT_A_REPOSITORY" in said.err
    assert said.out == ""


def test_wrong_usage_is_status_2(home: Path) -> None:
    assert manage(home, "up", "--port", "none").status == 2
    assert manage(home, "list", "things").status == 2


def test_collect_gives_the_run_back_at_ctrl_c(home: Path, tmp_path: Path) -> None:
    shop = tmp_path / "long"
    repo = RepoBuilder(shop)
    repo.import_commits("a.py", (f"n = {number}\n" for number in range(12_000)))
    command = [sys.executable, str(ROOT / "manage.py"), "collect", "--wait", "--yes", "--project"]
    with subprocess.Popen(
        [*command, str(shop)], env=environment(home), stdin=subprocess.DEVNULL, stderr=-1, text=True
    ) as running:
        assert running.stderr is not None
        while "git: " not in running.stderr.readline():
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    runs = manage(home, "runs", "--project", "long", "--json").document["runs"]
    assert {run["source"]: run["state"] for run in runs}["git"] == "QUEUED"
    assert manage(home, "collect", "--project", str(shop), "--wait").status == 0
