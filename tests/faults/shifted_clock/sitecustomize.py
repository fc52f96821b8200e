"""Loaded by a Python whose PYTHONPATH names this folder: its clock is CLOCK_SHIFT seconds off."""

from __future__ import annotations

import copyreg
import datetime as dt
import os
import time
from typing import Any

SHIFT = float(os.environ.get("CLOCK_SHIFT", "0"))
_Real = dt.datetime
_time, _time_ns = time.time, time.time_ns


class _Kind(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Real)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _Real)


class _Shifted(_Real, metaclass=_Kind):
    """Makes plain datetimes: what C code made and what this made are of one kind."""

    def __new__(cls, *values: Any, **named: Any) -> Any:
        return _Real(*values, **named)

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        return _Real.now(tz) + dt.timedelta(seconds=SHIFT)

    @classmethod
    def utcnow(cls) -> Any:
        return _Real.now(dt.UTC).replace(tzinfo=None) + dt.timedelta(seconds=SHIFT)

    @classmethod
    def today(cls) -> Any:
        return cls.now()


def _reduced(value: dt.datetime) -> tuple[Any, ...]:
    """A pickle names the class, and finds ours in its place: in other processes the real one."""
    return _Shifted, value.__reduce_ex__(2)[1]


if SHIFT:
    _Shifted.__module__, _Shifted.__qualname__, _Shifted.__name__ = ("datetime",) * 3
    copyreg.pickle(_Real, _reduced)
    dt.datetime = _Shifted  # type: ignore[misc]
    time.time = lambda: _time() + SHIFT
    time.time_ns = lambda: _time_ns() + int(SHIFT * 1e9)
