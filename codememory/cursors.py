"""Continuation cursors that name a row and the question they belong to: no other takes them."""

from __future__ import annotations

import hashlib
import re

from codememory.errors import BadCursorError

_CURSOR = re.compile(r"([0-9]{1,18})\.([0-9a-f]{16})", re.ASCII)


def cursor_after(row_id: int, *question: object) -> str:
    """Name the last row of a page. `question`: the project's row and all that chose the rows."""
    return f"{row_id}.{_digest(question)}"


def row_of(cursor: str, *question: object) -> int:
    """The row that a cursor of this question names; raises BadCursorError for any other."""
    found = _CURSOR.fullmatch(cursor)
    if found is None or found[2] != _digest(question):
        raise BadCursorError
    return int(found[1])


def _digest(question: tuple[object, ...]) -> str:
    return hashlib.sha256(repr(question).encode("utf-8", "surrogatepass")).hexdigest()[:16]
