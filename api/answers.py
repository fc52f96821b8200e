"""Answers that REST and MCP give alike and that no other part of the product gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.access import Access
from api.errors import AbsentError, ScopeMissingError
from api.fence import TRUST
from codememory.collect import is_up_running
from codememory.items import MOST_PARTS, find_item
from codememory.listing import CLAIM_FILTERS, GAP_FILTERS, list_rows
from codememory.models import Policy, Project, TokenScope, Worktree
from codememory.run_requests import find_run, request_collection, run_facts
from codememory.status import totals

NOBODY_WORKS = (
    "Queued. Nothing works on it now: "
    "its owner runs `codememory up` or `codememory collect --wait`."
)


def project_list(access: Access) -> dict[str, Any]:
    attached = access.attached()
    rows = [
        {"project": row.slug, "root": row.root, "attached": row.scope_id in attached}
        for row in access.projects()
    ]
    return {"projects": rows, "trust": TRUST}


def project_detail(access: Access, project: Project) -> dict[str, Any]:
    """What is registered and allowed, from the database alone; `status` looks at the checkout."""
    policy = Policy.objects.filter(scope_id=project.scope_id).latest("generation")
    worktrees = Worktree.objects.filter(scope_id=project.scope_id).order_by("pk")
    return {
        "project": project.slug,
        "root": project.root,
        "attached": project.scope_id in access.attached(),
        "created_at": project.created_at.isoformat(),
        "worktrees": [{"root": row.root} for row in worktrees],
        "policy": {
            "generation": policy.generation,
            "sources": policy.sources,
            "include": policy.include,
            "exclude": policy.exclude,
            "max_blob_bytes": policy.max_blob_bytes,
            "max_patch_bytes": policy.max_patch_bytes,
        },
        "totals": totals(project.scope_id),
        "trust": TRUST,
    }


def rows_of(project: Project, kind: str, limit: int, asked: dict[str, Any]) -> dict[str, Any]:
    """A page of `list`; `asked` holds path, cursor and, for claims and gaps, the values kept."""
    kept = {name: asked[name] for name in (*CLAIM_FILTERS, *GAP_FILTERS) if name in asked}
    return list_rows(
        project, kind, path=asked["path"], limit=limit, cursor=asked["cursor"], kept=kept
    )


def item_of(project: Project, kind: str, item_id: str, most: int = MOST_PARTS) -> dict[str, Any]:
    """One item in full. Raises AbsentError."""
    found = find_item(project, kind, item_id, most=most)
    if found is None:
        raise AbsentError
    return found


def run_of(project: Project, run_id: str) -> dict[str, Any]:
    """How far a run is. Raises AbsentError."""
    run = find_run(project, run_id)
    if run is None:
        raise AbsentError
    return run_facts(project, run)


def requested_runs(access: Access, project: Project, sources: Sequence[str]) -> dict[str, Any]:
    """Queue runs for a caller that may propose. Raises ScopeMissingError."""
    if not access.may(TokenScope.PROPOSE):
        raise ScopeMissingError(TokenScope.PROPOSE.value)
    found = request_collection(project, sources, access.actor())
    is_worked_on = is_up_running()
    return {
        "runs": [run_facts(project, run) for run in found],
        "is_worked_on": is_worked_on,
        "note": None if is_worked_on else NOBODY_WORKS,
    }
