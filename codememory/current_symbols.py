"""Symbols for the verdict rules: those a stored hunk changed, and those of files as they are now.

Files are parsed in a process that can be killed, a few for one question; what they hold is kept.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

from codememory.models import ContentChange, SymbolChange
from codememory.verdicts import ChangedSymbol, CurrentSymbol, HunkCase
from collectors.parse_pool import ParsePool
from collectors.symbol_languages import language_of
from collectors.symbol_values import SymbolChangeKind

PARSE_SECONDS = 2.0  # of processor time, for one file
PARSED_BYTES = 4 << 20  # for one question
TABLES_KEPT = 128
_UNCHANGED = (
    SymbolChangeKind.FORMATTING_ONLY,
    SymbolChangeKind.COMMENT_ONLY,
    SymbolChangeKind.RENAMED,
)
_Table = tuple[CurrentSymbol, ...]
_kept: OrderedDict[tuple[bytes, str], _Table | None] = OrderedDict()
_kept_lock = Lock()


class CurrentSymbols:
    """Symbols of the files that one question is about; `parser` is the caller's to close."""

    def __init__(self, parser: ParsePool) -> None:
        self._parser = parser
        self._left = PARSED_BYTES

    def of(self, path: bytes, content: bytes) -> _Table | None:
        """The symbols of a file, in order; None without a grammar, or above a limit."""
        language = language_of(path)
        if language is None:
            return None
        key = hashlib.sha256(content).digest(), language.name
        with _kept_lock:
            if key in _kept:
                _kept.move_to_end(key)
                return _kept[key]
        if len(content) > self._left:
            return None
        self._left -= len(content)
        found = self._parser.submit(
            "collectors.symbols:bodies_of", content, PARSE_SECONDS, language.name
        )
        table = tuple(CurrentSymbol(*one) for one in found) if isinstance(found, list) else None
        with _kept_lock:
            _kept[key] = table
            while len(_kept) > TABLES_KEPT:
                _kept.popitem(last=False)
        return table


def changed_symbols(scope_id: int, case: HunkCase) -> list[ChangedSymbol]:
    """The symbols of the after image that the case's hunk touches, as they were stored."""
    hunk = case.hunk
    contents = ContentChange.objects.filter(
        scope_id=scope_id, old_oid=case.old_oid, new_oid=case.new_oid
    )
    content = contents.first()
    if content is None or hunk is None:
        return []
    number = next((n for n, one in enumerate(content.hunks(), 1) if one == hunk), None)
    if number is None:
        return []
    rows = SymbolChange.objects.filter(
        scope_id=scope_id,
        content_change_id=content.pk,
        hunk_numbers__contains=[number],
        new_first_line__isnull=False,
    ).exclude(kind__in=[kind.value for kind in _UNCHANGED])
    columns = "name__qualified", "old_body", "new_body", "new_first_line", "new_last_line"
    return [ChangedSymbol(*row) for row in rows.order_by("position").values_list(*columns)]
