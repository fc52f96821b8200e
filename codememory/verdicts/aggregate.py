"""The verdict of a file, a commit or a symbol: the counts of its hunks' verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from codememory.verdicts.values import Method, Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`share` is the part of the decided hunks that holds; UNKNOWN ones are only counted."""

    verdict: VerdictKind
    share: float | None
    counts: dict[VerdictKind, int] = field(default_factory=dict)
    methods: dict[Method, int] = field(default_factory=dict)


def aggregate(verdicts: Iterable[Verdict]) -> Aggregate:
    listed = list(verdicts)
    counts = Counter(verdict.verdict for verdict in listed)
    decided = len(listed) - counts[VerdictKind.UNKNOWN]
    held = counts[VerdictKind.CURRENT_SUPPORTED]
    if not decided:
        kind = VerdictKind.UNKNOWN
    elif held == decided:
        kind = VerdictKind.CURRENT_SUPPORTED
    elif counts[VerdictKind.HISTORICAL] == decided:
        kind = VerdictKind.HISTORICAL
    else:
        kind = VerdictKind.RECHECK_REQUIRED
    return Aggregate(
        verdict=kind,
        share=round(held / decided, 3) if decided else None,
        counts=dict(counts),
        methods=dict(Counter(verdict.method for verdict in listed)),
    )
