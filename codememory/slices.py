"""Works off one slice of a claimed run: batches under its fence for about twenty seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType

from django.db import Error, InterfaceError, OperationalError, connection

from codememory import database, failpoints, runs
from codememory.collect_documents import document_batches
from codememory.collect_history import history_batches
from codememory.errors import LeaseLostError, RunCancelledError
from codememory.models import Run, SourceKind
from codememory.runs import Claim

logger = logging.getLogger(__name__)

# A slice opens its repository anew: it works at least so long before another project's turn.
POLITE_SECONDS = 5.0
RETRY_SECONDS = 2.0  # after a heartbeat that the database did not take

# A source's batches: each step commits one batch under the fence; it ends when the run is done.
BATCHES: dict[str, Callable[[Claim], Iterator[None]]] = {
    SourceKind.GIT: history_batches,
    SourceKind.DOCUMENTS: document_batches,
}


class Heartbeat:
    """Extends the lease from a thread and connection of its own while a batch is being read."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        pause = runs.LEASE.total_seconds() / 3
        try:
            while not self._stop.wait(pause):
                try:
                    if not runs.extend_lease(self._claim):
                        return  # lost or cancelled: the next fenced batch says so
                    pause = runs.LEASE.total_seconds() / 3
                except Error as error:
                    # The database may come back in time: only it can say that the lease is gone.
                    name = type(error).__name__
                    logger.warning("heartbeat of run %s: %s", self._claim.run_id, name)
                    connection.close()
                    pause = RETRY_SECONDS
        finally:
            connection.close()


def work_slice(
    claim: Claim, seconds: float = runs.SLICE_SECONDS, *, is_polite: bool = True
) -> None:
    """Work until the run ends or the slice is over; record the outcome.

    A polite one also ends where another project waits, and wakes it: somebody else works on it.
    """
    failpoints.reach("claimed", claim.run_id)
    started = time.monotonic()
    deadline = started + seconds
    polite_at = started + min(seconds, POLITE_SECONDS)
    try:
        source = Run.objects.values_list("source", flat=True).filter(pk=claim.run_id).first()
        if source is None:
            logger.warning("run %s is gone with its project", claim.run_id)
            return
        with Heartbeat(claim):
            for _ in BATCHES[source](claim):
                now = time.monotonic()
                is_waited_for = is_polite and now > polite_at
                if now > deadline or (is_waited_for and runs.is_another_project_waiting(claim)):
                    runs.yield_run(claim, is_waking=is_polite)
                    return
    except LeaseLostError:
        logger.warning("run %s: lease lost, nothing more is written", claim.run_id)
    except RunCancelledError:
        runs.cancel_claimed(claim)
    except Exception as error:
        logger.warning("run %s failed", claim.run_id, exc_info=True)
        _record(claim, error, is_alone=not is_polite)
    failpoints.reach("ended", claim.run_id)


def _record(claim: Claim, error: Exception, *, is_alone: bool) -> None:
    """Record the failure, also while the database is restarted: until the lease has passed.

    Later it would be of no use, for the run is taken back then by whoever sweeps. Where no
    supervisor runs, the database of our own is started again here.
    """
    until = time.monotonic() + runs.LEASE.total_seconds()
    while True:
        try:
            runs.fail_run(claim, error)
        except (OperationalError, InterfaceError) as gone:
            if connection.in_atomic_block or time.monotonic() > until:
                raise
            logger.warning("run %s waits for the database: %s", claim.run_id, type(gone).__name__)
            connection.close()
            if not (is_alone and database.revive()):
                time.sleep(RETRY_SECONDS)
        else:
            return
