"""Sessions of the database that stay for the next request of a serving process.

Each request has a thread of its own, and with it a connection of its own: to open one, and to fill
the caches of a new session, takes the database as long as half a search. A thread that ends without
closing its connection keeps no place here, as it would in a pool: it only gives none back.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from threading import Lock
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

MOST_KEPT = 4  # in a process
IDLE_SECONDS = 300.0  # longer ones are closed when the next is asked for

Session = psycopg.Connection[Any]
_kept: list[tuple[float, tuple[str, ...], Session]] = []  # since when; the longest first
_lock = Lock()
_is_kept_here = False


def keep_connections() -> None:
    """From now on this process keeps sessions: for one that serves requests."""
    global _is_kept_here  # noqa: PLW0603 -- one switch for the process
    _is_kept_here = True


def give(key: tuple[str, ...], session: Session) -> bool:
    """Keep a session that nobody uses any more; False: it has to be closed."""
    if not _is_kept_here or session.closed or not session.autocommit:
        return False
    if session.info.transaction_status != TransactionStatus.IDLE:
        return False
    try:
        session.execute("DISCARD ALL")  # settings, locks, temporary tables: as if it were new
    except psycopg.Error:
        return False
    with _lock:
        _kept.append((time.monotonic(), key, session))
        worn = [_kept.pop(0)[2] for _ in range(len(_kept) - MOST_KEPT)]
    _close(worn)
    return True


def take(key: tuple[str, ...]) -> Session | None:
    """A kept session of this database that still answers."""
    until = time.monotonic() - IDLE_SECONDS
    with _lock:
        worn = [session for since, _, session in _kept if since < until]
        _kept[:] = [one for one in _kept if one[0] >= until]
    _close(worn)
    while (session := _newest(key)) is not None:
        try:
            session.execute("SELECT 1")
        except psycopg.Error:
            _close([session])
        else:
            return session
    return None


def close_kept() -> None:
    """Keep none any more, and close those that are there."""
    global _is_kept_here  # noqa: PLW0603
    _is_kept_here = False
    with _lock:
        sessions = [session for _, _, session in _kept]
        _kept.clear()
    _close(sessions)


def _newest(key: tuple[str, ...]) -> Session | None:
    with _lock:
        for place in reversed(range(len(_kept))):
            if _kept[place][1] == key:
                return _kept.pop(place)[2]
    return None


def _close(sessions: list[Session]) -> None:
    for session in sessions:
        with suppress(psycopg.Error):  # it is gone already
            session.close()


def _forget_parents() -> None:
    """A forked process must not speak on its parent's connections."""
    global _lock  # noqa: PLW0603
    _lock = Lock()
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)
