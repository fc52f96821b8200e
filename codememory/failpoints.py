"""Named points at which a fault test may end, stop or hold this process; nothing happens elsewhere.

Only a home that tests made is heard: CODEMEMORY_FAILPOINTS names a folder whose file `plan` says
`POINT NUMBER TIMES ACTION [RUN]`, such as `read 3 1 kill`: from the 3rd passing on, once.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from codememory import env, home

POINTS = ("claimed", "read", "written", "committed", "ended")
TEST_HOME = "codememory-test-"  # how the folders of tests are called
HOLD_SECONDS = 300.0


def _folder() -> Path | None:
    named = env.text("CODEMEMORY_FAILPOINTS")
    return Path(named) if named and home.folder().name.startswith(TEST_HOME) else None


FOLDER = _folder()


def reach(point: str, run_id: int) -> None:
    """Do what the plan asks for when this process passes the point; nothing without a plan."""
    if FOLDER is None:
        return
    try:
        wanted, first, times, action, *of_run = (FOLDER / "plan").read_text().split()
    except (FileNotFoundError, ValueError):  # none, or just being written
        return
    if wanted != point or (of_run and of_run != [str(run_id)]):
        return
    number = _pass()
    if int(first) <= number < int(first) + int(times):
        (FOLDER / f"hit.{number}").write_text(f"{os.getpid()} {run_id}")
        _act(action)


def _pass() -> int:
    """Count this passing, over all processes: each adds a byte to one file."""
    assert FOLDER is not None
    with (FOLDER / "passes").open("ab", buffering=0) as passes:
        passes.write(b".")
        return passes.tell()


def _act(action: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "hold":
        _hold()
    else:
        raise ValueError(action)


def _hold() -> None:
    assert FOLDER is not None
    until = time.monotonic() + HOLD_SECONDS
    while (FOLDER / "plan").exists() and time.monotonic() < until:
        time.sleep(0.02)
