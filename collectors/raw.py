"""Parses the raw rows of `git diff-tree --stdin --raw -z` into RawChange values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from collectors.errors import GitFailedError
from collectors.values import Gap, GapReason, RawChange

RENAME_LIMIT = 1000  # git's own default, written out so that no version or setting changes it
MAX_ROWS = 100_000  # of one comparison; the rest is counted in a gap


class Comparison(NamedTuple):
    """A commit against one parent (None: a root against the empty tree)."""

    commit: str
    parent: str | None
    rows: list[RawChange]
    gaps: list[Gap]


class Pair(NamedTuple):
    commit: str
    parent: str | None
    parent_index: int


def read_comparison(pair: Pair, tokens: Iterator[bytes]) -> tuple[Comparison, bytes | None]:
    """The rows up to the next header, and that header (None at the end of the output)."""
    rows: list[RawChange] = []
    cut = 0
    header = None
    for token in tokens:
        if token[:1] != b":":
            header = token
            break
        path = _next(tokens)
        other_path = _next(tokens) if token.rsplit(b" ", 1)[1][:1] in {b"R", b"C"} else None
        if len(rows) < MAX_ROWS:
            rows.append(_parse_row(pair, token, path, other_path))
        else:
            cut += 1
    return Comparison(pair.commit, pair.parent, rows, _find_gaps(pair, rows, cut)), header


def _next(tokens: Iterator[bytes]) -> bytes:
    token = next(tokens, None)
    if token is None:
        raise GitFailedError("diff-tree", 0)
    return token


def _parse_row(pair: Pair, token: bytes, path: bytes, other_path: bytes | None) -> RawChange:
    old_mode, new_mode, old_oid, new_oid, status = token[1:].decode("ascii").split(" ")
    kind = status[0]
    return RawChange(
        commit_oid=pair.commit,
        parent_index=pair.parent_index,
        kind=kind,
        old_mode=int(old_mode, 8),
        new_mode=int(new_mode, 8),
        old_oid=old_oid if old_oid.strip("0") else None,
        new_oid=new_oid if new_oid.strip("0") else None,
        old_path=None if kind == "A" else path,
        new_path=None if kind == "D" else other_path or path,
        similarity=int(status[1:]) if len(status) > 1 else None,
    )


def _find_gaps(pair: Pair, rows: list[RawChange], cut: int) -> list[Gap]:
    gaps = []
    if cut:
        gaps.append(Gap(GapReason.BUDGET, commit_oid=pair.commit, detail=f"{cut} rows left out"))
    if len(rows) > RENAME_LIMIT:
        added = sum(row.kind == "A" for row in rows)
        deleted = sum(row.kind == "D" for row in rows)
        # git skips inexact renames when the matrix of candidates exceeds the limit squared.
        if added * deleted > RENAME_LIMIT**2:
            gaps.append(
                Gap(GapReason.RENAME_LIMIT, commit_oid=pair.commit, detail=f"{added} x {deleted}")
            )
    return gaps
