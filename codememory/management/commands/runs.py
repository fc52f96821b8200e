"""`runs`: what was collected when, what is being collected, and what failed."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from codememory import runs
from codememory.collect import UNITS, is_up_running
from codememory.models import Run, RunState
from codememory.projects import require_project
from codememory.terminal import (
    RefusedError,
    TerminalCommand,
    add_json,
    add_project,
    in_time,
    positive,
    table,
)

STOPPED = "FAILED, POISONED or CANCELLED"


class Command(TerminalCommand):
    help = "List the newest runs, or show, cancel or retry one by its id (R12)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action", nargs="?", default="list", choices=["list", "show", "cancel", "retry"]
        )
        parser.add_argument("id", nargs="?", metavar="ID", help="of a run, for all but list")
        parser.add_argument("--limit", type=positive, default=20, metavar="N", help="(20)")
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["action"] == "list":
            rows = _newest(options["project"], options["limit"])
            lines = table([_row(run) for run in rows]) or ["Nothing was collected yet."]
            self.answer({"runs": [facts(run) for run in rows]}, lines, as_json=options["json"])
            return
        run = find_run(options["id"])
        line = {"show": _show, "cancel": _cancel, "retry": _retry}[options["action"]](run)
        run.refresh_from_db()
        lines = [line] if line else fact_lines(facts(run))
        self.answer(facts(run), lines, as_json=options["json"])


def find_run(text: str | None) -> Run:
    """Read an id as R12 or 12. Raises RefusedError."""
    if text is None:
        raise RefusedError("say which run by its id, such as R12; `runs` lists them")
    match = re.fullmatch(r"[Rr]?([1-9][0-9]{0,17})", text)
    found = Run.objects.filter(pk=int(match[1])).first() if match else None
    if found is None:
        raise RefusedError(f"there is no run {text[:30]!r}; `runs` lists them")
    return found


def _newest(project: str | None, limit: int) -> list[Run]:
    rows = Run.objects.select_related("scope__project").order_by("-pk")
    if project:
        rows = rows.filter(scope_id=require_project(project).scope_id)
    return list(rows[:limit])


def _show(_: Run) -> str:
    return ""


def _cancel(run: Run) -> str:
    state = runs.cancel_run(run)
    if state == RunState.CANCELLED:
        return f"R{run.pk} is cancelled; what it read so far is kept"
    if state == RunState.RUNNING:
        return f"R{run.pk} stops at its next batch; what it read so far is kept"
    raise RefusedError(f"R{run.pk} is {state}: only a waiting or running one can be cancelled")


def _retry(run: Run) -> str:
    if not runs.retry_run(run):
        run.refresh_from_db(fields=["state"])
        why = f"only {STOPPED} ones can be, and only while no other run of the source is live"
        raise RefusedError(f"R{run.pk} is {run.state} and was not queued again: {why}")
    note = "" if is_up_running() else "; nothing works on it until `up` or `collect --wait` runs"
    return f"R{run.pk} is queued again and goes on where it stopped{note}"


def facts(run: Run) -> dict[str, Any]:
    """A run as JSON."""
    return {
        "id": f"R{run.pk}",
        "project": run.scope.project.slug,
        "source": run.source,
        "state": run.state,
        "phase": run.phase,
        "done": run.done,
        "total": run.total,
        "head": run.head_oid,
        "branch": run.branch_label,
        "policy_generation": run.policy_generation,
        "attempts": run.attempts,
        "lost_leases": run.lost_leases,
        "is_cancel_requested": run.is_cancel_requested,
        "error": run.error_text or run.error_class,
        "created_at": _time(run.created_at),
        "started_at": _time(run.started_at),
        "ended_at": _time(run.ended_at),
        "metrics": run.metrics,
    }


def fact_lines(found: dict[str, Any]) -> list[str]:
    plain = [
        (name.replace("_", " "), value)
        for name, value in found.items()
        if name != "metrics" and value not in (None, "", False)
    ]
    measured = [(name, value) for name, value in sorted(found["metrics"].items())]
    lines = table(plain)
    return [*lines, "measured", *table(measured, indent="  ")] if measured else lines


def _row(run: Run) -> list[object]:
    total = "" if run.total is None else f"/{run.total:,}"
    done = f"{run.done:,}{total} {UNITS[run.source]}"
    note = run.error_text or run.error_class or ""
    when = run.created_at.strftime("%Y-%m-%d %H:%M")
    return [
        f"R{run.pk}",
        run.scope.project.slug,
        run.source,
        run.state,
        done,
        when,
        _took(run),
        note,
    ]


def _took(run: Run) -> str:
    if run.started_at is None or run.ended_at is None:
        return ""
    return in_time((run.ended_at - run.started_at).total_seconds())


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
