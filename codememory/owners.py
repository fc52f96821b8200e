"""Names the process that holds a lease, so that its death can be seen on its own host."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def owner_name() -> str:
    """Return this process as host:pid:start."""
    pid = os.getpid()
    return f"{socket.gethostname()[:40]}:{pid}:{_started(pid) or 0}"


def is_owner_dead(owner: str) -> bool:
    """Tell whether a lease's owner certainly died: only said of processes of this very host."""
    host, pid, started = owner.rsplit(":", 2)
    if host != socket.gethostname()[:40]:
        return False
    now_started = _started(int(pid))
    return now_started is None or (int(started) != 0 and now_started != int(started))


def _started(pid: int) -> int | None:
    """Return a process's start tick (Linux), 0 where that is not told, None where it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            return 0
        return 0
    fields = stat.rpartition(b") ")[2].split()
    return None if fields[0] == b"Z" else int(fields[19])
