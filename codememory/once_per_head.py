"""What is made of one HEAD of a project once, and shared by the questions that follow."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

FACTS_HELD = 24
COSTLY = ("lines",)

Fact = TypeVar("Fact")
_facts: dict[tuple[str, int, str], object] = {}
_facts_lock = Lock()


def once_per_head(name: str, scope_id: int, head: str, make: Callable[[], Fact]) -> Fact:
    """Compute something once per HEAD of a project; the questions that follow share it."""
    key = (name, scope_id, head)
    if name in COSTLY:  # one at a time: each holds a whole HEAD
        with _facts_lock:
            for other in [k for k in _facts if k[0] == name and k != key]:
                del _facts[other]
    with _facts_lock:
        if key in _facts:
            return _facts[key]  # type: ignore[return-value]
    made = make()
    with _facts_lock:
        _facts[key] = made
        while len(_facts) > FACTS_HELD:
            del _facts[next(iter(_facts))]
    return made
