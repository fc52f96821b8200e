"""Parsers that misbehave, for the pool's worker to call."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from collectors.values import Gap, GapReason


@dataclass(frozen=True, slots=True)
class Counted:
    worker: int
    size: int
    gaps: tuple[Gap, ...] = ()


class Trap:
    """What a parser that was taken over would answer: a call of its own choice."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (os.system, ("touch /tmp/codememory-canary",))


def count(content: bytes, path: bytes = b"") -> Counted:
    return Counted(os.getpid(), len(content), (Gap(GapReason.BINARY, path),))


def spin(content: bytes) -> None:
    while content:
        pass


def sleep(content: bytes) -> None:
    time.sleep(60)


def fail(content: bytes) -> None:
    raise KeyError(content)


def recurse(content: bytes) -> object:
    return recurse(content)


def grow(content: bytes) -> int:
    return len(bytearray(4 << 30))


def die(content: bytes) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave(content: bytes) -> None:
    os._exit(3)


def trap(content: bytes) -> Trap:
    return Trap()


def environment(content: bytes) -> list[str]:
    return sorted(os.environ)


def descriptors(content: bytes) -> int:
    return len(list(Path("/proc/self/fd").iterdir())) - 1
