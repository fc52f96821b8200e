"""The processes of one home, told by what /proc says of them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    words: str
    is_git: bool


def processes(home: Path) -> Iterator[Process]:
    """Yield the living processes that carry this home, and the git programs that read for it."""
    ours, scratch = f"CODEMEMORY_HOME={home}".encode(), f"GIT_DIR={home}/scratch/".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            words = (folder / "cmdline").read_bytes()
            variables = b"\0" + (folder / "environ").read_bytes() + b"\0" + words
            is_git = b"\0" + scratch in variables
            if not is_git and b"\0" + ours + b"\0" not in variables:
                continue
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
            if fields[0] != "Z" and int(folder.name) != os.getpid():
                told = words.replace(b"\0", b" ").decode("utf-8", "replace")
                yield Process(int(folder.name), int(fields[1]), told, is_git)


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(
    holds: Callable[[], object],
    what: str,
    seconds: float = 180,
    *,
    told: Callable[[], object] = str,
) -> None:
    """Wait until the condition holds; the deadline is for a machine that is slow and loaded.

    `told`: what is there instead, said once the deadline is over.
    """
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"{what}: not within {seconds:g} s {told()}"
        time.sleep(0.1)


class Cluster:
    """The queue's processes below an `up`, by the lines that they wrote into its log."""

    def __init__(self, home: Path, supervisor: int) -> None:
        self._home, self._supervisor = home, supervisor

    @property
    def main(self) -> int | None:
        """The cluster's main process: its parent is a guard, the supervisor's own child."""
        alive = [p for p in processes(self._home) if "qcluster" in p.words]
        guards = {p.pid for p in alive if p.parent == self._supervisor}
        found = [p.pid for p in alive if p.parent in guards]
        return found[0] if found else None

    @property
    def sentinel(self) -> int | None:
        main = self.main
        found = [p.pid for p in processes(self._home) if main and p.parent == main]
        return found[0] if found else None

    def below(self, words: str) -> list[int]:
        """Processes of the sentinel that said these words: `ready for work`, `pushing tasks`."""
        log = self._home / "logs" / "queue.log"
        said = log.read_text(errors="replace") if log.exists() else ""
        told = {int(pid) for pid in re.findall(rf"{words} at (\d+)", said)}
        sentinel = self.sentinel
        return [
            p.pid
            for p in processes(self._home)
            if sentinel and p.parent == sentinel and p.pid in told and not p.is_git
        ]

    @property
    def workers(self) -> list[int]:
        return self.below("ready for work")

    def is_whole(self) -> bool:
        return len(self.workers) >= 2 and bool(self.below("monitoring"))
