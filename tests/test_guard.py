"""A child of the supervisor ends with it, also one that will not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.faults.processes import is_alive, wait_for

# Starts a guarded child in a session of its own, as the supervisor does, and says who is who.
PARENT = """
import os, subprocess, sys, time
guard = [sys.executable, "-m", "codememory.guard", str(os.getpid())]
child = subprocess.Popen([*guard, *sys.argv[1:]], start_new_session=True)
print(child.pid, flush=True)
print(child.wait(), flush=True)
"""
STUBBORN = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "os.fork(); open(os.environ['SAID'] + str(os.getpid()), 'w').close(); time.sleep(300)"
)


def start(folder: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, *command],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SAID": f"{folder}/"},
    )


def words_of_child(pid: int) -> bytes:
    told = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return b"".join(Path(f"/proc/{child}/cmdline").read_bytes()[:10] for child in told)


def test_a_child_that_does_not_end_is_killed_with_its_own_children(tmp_path: Path) -> None:
    parent = start(tmp_path, sys.executable, "-c", STUBBORN)
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2, "two children")
    pids = [int(path.name) for path in tmp_path.iterdir()]
    parent.kill()
    parent.communicate()
    wait_for(lambda: not any(is_alive(pid) for pid in pids), "their end")


def test_a_child_is_told_to_end_by_way_of_its_guard(tmp_path: Path) -> None:
    parent = start(tmp_path, "/bin/sleep", "300")
    assert parent.stdout is not None
    guard = int(parent.stdout.readline())
    wait_for(lambda: b"sleep" in words_of_child(guard), "the child")
    os.kill(guard, signal.SIGTERM)
    said, _ = parent.communicate(timeout=60)
    assert int(said) == 256 - signal.SIGTERM


def test_a_child_whose_guard_was_killed_ends(tmp_path: Path) -> None:
    said = "import os, time; open(os.environ['SAID'] + str(os.getpid()), 'w').close();"
    parent = start(tmp_path, sys.executable, "-c", f"{said} time.sleep(300)")
    assert parent.stdout is not None
    guard = int(parent.stdout.readline())
    wait_for(lambda: list(tmp_path.iterdir()), "the child")
    os.kill(guard, signal.SIGKILL)
    parent.communicate(timeout=60)
    wait_for(lambda: not is_alive(int(next(tmp_path.iterdir()).name)), "the child's end")
