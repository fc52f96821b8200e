"""Lets a signal end a server that reads stdin: it sees the end of its input, and shuts down itself.

A thread blocked in a read cannot be woken, and the transport waits for its own; so the blocked one
is a thread of ours that may be left behind, and the transport reads a pipe.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

CHUNK = 64 * 1024
SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextlib.contextmanager
def ending_at_signals() -> Iterator[None]:
    """Put a pipe in the place of stdin; after a signal, leave with the status that tells of it."""
    source = os.dup(0)
    reader, writer = os.pipe()
    os.dup2(reader, 0)
    os.close(reader)
    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        _close_pipe(writer)

    before = {number: signal.signal(number, end) for number in SIGNALS}
    threading.Thread(target=_pump, args=(source, writer), name="stdin", daemon=True).start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        raise SystemExit(128 + received[0])


def _pump(source: int, writer: int) -> None:
    try:
        while chunk := os.read(source, CHUNK):
            while chunk:
                chunk = chunk[os.write(writer, chunk) :]
    except BrokenPipeError:
        return  # the server has ended; nobody reads any more
    _close_pipe(writer)


def _close_pipe(writer: int) -> None:
    # Replaced, not closed: the other thread may be about to write to this very number.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, writer)
    os.close(nowhere)
