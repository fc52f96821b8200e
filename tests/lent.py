"""Lends processes that parse from one run of a test session to the next.

What such a process does for a small repository takes a tenth of what starting it does. They are the
product's own; one that was asked for something it did not answer is killed, as everywhere.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import Any
from unittest.mock import patch

from collectors import symbol_pairs
from collectors.parse_pool import ParsePool
from collectors.symbol_versions import VersionStore

_FORGET = f"{__name__}:forget"
_SECONDS = 10.0
_AT_MOST = 8
is_lending = True
_idle: list[Popen[bytes]] = []
_launch, _submit, _close = ParsePool._launch, ParsePool.submit, ParsePool.close


@contextmanager
def lent_processes() -> Iterator[None]:
    """Pools that are opened and closed inside of the block share their processes with later ones.

    A test that is about such a process asks for the fixture `fresh_processes`.
    """
    if not is_lending:
        yield
        return
    with patch.multiple(ParsePool, _launch=_lend, submit=_ask, close=_keep):
        yield


def forget(_: bytes) -> None:
    """In the process: what it read for one run is not known to the next."""
    symbol_pairs._STORE = VersionStore()


def _lend(pool: ParsePool, module: str = "") -> Popen[bytes]:
    while _idle:
        process = _idle.pop()
        if process.poll() is None:
            pool._process = process
            pool.started += 1
            return process
        _end(process)
    return _launch(pool, module)


def _ask(pool: ParsePool, *arguments: Any) -> Any:
    """A pool that closes itself meanwhile does so because its process is of no use any more."""
    with patch.object(pool, "close", lambda: _close(pool)):
        return _submit(pool, *arguments)


def _keep(pool: ParsePool) -> None:
    process = pool._process
    if process is None or len(_idle) >= _AT_MOST or _ask(pool, _FORGET, b"", _SECONDS) is not None:
        _close(pool)
        return
    pool._process = None
    _idle.append(process)


def _end(process: Popen[bytes]) -> None:
    pool = ParsePool()
    pool._process = process
    _close(pool)


@atexit.register
def _end_all() -> None:
    while _idle:
        _end(_idle.pop())
