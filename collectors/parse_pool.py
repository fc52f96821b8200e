"""Runs parsers of untrusted content in a process of their own that is killed when it hangs.

One warm worker serves item after item; after a deadline or a crash the next item gets a new one.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import selectors
import signal
import struct
import sys
import time
from dataclasses import dataclass, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from types import TracebackType
from typing import Any, Self

from collectors.errors import ParserUnavailableError

MAX_ANSWER_BYTES = 128 << 20
WALL_FACTOR = 5  # a deadline is of processor time; the clock ends what merely waits
MEMORY_BYTES = 1 << 30
_START_SECONDS = 30.0
_CHUNK = 1 << 18
_WORKER = Path(__file__).with_name("parse_worker.py")


@dataclass(frozen=True, slots=True)
class Deadline:
    """The parser did not end in its time and was killed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Crashed:
    """The parser raised (the error's class), or its process died (the signal's name)."""

    detail: str


class ParsePool:
    """Use as a context manager. Not for use by two threads; the worker starts when first needed.

    The worker has no environment, no descriptors but its pipes, and may write no file. It ends
    with its input, so it does not outlive us.
    """

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        self._memory_bytes = memory_bytes
        self._process: Popen[bytes] | None = None
        self._is_loading = False
        self.started = 0  # workers so far

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def close(self) -> None:
        """End the worker; the pool can be used again."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def warm(self, function: str) -> None:
        """Start the worker; it loads what the function needs while we do something else."""
        if self._process is None:
            self._launch(function.partition(":")[0])

    def submit(self, function: str, content: bytes, seconds: float, *arguments: object) -> Any:
        """Return what `function` ("package.module:name") gives, a Deadline, or a Crashed.

        It is called with the content and the arguments. Its result may hold plain values, and
        dataclasses and enums of `collectors` or of its own module; a worker's answer that names
        anything else is a crash. `seconds` bounds the processor time of the call; five times as
        much is its bound by the clock. Raises ParserUnavailableError where there is no such code.
        """
        request = pickle.dumps((function, content, seconds, arguments), protocol=5)
        process = self._ready()
        try:
            answer = self._exchange(process, request, time.monotonic() + seconds * WALL_FACTOR)
        except TimeoutError:
            self.close()
            return Deadline(seconds)
        except (EOFError, BrokenPipeError):
            return self._lost(process, seconds)
        module = function.partition(":")[0]
        try:
            is_well, found = _Unpickler(io.BytesIO(answer), module).load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError) as error:
            self.close()
            return Crashed(type(error).__name__)
        if is_well is None:
            self.close()  # another try gets a worker that has loaded the code anew
            raise ParserUnavailableError(function, str(found))
        return found if is_well else Crashed(str(found))

    def _ready(self) -> Popen[bytes]:
        process = self._process or self._launch()
        if self._is_loading:
            # Until it says so it is being loaded, and that is not the document's time.
            with contextlib.suppress(TimeoutError, EOFError, BrokenPipeError):
                self._exchange(process, None, time.monotonic() + _START_SECONDS)
            self._is_loading = False
        return process

    def _launch(self, module: str = "") -> Popen[bytes]:
        process = Popen(  # noqa: S603 -- a list of our own
            [sys.executable, "-I", str(_WORKER), str(self._memory_bytes), module],
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,  # a parser's words may quote the document
            bufsize=0,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        self._process = process
        self._is_loading = True
        self.started += 1
        assert process.stdin is not None
        assert process.stdout is not None
        os.set_blocking(process.stdin.fileno(), False)
        os.set_blocking(process.stdout.fileno(), False)
        return process

    def _lost(self, process: Popen[bytes], seconds: float) -> Deadline | Crashed:
        with contextlib.suppress(TimeoutError):  # its pipes are closed: it is about to be gone
            process.wait(timeout=1)
        status = process.poll()
        self.close()
        if status == -signal.SIGPROF:  # its own alarm
            return Deadline(seconds)
        if status is not None and status < 0:
            return Crashed(signal.Signals(-status).name)
        return Crashed(f"status {status}")

    def _exchange(self, process: Popen[bytes], request: bytes | None, until: float) -> bytes:
        """Send a request and return the answer's bytes. Raises TimeoutError or EOFError."""
        assert process.stdin is not None
        assert process.stdout is not None
        sending = memoryview(b"" if request is None else _framed(request))
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if sending:
                selector.register(process.stdin, selectors.EVENT_WRITE)
            while (missing := _missing(answer)) > 0:
                ready = selector.select(max(0.0, until - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fileobj is process.stdin:
                        sending = sending[os.write(key.fd, sending[:_CHUNK]) :]
                        if not sending:
                            selector.unregister(process.stdin)
                        continue
                    chunk = os.read(key.fd, min(missing, _CHUNK))
                    if not chunk:
                        raise EOFError
                    answer += chunk
        return bytes(memoryview(answer)[_HEAD.size :])


_HEAD = struct.Struct(">Q")


def _framed(content: bytes) -> bytes:
    return _HEAD.pack(len(content)) + content


def _missing(answer: bytearray) -> int:
    """How many bytes are still to come, as far as is known."""
    if len(answer) < _HEAD.size:
        return _HEAD.size - len(answer)
    (size,) = _HEAD.unpack_from(answer)
    if size > MAX_ANSWER_BYTES:
        raise EOFError
    return int(_HEAD.size + size - len(answer))


class _Unpickler(pickle.Unpickler):
    """A parser that was taken over must not be able to run anything here."""

    def __init__(self, content: io.BytesIO, module: str) -> None:
        super().__init__(content)
        self._module = module

    def find_class(self, module_name: str, name: str) -> Any:
        if (module_name, name) == ("builtins", "getattr"):
            return _member  # how Python before 3.11.4 writes the members of an enum
        is_ours = module_name == self._module or module_name.startswith("collectors.")
        if is_ours and "." not in name:
            found = getattr(import_module(module_name), name)
            is_class = isinstance(found, type) and found.__module__ == module_name
            if is_class and (is_dataclass(found) or issubclass(found, Enum | tuple)):
                return found
        raise pickle.UnpicklingError(name)


def _member(kind: object, name: object) -> Enum:
    """A member of an enum, and nothing else that `getattr` would give."""
    if isinstance(kind, type) and issubclass(kind, Enum) and name in kind.__members__:
        return kind[str(name)]
    raise pickle.UnpicklingError(str(name))
