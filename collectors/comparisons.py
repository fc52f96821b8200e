"""Compares commits with their parents: raw rows of one `git diff-tree` for a whole page of them.

Fed a commit together with a parent, git prints one header for each line it was fed, in order, so
the parent of every row is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from collectors.errors import GitFailedError
from collectors.process import Child, checked_oid
from collectors.trees import MAX_ROWS
from collectors.values import Gap, GapReason, RawChange

Start = Callable[[Sequence[str]], Child]

RENAME_LIMIT = 1000  # git's own default, written out so that no version or setting changes it


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


def compare_pairs(
    start: Start,
    pairs: Iterable[tuple[str, str | None]],
    boundary: Collection[str],
    prepared: Mapping[tuple[str, int], Comparison],
) -> Iterator[Comparison]:
    """One comparison for each pair, in order. Commits of `boundary` have no parents to compare.

    `prepared` holds, by commit and parent index, those that git must not be asked for.
    """
    waiting = _number(pairs)
    while waiting:
        done = 0
        fed = list(
            takewhile(
                lambda pair: (
                    pair.commit not in boundary and (pair.commit, pair.parent_index) not in prepared
                ),
                waiting,
            )
        )
        try:
            for comparison in _compare(start, fed):
                done += 1
                yield comparison
        except GitFailedError as error:
            if error.retryable:
                raise
            yield _compare_alone(start, fed[done])
            done += 1
        else:
            if done < len(waiting):
                next_one = waiting[done]
                own = prepared.get((next_one.commit, next_one.parent_index))
                yield own or _uncompared(next_one, GapReason.SHALLOW_BOUNDARY)
                done += 1
        del waiting[:done]


def _number(pairs: Iterable[tuple[str, str | None]]) -> list[Pair]:
    numbered: list[Pair] = []
    for commit, parent in pairs:
        index = -1 if parent is None else 0
        if parent is not None and numbered and numbered[-1].commit == commit:
            index = numbered[-1].parent_index + 1
        numbered.append(Pair(commit, parent, index))
    return numbered


def _compare(start: Start, pairs: list[Pair], renames: str = "-M") -> Iterator[Comparison]:
    if not pairs:
        return
    command = [
        "diff-tree", "--stdin", "--always", "-r", "--raw", "-z", "--root", renames,
        f"-l{RENAME_LIMIT}", "--no-abbrev", "--no-ext-diff", "--no-textconv",
        "--ignore-submodules=none", "--no-color",
    ]  # fmt: skip
    with start(command) as child:
        child.write("".join(map(_as_line, pairs)).encode("ascii"))
        tokens = child.tokens(b"\0")
        header = next(tokens, None)
        for pair in pairs:
            if header is None or header.decode("ascii", "replace") != pair.commit:
                raise GitFailedError("diff-tree", 0)
            comparison, header = _read_comparison(pair, tokens)
            yield comparison


def _as_line(pair: Pair) -> str:
    oids = [pair.commit] if pair.parent is None else [pair.commit, pair.parent]
    return " ".join(map(checked_oid, oids)) + "\n"


def _compare_alone(start: Start, pair: Pair) -> Comparison:
    """The pair that stopped git, or the one before it, whose rows were not yet known as all.

    Renames read blobs, so one missing blob can stop it: then without renames.
    """
    for renames, detail in (("-M", ""), ("--no-renames", "renames not detected")):
        try:
            (comparison,) = _compare(start, [pair], renames)
        except GitFailedError as error:
            if error.retryable:
                raise
        else:
            gaps = [Gap(GapReason.MISSING_OBJECT, commit_oid=pair.commit, detail=detail)]
            return comparison._replace(gaps=comparison.gaps + (gaps if detail else []))
    return _uncompared(pair, GapReason.MISSING_OBJECT)


def _uncompared(pair: Pair, reason: GapReason) -> Comparison:
    gap = Gap(reason, oid=pair.parent, commit_oid=pair.commit)
    return Comparison(pair.commit, pair.parent, [], [gap])


def _read_comparison(pair: Pair, tokens: Iterator[bytes]) -> tuple[Comparison, bytes | None]:
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
