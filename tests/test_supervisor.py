"""The process tree of `up`, by real processes that are really killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codememory import database, supervisor

pytestmark = pytest.mark.queue
SCRIPT = Path(__file__).with_name("supervised.py")


@dataclass
class Tree:
    home: Path
    port: int
    process: subprocess.Popen[str]

    def pids(self, word: str) -> set[int]:
        """Our processes whose command line has the word: those that carry this home."""
        return {pid for pid in _processes(self.home) if word in _command(pid)}

    def main_pid(self, word: str) -> int:
        return min(self.pids(word), key=lambda pid: (_parent(pid) != self.process.pid, pid))

    def health(self) -> str:
        address = f"http://127.0.0.1:{self.port}/healthz"
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return str(json.load(answer)["status"])
        except OSError:
            return "no answer"


def _processes(home: Path) -> Iterator[int]:
    wanted = f"CODEMEMORY_HOME={home}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)
            except OSError:
                continue


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def eventually(holds: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.1)
    return False


def start(home: Path) -> Tree:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(port)],
        env={**os.environ, "CODEMEMORY_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout:
        if process.stdout.readline() != "ready\n":
            process.terminate()
            process.wait(40)
            pytest.fail((home / "logs" / "web.log").read_text()[-3000:])
    return Tree(home, port, process)


@pytest.fixture(scope="module")
def lasting_home() -> Iterator[Path]:
    folder = Path(f"{os.environ['CODEMEMORY_HOME']}.supervised")
    yield folder
    assert eventually(lambda: not list(_processes(folder)))
    database.discard(folder)


@pytest.fixture
def tree(lasting_home: Path) -> Iterator[Tree]:
    started = start(lasting_home)
    yield started
    if started.process.poll() is None:
        started.process.terminate()
    started.process.wait(40)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_and_leaves_no_process(tree: Tree, number: signal.Signals) -> None:
    assert tree.health() == "ok"
    os.killpg(tree.process.pid, number)
    assert tree.process.wait(40) == 0
    assert list(_processes(tree.home)) == []


def test_a_killed_queue_is_replaced_with_no_orphan_left(tree: Tree) -> None:
    assert eventually(lambda: len(tree.pids("qcluster")) >= 4)
    before = tree.pids("qcluster")
    os.kill(tree.main_pid("qcluster"), signal.SIGKILL)
    assert eventually(lambda: not before & tree.pids("qcluster"))
    assert eventually(lambda: len(tree.pids("qcluster")) >= 4)


def test_a_killed_web_server_is_replaced(tree: Tree) -> None:
    os.kill(tree.main_pid("uvicorn"), signal.SIGKILL)
    assert eventually(lambda: tree.health() == "no answer")
    assert eventually(lambda: tree.health() == "ok")


def test_a_killed_database_server_is_started_again(tree: Tree) -> None:
    pid_file = tree.home / "postgres" / "data" / "postmaster.pid"
    os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGKILL)
    assert eventually(lambda: tree.health() != "ok", 5)
    assert eventually(lambda: tree.health() == "ok")


def test_nothing_outlives_a_killed_supervisor(tree: Tree) -> None:
    os.kill(tree.process.pid, signal.SIGKILL)
    assert eventually(lambda: not list(_processes(tree.home)))


def test_a_taken_port_is_refused_with_the_option_to_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert supervisor.supervise(taken.getsockname()[1], lambda: None) == 1
    assert "--port" in capsys.readouterr().err
