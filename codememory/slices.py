"""Works off one slice of a claimed run: batches under its fence for about twenty seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType

from django.db import connection

from codememory import runs
from codememory.collect_documents import document_batches
from codememory.collect_history import history_batches
from codememory.errors import LeaseLostError, RunCancelledError
from codememory.models import Run, SourceKind
from codememory.runs import Claim

logger = logging.getLogger(__name__)

# A slice opens its repository anew: it works at least so long before another project's turn.
POLITE_SECONDS = 5.0

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
        try:
            while not self._stop.wait(runs.LEASE.total_seconds() / 3):
                if not runs.extend_lease(self._claim):
                    return  # lost or cancelled: the next fenced batch says so
        except Exception:
            logger.warning("heartbeat of run %s ended early", self._claim.run_id, exc_info=True)
        finally:
            connection.close()


def work_slice(claim: Claim, seconds: float = runs.SLICE_SECONDS) -> None:
    """Work until the run ends, the slice is over, or another project waits; record the outcome."""
    started = time.monotonic()
    deadline = started + seconds
    polite_at = started + min(seconds, POLITE_SECONDS)
    source = Run.objects.values_list("source", flat=True).get(pk=claim.run_id)
    try:
        with Heartbeat(claim):
            for _ in BATCHES[source](claim):
                now = time.monotonic()
                if now > deadline or (now > polite_at and runs.is_another_project_waiting(claim)):
                    runs.yield_run(claim)
                    return
    except LeaseLostError:
        logger.warning("run %s: lease lost, nothing more is written", claim.run_id)
    except RunCancelledError:
        runs.cancel_claimed(claim)
    except Exception as error:
        logger.warning("run %s failed", claim.run_id, exc_info=True)
        runs.fail_run(claim, error)
