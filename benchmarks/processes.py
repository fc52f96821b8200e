"""What processes took, read from Linux's /proc: peaks of memory by program, seconds of processor.

`ru_maxrss` would not do: a child inherits the peak of the Python that started it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

PROC = Path("/proc")
SAMPLE_SECONDS = 0.05
TICKS = os.sysconf("SC_CLK_TCK")


class Peaks:
    """Watches a process and its descendants while the `with` block runs.

    `largest` holds the largest VmHWM (KiB) seen by program, `together` the largest sum of resident
    memory of all of them at one moment.
    """

    def __init__(self, pid: int) -> None:
        self.largest: dict[str, int] = {}
        self.together = 0
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            total = 0
            for pid in family(self._pid):
                if pid != self._pid and _command(pid) == _command(self._pid):
                    continue  # between fork and exec: it still shows its parent's memory
                facts = _status(pid)
                name, peak = facts.get("Name", ""), _kib(facts.get("VmHWM"))
                self.largest[name] = max(self.largest.get(name, 0), peak)
                total += _kib(facts.get("VmRSS"))
            self.together = max(self.together, total)


def family(pid: int) -> Iterator[int]:
    """The process and all its living descendants."""
    yield pid
    try:
        threads = list((PROC / str(pid) / "task").iterdir())
    except OSError:
        return
    for thread in threads:
        try:
            children = (thread / "children").read_text(encoding="ascii").split()
        except OSError:
            continue
        for child in children:
            yield from family(int(child))


def processor_seconds(pid: int) -> float:
    """Of a process, its living descendants, and those that ended and were waited for."""
    total = 0
    for member in family(pid):
        try:
            stat = (PROC / str(member) / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        fields = stat.rpartition(") ")[2].split()
        total += sum(int(field) for field in fields[11:15])  # utime, stime, cutime, cstime
    return total / TICKS


def load() -> str:
    """How busy the machine is, to be said beside every figure."""
    one, five, _ = os.getloadavg()
    return f"{one:.1f} (1 min), {five:.1f} (5 min) on {os.cpu_count()} cores"


def _status(pid: int) -> dict[str, str]:
    try:
        text = (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _command(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


def _kib(value: str | None) -> int:
    return int(value.split()[0]) if value else 0


def worked_seconds(pid: int) -> float:
    """Seconds of processor of a process of one thread, to the nanosecond."""
    return int((PROC / str(pid) / "schedstat").read_text(encoding="ascii").split()[0]) / 1e9


def parent_of(pid: int) -> int:
    return int(_status(pid)["PPid"])
