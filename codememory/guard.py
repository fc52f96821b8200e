"""Starts a child of the supervisor so that it never outlives it: `python -m codememory.guard`.

On Linux the kernel tells the child; elsewhere this process stays between the two and watches.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
CHECK_SECONDS = 0.5


def main(arguments: list[str]) -> int:
    """`arguments` are the supervisor's pid and the command, its program as an absolute path."""
    parent, command = int(arguments[0]), arguments[1:]
    platform: str = sys.platform
    if platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it ended before the kernel knew what to do then
            return 1
        os.execv(command[0], command)  # noqa: S606 -- no shell, by design
    return watch(parent, command)


def watch(parent: int, command: list[str]) -> int:
    """Run the command as a child; end it when told to, or when the supervisor is gone."""
    pid = os.fork()
    if pid == 0:
        os.execv(command[0], command)  # noqa: S606 -- no shell, by design
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    is_told = False
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if os.getppid() != parent and not is_told:
            os.kill(pid, signal.SIGTERM)
            is_told = True
        time.sleep(CHECK_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
