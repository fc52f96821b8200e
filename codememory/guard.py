"""Starts a child of the supervisor so that it never outlives it: `python -m codememory.guard`.

This process stays between the two. When the supervisor is gone it ends the child, and kills what
does not end: a queue whose parts were killed would wait for them for ever.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
CHECK_SECONDS = 0.2
GRACE_SECONDS = 10.0


def main(arguments: list[str]) -> int:
    """`arguments` are the supervisor's pid and the command, its program as an absolute path."""
    return watch(int(arguments[0]), arguments[1:])


def watch(parent: int, command: list[str]) -> int:
    """Run the command as a child; end it when told to, or when the supervisor is gone."""
    guard = os.getpid()
    pid = os.fork()
    if pid == 0:
        _end_with(guard)
        os.execv(command[0], command)  # noqa: S606 -- no shell, by design
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    deadline = None
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        is_alone = os.getppid() != parent
        if done and not is_alone:
            return os.waitstatus_to_exitcode(status)
        if done or (deadline is not None and time.monotonic() > deadline):
            # Nobody else would: whatever is left of the child's group ends, this process with it.
            os.killpg(os.getpgrp(), signal.SIGKILL)
        if is_alone and deadline is None:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + GRACE_SECONDS
        time.sleep(CHECK_SECONDS)


def _end_with(guard: int) -> None:
    """On Linux the kernel tells the child when this process was killed."""
    platform: str = sys.platform
    if platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != guard:  # it ended before the kernel knew what to do then
            sys.exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
