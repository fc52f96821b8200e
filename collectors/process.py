"""A running git child: bytes in, bytes out, under a byte cap and a deadline, dead when we are.

`collectors.git` starts it; everything here only talks to it. Its pipes are its lifeline: when this
process dies, git reads the end of its input or writes into a closed pipe, and ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import selectors
import signal
import time
from collections.abc import Iterator
from subprocess import Popen
from types import TracebackType
from typing import Self

from collectors.errors import DeadlineExceededError, GitFailedError

_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_READ_BYTES = 1 << 18
_PIPE_BYTES = 1 << 20


def checked_oid(oid: str) -> str:
    """git resolves whatever it is fed, options and expressions included: only full ids may pass."""
    if not _OID.fullmatch(oid):
        raise ValueError("not a full object id")
    return oid


class Child:
    """One git process. `seconds` bounds its silence; `byte_limit` bounds what it may print."""

    def __init__(
        self, command: str, process: Popen[bytes], *, seconds: float, byte_limit: int | None
    ) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.command = command
        self._process = process
        self._seconds = seconds
        self._left = byte_limit
        self._input = bytearray()
        self._output = bytearray()
        self._is_at_end = False
        self._selector = selectors.DefaultSelector()
        self._out = process.stdout.fileno()
        self._err = process.stderr.fileno()
        self._in = process.stdin.fileno() if process.stdin else -1
        for descriptor in (self._out, self._err):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)
        if self._in >= 0:
            os.set_blocking(self._in, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # over the user's pipe budget: only slower
                fcntl.fcntl(self._out, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_quiet(self) -> bool:
        """Whether it lives and nothing is left of what it was asked or answered."""
        is_busy = bool(self._input or self._output or self._is_at_end)
        return not is_busy and self._process.poll() is None

    def write(self, content: bytes) -> None:
        """Queue input; it is fed while output is read, so that neither side can block the other."""
        if self._in >= 0 and not self._input:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        self._input += content

    def read_exactly(self, count: int) -> bytes:
        while len(self._output) < count:
            self._more()
        content = bytes(memoryview(self._output)[:count])
        del self._output[:count]
        return content

    def read_until(self, separator: bytes) -> bytes:
        """Everything up to the next separator, which is dropped."""
        searched = 0
        while (at := self._output.find(separator, searched)) < 0:
            searched = len(self._output)
            self._more()
        content = bytes(memoryview(self._output)[:at])
        del self._output[: at + 1]
        return content

    def tokens(self, separator: bytes) -> Iterator[bytes]:
        """All separated pieces up to the end of the output; ends only if git ended well."""
        self.close_input()
        while not self._is_at_end:
            self._pump()
            at = self._output.rfind(separator)
            if at >= 0:
                complete = bytes(memoryview(self._output)[:at])
                del self._output[: at + 1]
                yield from complete.split(separator)
        self.finish()
        if self._output:
            raise GitFailedError(self.command, 0)  # a last piece without its separator

    def close_input(self) -> None:
        """No more input after what is queued."""
        if self._in >= 0 and not self._input:
            self._close_stdin()
        else:
            self._closes_input = True

    _closes_input = False

    def finish(self) -> None:
        """Wait for the end and raise unless git says that all is well."""
        status = self._wait()
        if status != 0:
            raise GitFailedError(self.command, status)

    def kill(self) -> None:
        """End the whole process group and let go of its pipes. Safe to call again."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _more(self) -> None:
        if self._is_at_end:
            status = self._wait()
            # Ending well in the middle of an answer is a failure too.
            raise GitFailedError(self.command, status)
        self._pump()

    def _wait(self) -> int:
        until = time.monotonic() + self._seconds
        while (status := self._process.poll()) is None:
            if time.monotonic() > until:
                self.kill()
                raise DeadlineExceededError(self.command, self._seconds)
            time.sleep(0.001)
        return status

    def _pump(self) -> None:
        """Move what can be moved, waiting for it at most `seconds`."""
        ready = self._selector.select(self._seconds)
        if not ready:
            self.kill()
            raise DeadlineExceededError(self.command, self._seconds)
        for key, _ in ready:
            if key.fd == self._in:
                self._feed()
            elif key.fd == self._out:
                self._take()
            elif not os.read(self._err, _READ_BYTES):
                # git's words may quote files of the repository: they are dropped unread.
                self._selector.unregister(self._err)

    def _feed(self) -> None:
        try:
            sent = os.write(self._in, memoryview(self._input)[: 1 << 16])
        except BrokenPipeError:
            self._input.clear()  # it died; reading its output tells how
        else:
            del self._input[:sent]
        if not self._input:
            self._selector.unregister(self._in)
            if self._closes_input:
                self._close_stdin()

    def _close_stdin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._in = -1

    def _take(self) -> None:
        chunk = os.read(self._out, _READ_BYTES)
        if not chunk:
            self._is_at_end = True
            self._selector.unregister(self._out)
            return
        self._output += chunk
        if self._left is not None:
            self._left -= len(chunk)
            if self._left < 0:
                self.kill()
                raise GitFailedError(self.command, 0)
