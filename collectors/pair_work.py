"""Comparing contents apart from reading them: all it takes is in what is handed over.

Loaded by the process that compares, which needs nothing of what reads repositories.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from collectors.differences import compare
from collectors.policy import Policy
from collectors.values import ContentChange, ContentClass

Pair = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Work:
    """Pairs to compare and the blobs they need: all that comparing takes."""

    pairs: tuple[tuple[Pair, ContentClass | None], ...]
    blobs: dict[str, bytes]


def compare_work(work: Work, policy: Policy) -> list[ContentChange]:
    """What each pair changed, in order."""
    found = []
    for pair, by_mode in work.pairs:
        old, new = (None if oid is None else work.blobs[oid] for oid in pair)
        change = compare(old, new, *pair, policy)
        found.append(replace(change, content_class=by_mode) if by_mode else change)
    return found
