"""Which failures of a run another try may survive, and our own words for those around us.

The text of a foreign error is never kept: it may quote what was read.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from django.db import InterfaceError, OperationalError, ProgrammingError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
SHORT = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EBUSY})
SCHEMA_STATES = frozenset({"42P01", "42703", "42883"})  # no such table, column or function
DISK_FULL = "DISK_FULL: no space is left {where}; it is tried again, so make room"
# SQLSTATE, or the class it begins with, to our words.
STATES = {
    "53100": DISK_FULL.format(where="for the database"),
    "53200": "OUT_OF_MEMORY: the database has no memory left; it is tried again",
    "53300": "TOO_MANY_CONNECTIONS: the database takes no more now; it is tried again",
    "40": "CONFLICT: the database took another transaction first; it is tried again",
    "55": "BUSY: the database holds what is needed; it is tried again",
    "57014": "DEADLINE: the database did not answer in time; it is tried again",
}
GONE = "DATABASE_GONE: the connection broke; it is tried again"


@dataclass(frozen=True, slots=True)
class Failure:
    """What is kept of an error. `text` is None where it would not be in our own words."""

    name: str
    text: str | None
    is_retryable: bool


def failure_of(error: BaseException) -> Failure:
    """Classify what ended a slice: errors of ours say it themselves, the system's are known."""
    name = type(error).__name__
    if hasattr(error, "retryable"):
        return Failure(name, str(error)[:500], bool(error.retryable))
    state = getattr(error.__cause__, "sqlstate", None) or ""
    if isinstance(error, ProgrammingError) and state in SCHEMA_STATES:
        return Failure(name, "SCHEMA_CHANGED: the database was migrated meanwhile", True)
    if isinstance(error, OperationalError | InterfaceError):
        return Failure(name, STATES.get(state, STATES.get(state[:2], GONE)), True)
    if isinstance(error, MemoryError):
        return Failure(name, "OUT_OF_MEMORY: no memory is left; it is tried again", True)
    if isinstance(error, OSError) and error.errno in FULL:
        return Failure(name, DISK_FULL.format(where="for scratch files in the home"), True)
    if isinstance(error, OSError) and error.errno in SHORT:
        return Failure(name, f"BUSY: {errno.errorcode[error.errno]}; it is tried again", True)
    return Failure(name, None, False)
