"""The history of one subject as its page shows it, without what the policy keeps from being shown.

The answer is `codememory.timeline.history_of`, the same that agents get.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.errors import BadCursorError
from codememory.models import OriginState
from codememory.paths import raw_path
from codememory.serving import is_archived
from codememory.timeline import history_of
from review.explorer.dates import year_of
from review.explorer.titles import KINDS, QUIET, SYMBOL_KINDS

SYMBOLS = 8  # of an event that are named
ORIGINS = 4
SAME_CODE = {"FORMATTING_ONLY": "formatting only", "COMMENT_ONLY": "comments only"}
COUNTED = {
    "ADDED": "added",
    "REMOVED": "removed",
    "MODIFIED": "changed in body",
    "SIGNATURE": "changed in signature",
    "RENAMED": "renamed",
    "MOVED": "moved",
    "FORMATTING_ONLY": "changed in formatting",
    "COMMENT_ONLY": "changed in comments",
}


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a file or symbol; `found` is what an agent is told of it."""

    found: dict[str, Any]
    what: str
    symbols: list[dict[str, Any]]
    more_symbols: int
    is_shown: bool  # its content may be shown

    @property
    def other_commits(self) -> int:
        return int(self.found["commit_count"]) - 1

    @property
    def difference(self) -> str:
        """That code is the same in the whole file, where that is known and not said already."""
        words = SAME_CODE.get(self.found["difference"], "") if self.is_shown else ""
        return "" if words == self.what else words

    @property
    def origins(self) -> list[dict[str, Any]]:
        """Where the file came from, or may have; the likeliest first."""
        return list(self.found["origins"][:ORIGINS])

    @property
    def more_origins(self) -> int:
        return max(0, len(self.found["origins"]) - ORIGINS)

    @property
    def is_doubtful(self) -> bool:
        return any(one["state"] == OriginState.OPEN for one in self.found["origins"])


@dataclass(frozen=True, slots=True)
class SubjectPage:
    """The answer, its events by year, and how many of them only show that they happened."""

    found: dict[str, Any]
    years: list[tuple[int, list[Event]]]
    withheld: int
    most: int  # changes of the author with most of them
    is_symbol: bool

    @property
    def name(self) -> str:
        subject = self.found["subject"]
        return subject["symbol"] or subject["path"] if subject else ""

    @property
    def paths(self) -> list[str]:
        return [one["path"] for one in self.found["names"] if one["path"]]

    @property
    def symbols(self) -> list[str]:
        return [one["symbol"] for one in self.found["names"] if one["symbol"]]


def subject_page(
    checkout: Checkout, subject: str, *, limit: int, cursor: str | None
) -> SubjectPage:
    """Return the page; a symbol all of whose code is withheld is absent."""
    try:
        found = history_of(checkout.project, subject, limit=limit, cursor=cursor)
    except BadCursorError:
        found = history_of(checkout.project, subject, limit=limit)
    found["choices"] = [one for one in found["choices"] if _serves(checkout, [one["path"]])]
    is_symbol = bool(found["subject"] and found["subject"]["symbol"])
    if is_symbol and not _serves(checkout, [found["subject"]["path"]]):
        found = {**found, "subject": None, "events": [], "choices": [], "next": None}
    found["co_changed"] = [
        one
        for one in found["co_changed"]
        if not one.get("symbol") or _serves(checkout, [one["path"]])
    ]
    events = [_event(checkout, one, is_symbol=is_symbol) for one in found["events"]]
    years = groupby(events, key=lambda event: year_of(event.found["author_time"]))
    return SubjectPage(
        found=found,
        years=[(year, list(group)) for year, group in years],
        withheld=sum(not event.is_shown for event in events),
        most=max((author["changes"] for author in found["authors"]), default=0),
        is_symbol=is_symbol,
    )


def _serves(checkout: Checkout, paths: Iterable[str | None]) -> bool:
    if is_archived(checkout, "git"):
        return False
    classes = [checkout.policy.classify(raw_path(path))[0] for path in paths if path]
    return not any(path_class in UNREAD_CLASSES for path_class in classes)


def _event(checkout: Checkout, found: dict[str, Any], *, is_symbol: bool) -> Event:
    is_shown = _serves(checkout, [found["old_path"], found["new_path"]])
    symbols = found["symbols"][:SYMBOLS] if is_shown else []
    return Event(
        found,
        _what(found, found["symbols"] if is_shown else [], is_symbol=is_symbol),
        symbols,
        found["symbol_count"] - len(symbols) if is_shown else 0,
        is_shown,
    )


def _what(found: dict[str, Any], symbols: list[dict[str, Any]], *, is_symbol: bool) -> str:
    """What happened, in a few words: by rule, never by what a message says."""
    if is_symbol and symbols:
        words = (SYMBOL_KINDS.get(one["kind"], "changed") for one in symbols)
        return ", ".join(dict.fromkeys(words))
    if found["kind"] == "M":
        if symbols and (same := SAME_CODE.get(found["difference"])):
            return same
        counts = Counter(one["kind"] for one in symbols)
        if counts and counts.keys() <= QUIET:
            return "formatting and comments only"
        return ", ".join(_counted(counts)) or "changed"
    return KINDS.get(found["kind"], "changed")


def _counted(counts: Counter[str]) -> Iterable[str]:
    """How many symbols each thing happened to, the first with its noun."""
    for number, (kind, count) in enumerate(counts.most_common()):
        noun = "" if number else " symbol" if count == 1 else " symbols"
        yield f"{count}{noun} {COUNTED.get(kind, 'changed')}"
