"""Collecting for `collect` and `up`: request runs, work them off or watch them, show how far.

Whether an `up` works on runs is told by an advisory lock that it holds on a connection of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from codememory import runs
from codememory.models import LIVE_STATES, GapRecord, Policy, Project, Run, RunState
from codememory.projects import collected_worktrees
from codememory.slices import work_slice
from codememory.terminal import ProgressLine, RefusedError, count_of, in_time
from codememory.wake_ups import HEAVY_SOURCES, forget_ended

UP_LOCK = 0x636D_7570  # any constant of ours
LOOK_SECONDS = 0.3
TICK_SECONDS = 0.5
RATE_SECONDS = 10.0
UNITS = {"git": "commits", "documents": "document versions"}


class UpLock:
    """Says to other processes that an `up` works on this database, for as long as it lives."""

    def __init__(self) -> None:
        self._connection: BaseDatabaseWrapper | None = None

    def take(self) -> bool:
        """Take it; false while another process has it."""
        own = connection.copy()
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [UP_LOCK])
            is_taken = bool(cursor.fetchone()[0])
        if is_taken:
            self._connection = own
        else:
            own.close()
        return is_taken

    def keep(self) -> None:
        """Take it again if the database was restarted in between."""
        if self._connection is None:
            self.take()
            return
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        except (OperationalError, InterfaceError):
            self.release()
            self.take()

    def release(self) -> None:
        if self._connection is None:
            return
        with suppress(OperationalError, InterfaceError), self._connection.cursor() as cursor:
            # The server would notice a closed connection only a moment later.
            cursor.execute("SELECT pg_advisory_unlock(%s)", [UP_LOCK])
        self._connection.close()
        self._connection = None


def is_up_running() -> bool:
    """Whether an `up` works on this database now: told without touching its lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND classid::bigint = %s AND objid::bigint = %s AND objsubid = 1)",
            [UP_LOCK >> 32, UP_LOCK & 0xFFFF_FFFF],
        )
        return bool(cursor.fetchone()[0])


def request_runs(project: Project, sources: Sequence[str] = ()) -> list[Run]:
    """Queue a run for each source that the owner allowed, or join the one that is live."""
    policy = Policy.objects.filter(scope_id=project.scope_id).latest("generation")
    refused = [source for source in sources if source not in policy.sources]
    if refused:
        allowed = ", ".join(policy.sources)
        raise RefusedError(f"{project.slug} may be read for {allowed}, not {', '.join(refused)}")
    wanted = [source for source in policy.sources if not sources or source in sources]
    return [
        runs.request_run(worktree, source, policy.generation, None)
        for worktree in collected_worktrees(project)
        for source in wanted
    ]


def follow(run_ids: Sequence[int]) -> list[Run]:
    """Wait until the runs and what follows them have ended; return them.

    They are worked on here while no `up` does.
    """
    run_ids = list(run_ids)
    with _shown(Progress(run_ids)):
        while live := _still_live(run_ids):
            if is_up_running() or not _work_one(live):
                time.sleep(LOOK_SECONDS)
    if not is_up_running():
        forget_ended()
    return list(Run.objects.filter(pk__in=run_ids).order_by("pk"))


def _still_live(run_ids: list[int]) -> list[Run]:
    """Those that have not ended. What follows one that was asked for again is added to the list."""
    for run in Run.objects.filter(pk__in=run_ids, is_wanted_again=True, state=RunState.DONE):
        after = Run.objects.filter(
            scope_id=run.scope_id, worktree_id=run.worktree_id, source=run.source, pk__gt=run.pk
        )
        first = after.order_by("pk").values_list("pk", flat=True).first()
        if first is not None and first not in run_ids:
            run_ids.append(first)
    return list(Run.objects.filter(pk__in=run_ids, state__in=LIVE_STATES))


def _work_one(live: Sequence[Run]) -> bool:
    """Work one slice of the first run that can be claimed; false when none can be now."""
    runs.requeue_lost_runs()
    # The short ones first: they are done while somebody looks.
    for run in sorted(live, key=lambda run: (run.source in HEAVY_SOURCES, run.pk)):
        claim = runs.claim_run(run.pk)
        if claim is None:
            continue
        try:
            # No `up` runs: nobody would work on what a polite slice makes room for.
            work_slice(claim, is_polite=False)
        except BaseException:  # Ctrl-C or SIGTERM: what is committed stays, the rest is for later
            connection.close()  # it may have been stopped in the middle of a statement
            runs.yield_run(claim, is_waking=False)
            raise
        return True
    return False


@dataclass(slots=True)
class Progress:
    """How far runs are: `line` reads their rows, and tells the rate from what it saw before."""

    run_ids: Sequence[int] | None = None  # None: whatever is live
    _seen: dict[int, list[tuple[float, int]]] = field(default_factory=dict)

    def line(self) -> str:
        """One line about the live runs; empty when there are none."""
        live = Run.objects.filter(state__in=LIVE_STATES).select_related("scope__project")
        if self.run_ids is not None:
            live = live.filter(pk__in=self.run_ids)
        found = list(live.order_by("pk")[:6])
        has_several = len({run.scope_id for run in found}) > 1
        return " | ".join(self._part(run, is_named=has_several) for run in found)

    def _part(self, run: Run, *, is_named: bool) -> str:
        name = f"{run.scope.project.slug} {run.source}" if is_named else run.source
        if run.state == RunState.QUEUED and not run.done:
            again = f" (again after {run.error_class})" if run.attempts else ""
            return f"{name}: waiting{again}"
        total = f"/{run.total:,}" if run.total is not None else ""
        parts = [f"{name}: {run.done:,}{total} {UNITS[run.source]}"]
        if files := int(run.metrics.get("file_changes", 0)):
            parts.append(count_of(files, "file change"))
        if rate := self._rate(run):
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
            if run.total is not None and run.total > run.done:
                parts.append(f"{in_time((run.total - run.done) / rate)} left")
        gaps = GapRecord.objects.filter(scope_id=run.scope_id, source=run.source).count()
        return ", ".join([*parts, count_of(gaps, "gap")])

    def _rate(self, run: Run) -> float:
        """Steps a second over the last seconds."""
        now = time.monotonic()
        seen = self._seen.setdefault(run.pk, [])
        seen.append((now, run.done))
        while len(seen) > 2 and now - seen[0][0] > RATE_SECONDS:
            del seen[0]
        (since, before), passed = seen[0], now - seen[0][0]
        return max(0.0, (run.done - before) / passed) if passed > TICK_SECONDS and since else 0.0


@contextmanager
def _shown(progress: Progress) -> Iterator[None]:
    """Show progress from a thread and connection of its own: the slices keep this one busy."""
    stop = threading.Event()
    terminal = ProgressLine()

    def show() -> None:
        try:
            while not stop.wait(TICK_SECONDS):
                if line := progress.line():
                    terminal.show(line)
        except (OperationalError, InterfaceError):
            pass  # the work itself says what is wrong with the database
        finally:
            connection.close()

    thread = threading.Thread(target=show, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        terminal.clear()


def outcome(run: Run) -> dict[str, object]:
    """What came of a run, for --json and for the last line."""
    return {
        "id": f"R{run.pk}",
        "source": run.source,
        "state": run.state,
        "done": run.done,
        "total": run.total,
        "head": run.head_oid,
        "file_changes": int(run.metrics.get("file_changes", 0)),
        "error": run.error_text or run.error_class,
    }
