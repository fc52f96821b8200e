"""Looks at the statements of a measurement: how long each took, and which walk a large table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

LARGE = 10_000  # rows: a table below is walked sooner than looked up
PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


@dataclass
class Statements:
    """What was executed: text, parameters, milliseconds; and which plans walk which tables."""

    ran: list[tuple[str, Any, float]] = field(default_factory=list)
    walks: dict[str, set[str]] = field(default_factory=dict)

    def slowest(self, most: int = 3) -> list[tuple[float, str]]:
        found = sorted(self.ran, key=lambda one: -one[2])[:most]
        return [(round(ms, 1), " ".join(sql.split())) for sql, _, ms in found]


@contextmanager
def watched(*, planning: bool = False) -> Iterator[Statements]:
    """Collect the statements executed inside; with `planning` also each one's plan, made there."""
    found = Statements()

    def execute_watched(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        if planning and sql.lstrip().startswith(PLANNED):
            tables = _walks(sql, params)
            if tables:
                found.walks[" ".join(sql.split())] = tables
        started = time.perf_counter()
        try:
            return execute(sql, params, *rest)
        finally:
            found.ran.append((sql, params, (time.perf_counter() - started) * 1000))

    with connection.execute_wrapper(execute_watched):
        yield found


def large_tables() -> set[str]:
    with connection.connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > %s", [LARGE]
        )
        return {name for (name,) in cursor.fetchall()}


def _walks(sql: str, params: Any) -> set[str]:
    with connection.connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        (found,) = cursor.fetchone()
    plans = found if isinstance(found, list) else json.loads(found)
    return {table for plan in plans for table in _walked(plan["Plan"])} & large_tables()


def _walked(plan: dict[str, Any]) -> list[str]:
    """The tables that a plan reads from end to end, by their rows or by a whole index."""
    kind = plan["Node Type"]
    is_walk = kind == "Seq Scan" or (
        kind in {"Index Scan", "Index Only Scan"} and "Index Cond" not in plan
    )
    found = [plan["Relation Name"]] if is_walk else []
    return found + [table for part in plan.get("Plans", []) for table in _walked(part)]
