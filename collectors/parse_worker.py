"""The process in which `collectors.parse_pool` runs parsers: reads requests, writes answers.

Started as a script with an empty environment; it has nothing to lose and nothing to tell.
"""

from __future__ import annotations

import contextlib
import pickle
import resource
import signal
import struct
import sys
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

_HEAD = struct.Struct(">Q")


def main() -> None:
    """Serve until the input ends."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    limits = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_AS, _memory()),
    )
    for limit, value in limits:
        with contextlib.suppress(ValueError, OSError):  # not every system knows every limit
            resource.setrlimit(limit, (value, value))
    if module := sys.argv[2]:
        with contextlib.suppress(Exception):  # whoever asks for it is told why it cannot be loaded
            import_module(module)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    _write(target, b"")
    while (request := _read(source)) is not None:
        _write(target, _answer(request))


def _memory() -> int:
    return int(sys.argv[1])


def _answer(request: bytes) -> bytes:
    try:
        name, content, seconds, arguments = pickle.loads(request)  # noqa: S301 -- of our own pool
        module, _, function = name.partition(":")
        call = getattr(import_module(module), function)
    except Exception as error:  # noqa: BLE001 -- an installation that is broken, or being replaced
        return pickle.dumps((None, type(error).__name__), protocol=5)
    # The kernel ends this process when the time is up, whatever code it is in.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        answer = pickle.dumps((True, call(content, *arguments)), protocol=5)
    except Exception as error:  # noqa: BLE001 -- any bug of a parser is an answer, told by its class
        answer = pickle.dumps((False, type(error).__name__), protocol=5)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return answer


def _read(source: BinaryIO) -> bytes | None:
    head = source.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    (size,) = _HEAD.unpack(head)
    content = source.read(size)
    return content if len(content) == size else None


def _write(target: BinaryIO, content: bytes) -> None:
    target.write(_HEAD.pack(len(content)))
    target.write(content)
    target.flush()


if __name__ == "__main__":
    main()
