"""Analyses pages of history in a process of its own, while the page before is being stored.

That process holds nothing but what it is given, and is killed when a content takes too long.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from types import TracebackType
from typing import Any, Self

from codememory.logical_changes import Comparison, group_comparisons, pair_of
from codememory.page_analysis import ChangedRow, analyse
from codememory.search.change_fields import ChangeTerms
from collectors.history import HistoryPage, Known, end_page
from collectors.pair_work import Pair, Work
from collectors.parse_pool import Crashed, Deadline, ParsePool
from collectors.policy import Policy
from collectors.values import ContentChange, ContentClass, Gap, GapReason, PathClass

WORK_SECONDS = 60.0  # of processor time: for eight megabytes, usually well under one
PAIR_SECONDS = 10.0
_FUNCTION = f"{analyse.__module__}:{analyse.__name__}"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Started:
    """A page whose first part is being analysed."""

    page: HistoryPage
    work: Work
    comparisons: list[Comparison]  # whose terms are asked for
    answer: Future[Any]


class Analyst:
    """Use as a context manager: one process, and a thread that waits for it."""

    def __init__(self, policy: Policy) -> None:
        # What comparing asks for, and nothing else: no key, and no paths classified so far.
        self._policy = Policy(max_patch_bytes=policy.max_patch_bytes, redaction_key=b"")
        self._pool = ParsePool()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")

    def __enter__(self) -> Self:
        self._pool.warm(_FUNCTION)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._pool.close()

    def start(self, page: HistoryPage) -> Started:
        """Read the contents of a page's first part and hand them over; returns at once."""
        work = page.take_work()
        at_hand = {pair for pair, _ in work.pairs}
        at_hand |= {(change.old_oid, change.new_oid) for change in page.content_changes}
        comparisons, changes = [], []
        for comparison in _own_changes(page):
            rows = [
                ChangedRow(row.old_path, row.new_path, pair_of(row), page.path_class(row))
                for row in comparison.rows
            ]
            unread = {PathClass.EXCLUDED, PathClass.PROTECTED}
            if all(row.path_class in unread or row.pair in at_hand for row in rows):
                comparisons.append(comparison)
                changes.append(rows)
        answer = self._thread.submit(self._ask, work, WORK_SECONDS, changes)
        return Started(page, work, comparisons, answer)

    def finish(self, started: Started) -> dict[tuple[str, int], ChangeTerms]:
        """Complete the page; return the terms of changes by commit and parent index.

        A change is missing that needs content of an earlier page, or that is too large.
        """
        page = started.page
        found = started.answer.result()
        terms: dict[tuple[str, int], ChangeTerms] = {}
        if isinstance(found, Deadline | Crashed):
            page.add(self._one_by_one(started.work))
        else:
            page.add(found[0])
            for comparison, parts in zip(started.comparisons, found[1], strict=True):
                terms[comparison.commit_oid, comparison.parent_index] = ChangeTerms(*parts)
        while page.waiting:
            work = page.take_work()
            found = self._ask(work, WORK_SECONDS)
            is_lost = isinstance(found, Deadline | Crashed)
            page.add(self._one_by_one(work) if is_lost else found[0])
        end_page(page)
        return terms

    def _ask(self, work: Work, seconds: float, changes: Sequence[Any] = ()) -> Any:
        return self._pool.submit(_FUNCTION, b"", seconds, work, self._policy, changes)

    def _one_by_one(self, work: Work) -> list[ContentChange]:
        """Find the content that stopped the whole part; it stays uncompared, with its gap."""
        found: list[ContentChange] = []
        for pair, by_mode in work.pairs:
            blobs = {oid: work.blobs[oid] for oid in pair if oid is not None}
            answer = self._ask(Work(((pair, by_mode),), blobs), PAIR_SECONDS)
            if isinstance(answer, Deadline | Crashed):
                log.warning("a content was not compared: %s", answer)
                found.append(_uncompared(pair, blobs, answer))
            else:
                found += answer[0]
        return found


def _uncompared(pair: Pair, blobs: dict[str, bytes], why: Deadline | Crashed) -> ContentChange:
    is_late = isinstance(why, Deadline)
    detail = f"{why.seconds:g} s" if isinstance(why, Deadline) else why.detail
    reason = GapReason.DEADLINE if is_late else GapReason.PARSER_LIMIT
    old, new = (None if oid is None else len(blobs[oid]) for oid in pair)
    gap = Gap(reason, oid=pair[1] or pair[0], detail=detail)
    return ContentChange(*pair, ContentClass.TEXT, old, new, hunks_cut=1, gaps=(gap,))


def _own_changes(page: HistoryPage) -> list[Comparison]:
    """The comparisons of commits with at most one parent: they own all their rows."""
    merges = {commit.oid for commit in page.commits if len(commit.parents) > 1}
    return [c for c in group_comparisons(page.changes) if c.commit_oid not in merges]


AnalysedPage = tuple[HistoryPage, dict[tuple[str, int], ChangeTerms], dict[str, float]]


def analysed_pages(
    listing: Iterator[str],
    size: int,
    policy: Policy,
    known: Known,
    begin: Callable[[list[str], Known], HistoryPage],
) -> Iterator[AnalysedPage]:
    """Yield pages ready to be stored, each while the next one is being analysed.

    With each come the terms that are found (see `Analyst.finish`) and the seconds it took.
    """
    ahead: Started | None = None
    in_flight: set[Pair] = set()
    with Analyst(policy) as analyst:
        while oids := list(islice(listing, size)):
            began = time.monotonic()
            page = begin(oids, _also(known, in_flight))
            listing = chain(oids[page.listed :], listing)
            in_flight = set(page.waiting)
            read_at = time.monotonic()
            terms = analyst.finish(ahead) if ahead else {}
            seconds = {"seconds_read": read_at - began, "seconds_wait": time.monotonic() - read_at}
            done, ahead = ahead, analyst.start(page)
            if done:
                yield done.page, terms, seconds
        if ahead:
            began = time.monotonic()
            terms = analyst.finish(ahead)
            yield ahead.page, terms, {"seconds_wait": time.monotonic() - began}


def _also(known: Known, in_flight: set[Pair]) -> Known:
    """What is stored, and what is about to be."""
    return lambda asked: known(asked) | in_flight.intersection(asked)
