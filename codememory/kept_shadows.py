"""Shadows of repositories that stay for the next question, with the programs that read and parse.

To make one and to start these takes longer than most questions. What was read is forgotten between
two questions; a shadow is used again only while the object store is as it was when it was made, so
that what is removed from a repository is not answered from a pack that git still holds open.
"""

from __future__ import annotations

import atexit
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Timer

from collectors.git import Shadow
from collectors.objects import ObjectReader
from collectors.parse_pool import ParsePool
from collectors.repository import Repository

MOST_KEPT = 4  # in a process; each has two git programs and a parser
IDLE_SECONDS = 20.0
# File systems date changes in steps: a store that changed so lately may change again unseen.
SETTLED_SECONDS = 2.0

_Stamp = tuple[int, ...]


@dataclass(slots=True)
class KeptShadow:
    """A shadow in use. Give it back, or close it."""

    shadow: Shadow
    reader: ObjectReader
    key: tuple[object, ...]
    stamp: _Stamp
    parser: ParsePool = field(default_factory=ParsePool)  # its program starts when it is asked
    pid: int = field(default_factory=os.getpid)

    def close(self) -> None:
        self.reader.close()
        self.parser.close()
        self.shadow.__exit__(None, None, None)


_idle: list[tuple[float, KeptShadow]] = []  # since when, the longest first
_lock = Lock()
_timer: Timer | None = None


def take_shadow(repository: Repository, scratch: Path, redaction_key: bytes) -> KeptShadow:
    """One that is kept and still fits, or a new one; nobody else has it until it is given back."""
    stamp = _stamp_of(repository.common_dir)
    key = (repository, scratch, redaction_key)
    kept = _take(key, stamp)
    if kept is not None:
        return kept
    shadow = Shadow(repository, scratch, redaction_key)
    shadow.__enter__()
    return KeptShadow(shadow, shadow.objects(), key, stamp)


def give_back(kept: KeptShadow) -> None:
    """Keep a shadow for the next question, for a while."""
    is_settled = kept.stamp and time.time_ns() - max(kept.stamp) > SETTLED_SECONDS * 1e9
    if not is_settled or not kept.reader.forget():
        kept.close()
        return
    with _lock:
        _idle.append((time.monotonic(), kept))
        worn = [_idle.pop(0) for _ in range(len(_idle) - MOST_KEPT)]
        _watch()
    for _, old in worn:
        old.close()


def close_idle(longer_than: float = 0.0) -> None:
    """Close what nobody has asked of for so many seconds."""
    global _timer  # noqa: PLW0603 -- one for the process, as the list is
    until = time.monotonic() - longer_than
    with _lock:
        worn = [pair for pair in _idle if pair[0] <= until and pair[1].pid == os.getpid()]
        _idle[:] = [pair for pair in _idle if pair[0] > until]
        _timer = None
        _watch()
    for _, old in worn:
        old.close()


def _watch() -> None:
    global _timer  # noqa: PLW0603
    if _idle and _timer is None:
        _timer = Timer(IDLE_SECONDS, close_idle, [IDLE_SECONDS])
        _timer.daemon = True
        _timer.start()


def _take(key: tuple[object, ...], stamp: _Stamp) -> KeptShadow | None:
    with _lock:
        for place in reversed(range(len(_idle))):
            kept = _idle[place][1]
            if kept.key == key:
                del _idle[place]
                break
        else:
            return None
    if kept.stamp == stamp and kept.shadow.is_current():
        return kept
    kept.close()
    return None


def _stamp_of(common_dir: Path) -> _Stamp:
    """When a pack, or a folder of objects, last came or went."""
    try:
        folders = (common_dir / "objects", common_dir / "objects" / "pack")
        return tuple(folder.stat().st_mtime_ns for folder in folders)
    except OSError:
        return ()  # one without packs is not kept


def _forget_parents() -> None:
    """A forked process must not talk to its parent's git, nor remove its folders."""
    global _lock, _timer
    _lock, _timer = Lock(), None
    _idle.clear()


atexit.register(close_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)
