"""The disk budget of a project: what its rows take of the database, looked at as a slice starts.

Rows of all projects lie in the same tables, so a project's part is its share of each table's rows.
"""

from __future__ import annotations

from django.db import connection

from codememory import runs
from codememory.errors import SourceUnreadableError
from codememory.ingest_history import store_gaps
from codememory.models import GapRecord
from codememory.removal import owned_models
from codememory.runs import Claim
from codememory.terminal import in_bytes
from collectors.policy import Policy
from collectors.values import Gap, GapReason

SMALL = 1 << 16  # a table of so few bytes decides nothing
_SIZES = """
    SELECT oid::regclass::text, pg_total_relation_size(oid), greatest(reltuples, 0)::bigint
    FROM pg_class WHERE oid = ANY(%s::regclass[])
"""


def disk_bytes_of(scope_id: int) -> int:
    """About what the rows of a project take, with their indexes."""
    return _measured(scope_id, 0)


def disk_budget_exceeded(scope_id: int, policy: Policy) -> bool:
    """Whether the project takes more than its policy allows; one look at sizes where it cannot."""
    return policy.disk_bytes is not None and _measured(scope_id, policy.disk_bytes) > (
        policy.disk_bytes
    )


def _measured(scope_id: int, enough: int) -> int:
    """The project's share of all tables; their whole size where that is within `enough`."""
    names = [model._meta.db_table for model in owned_models()]
    with connection.cursor() as cursor:
        cursor.execute(_SIZES, [names])
        sizes = cursor.fetchall()
        whole = sum(size for _, size, _ in sizes)
        if whole <= enough:
            return int(whole)
        total = 0.0
        for name, size, estimated in sizes:
            if size < SMALL and enough:
                continue
            query = f"SELECT count(*) FROM {name} WHERE scope_id = %s"  # noqa: S608 -- of our models
            cursor.execute(query, [scope_id])
            mine = cursor.fetchone()[0]
            total += size * min(1.0, mine / max(mine, estimated, 1))
        return int(total)


def require_disk_budget(claim: Claim, source: str, policy: Policy) -> None:
    """End the run of a project that is over its budget, with the gap that says so.

    Call as a slice starts: what is committed stays, and a retry goes on from there. Raises
    SourceUnreadableError; within the budget the gap of an earlier run goes.
    """
    old = GapRecord.objects.filter(
        scope_id=claim.scope_id,
        source=source,
        reason=GapReason.BUDGET.value,
        path=None,
        object_oid=None,
        commit_oid=None,
    )
    if not disk_budget_exceeded(claim.scope_id, policy):
        if old.exists():
            old.delete()
        return
    used, most = in_bytes(disk_bytes_of(claim.scope_id)), in_bytes(policy.disk_bytes or 0)
    with runs.fenced(claim, is_progress=False):
        old.delete()
        gap = Gap(GapReason.BUDGET, detail=f"disk: {used} of {most}")
        store_gaps(claim.scope_id, claim.run_id, source, [gap], {})
    raise SourceUnreadableError(
        GapReason.BUDGET.value,
        f"the project's rows take about {used}, its policy allows {most}: see `policy` disk_bytes",
    )
