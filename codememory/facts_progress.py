"""How far each phase of facts is, and what a run adds up about its work."""

from __future__ import annotations

from collections.abc import Mapping

from codememory.models import FactsPhase, FactsProgress


def position_of(scope_id: int, phase: FactsPhase) -> int:
    return FactsProgress.objects.get(scope_id=scope_id, phase=phase).after_id


def set_position(scope_id: int, phase: FactsPhase, after_id: int) -> None:
    FactsProgress.objects.filter(scope_id=scope_id, phase=phase).update(after_id=after_id)


def add_metrics(total: Mapping[str, float], *parts: Mapping[str, float]) -> dict[str, float]:
    """Sum measurements (bytes, rows, cache hits, seconds) into the run's own."""
    total = dict(total)
    for part in parts:
        for name, amount in part.items():
            total[name] = round(total.get(name, 0) + amount, 6)
    return total
