"""Reads symbols of stored content changes in fenced batches: beside history first, then the rest.

While history is read, a batch is written when it is ready and never waited for, so that both cores
work. What nothing shows on a path that is read is left until all of history is there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from django.db.models import Max, Min

from codememory import runs
from codememory.facts_progress import add_metrics, position_of, set_position
from codememory.models import ContentChange, FactsPhase, FactsProgress, FileChange, Run
from codememory.runs import Claim
from codememory.symbol_facts import (
    ChangedContent,
    StartedContents,
    finish_contents,
    is_read,
    left_behind,
    next_contents,
    start_contents,
)
from codememory.symbol_lanes import LANES, SymbolLanes
from codememory.symbol_rows import SymbolNames, store_facts
from collectors.objects import ObjectReader
from collectors.policy import Policy

LEAST_BESIDE = 100  # content changes worth a batch while more are coming


class SymbolBatches:
    """The symbols of one run. Use as a context manager."""

    def __init__(
        self, claim: Claim, run: Run, reader: ObjectReader, policy: Policy, *, is_beside: bool
    ) -> None:
        """`is_beside`: history is read meanwhile, which needs a process and memory as well."""
        self._claim = claim
        self._run = run
        self._lanes = SymbolLanes(reader, policy.max_blob_bytes, 1 if is_beside else LANES)
        self._names = SymbolNames(run.scope_id)
        self._counted = (0, 0, 0)
        self._phase = ""  # that the run shows; empty: of history, which goes on meanwhile
        self._started: StartedContents | None = None
        self._after = self._end = 0  # the position in the database; the one after what is started

    def __enter__(self) -> Self:
        self._lanes.__enter__()
        self._after = self._end = position_of(self._run.scope_id, FactsPhase.SYMBOLS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lanes.__exit__(kind, error, trace)

    def go_on(self) -> bool:
        """Write what is ready and have more read, without waiting; whether anything was written."""
        is_written = False
        if self._started is not None:
            if not self._lanes.is_ready(self._started.started):
                return False
            self._store(None)
            is_written = True
        contents = next_contents(self._run.scope_id, self._after)
        if len(contents) >= LEAST_BESIDE:
            self._end = contents[-1].row_id
            self._start([one for one in contents if is_read(one)])
        return is_written

    def rest(self) -> Iterator[None]:
        """Read everything that is left; yield after each batch."""
        self._phase = FactsPhase.SYMBOLS.value
        scope_id = self._run.scope_id
        if self._started is not None:
            self._store(None)
            yield
        while missed := left_behind(scope_id, self._after):
            self._start(missed)
            self._store(None, revived=[one.row_id for one in missed])
            yield
        newest = ContentChange.objects.filter(scope_id=scope_id).aggregate(last=Max("pk"))
        last = newest["last"] or 0
        contents = next_contents(scope_id, self._after) if self._after < last else []
        self._start(contents)
        while self._after < last:
            self._end = contents[-1].row_id if contents else last
            contents = next_contents(scope_id, self._end) if self._end < last else []
            self._store(contents)
            yield

    def _start(self, contents: Sequence[ChangedContent]) -> None:
        self._started = start_contents(self._run.scope_id, contents, self._lanes)

    def _store(self, ahead: Sequence[ChangedContent] | None, revived: Sequence[int] = ()) -> None:
        """Write the batch's facts while the one ahead, if there is one, is being read."""
        assert self._started is not None
        began = time.monotonic()
        read = finish_contents(self._started, self._lanes)
        measured = self._counts()
        self._started = None
        if ahead is not None:
            self._start(ahead)
        read_at = time.monotonic()
        scope_id = self._run.scope_id
        with runs.fenced(self._claim) as row:
            counts = store_facts(row, read, self._names)
            set_position(scope_id, FactsPhase.SYMBOLS, self._end)
            if revived:
                _go_back(scope_id, revived)
            row.phase = self._phase or row.phase
            measured["seconds_symbols"] = read_at - began
            measured["seconds_symbol_rows"] = time.monotonic() - read_at
            row.metrics = add_metrics(row.metrics, counts, measured)
        self._after = self._end

    def _counts(self) -> dict[str, float]:
        """What was done since it was last asked."""
        before = self._counted
        self._counted = self._lanes.counts
        names = ("blobs_parsed", "bytes_parsed", "table_hits")
        return {n: b - a for n, a, b in zip(names, before, self._counted, strict=True)}


def _go_back(scope_id: int, content_ids: Sequence[int]) -> None:
    """Let reversals be sought again from where content became readable only now."""
    rows = FileChange.objects.filter(scope_id=scope_id, content_change_id__in=content_ids)
    first = rows.aggregate(first=Min("pk"))["first"]
    progress = FactsProgress.objects.filter(scope_id=scope_id, phase=FactsPhase.REVERSALS)
    if first is not None:
        progress.filter(after_id__gte=first).update(after_id=first - 1)
