"""Shows one logical change for a question: its best file, its best hunks, and their verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import ContentChange, FileChange, GitCommit, LogicalChange
from codememory.paths import shown_path
from codememory.search.analyser import terms
from codememory.search.line_kinds import DEFINITION
from codememory.serving import served_rows
from codememory.verdict_of import judge_file_change
from codememory.verdicts import aggregate
from collectors.values import Gap, Hunk

FILES_READ = 25  # of a change, whose hunks are compared with the question
HUNKS_READ = 40  # of a file
HUNKS_SHOWN = 3
WINDOW_LINES = 2_000  # of a side, among which a snippet is chosen
HUNKS_DIFFER = "HUNKS_DIFFER"  # method of a change whose shown hunks are judged differently
SNIPPET_LINES, SNIPPET_CHARACTERS = 14, 1_200
ABOVE_BYTES = 20_000  # looked through for the definition that a hunk stands in


@dataclass(frozen=True, slots=True)
class _ScoredHunk:
    score: float
    row: FileChange
    number: int
    hunk: Hunk
    before: bytes
    after: bytes
    inside: str  # name of the definition that the hunk stands in, or empty


def change_results(
    checkout: Checkout,
    change_ids: Sequence[int],
    weights: Mapping[str, float],
    only_paths: frozenset[bytes] = frozenset(),
) -> dict[int, dict[str, Any]]:
    """Return the results of logical changes by id; `weights` are the question's terms.

    Files under `only_paths` (if any) are preferred. What is no longer stored or served is left
    out, and so are changes of nothing but files that are never read. Rows and blobs of all the
    changes are read together: a page costs a handful of statements.
    """
    changes = LogicalChange.objects.filter(scope_id=checkout.scope_id).in_bulk(change_ids)
    views = _views(checkout, changes)
    served = {pk: served_rows(checkout, view.rows) for pk, view in views.items()}
    best = {
        pk: _rank_files(rows, weights, only_paths)[:FILES_READ]
        for pk, rows in served.items()
        if any(row.path_class not in UNREAD_CLASSES for row in rows)
    }
    _load_contents(checkout, [row for rows in best.values() for row in rows])
    return {
        pk: _result(checkout, changes[pk], views[pk].commits, rows, weights, only_paths)
        for pk, rows in best.items()
    }


@dataclass(frozen=True, slots=True)
class _View:
    """A logical change as one of its commits shows it, and all commits that show it."""

    rows: list[FileChange]
    commits: list[str]


def _views(checkout: Checkout, change_ids: Collection[int]) -> dict[int, _View]:
    """Take each change from its earliest reachable non-merge commit."""
    rows = (
        FileChange.objects.filter(
            scope_id=checkout.scope_id, logical_change_id__in=list(change_ids)
        )
        .select_related("old_path", "new_path")
        .order_by("commit_id", "parent_index", "pk")
    )
    by_change: dict[int, list[FileChange]] = {}
    for row in rows:
        by_change.setdefault(row.logical_change_id or 0, []).append(row)
    commits = GitCommit.objects.only("oid", "parent_oids", "algorithm").in_bulk(
        {row.commit_id for row in rows}
    )
    for row in rows:
        row.commit = commits[row.commit_id]
    return {pk: _view(checkout, of_change) for pk, of_change in by_change.items()}


def _view(checkout: Checkout, rows: Sequence[FileChange]) -> _View:
    first = min(
        rows,
        key=lambda row: (
            not checkout.is_reachable(row.commit_id),
            len(row.commit.parent_oids) > 1,
            row.commit_id,
        ),
    )
    shown = (first.commit_id, first.parent_index)
    return _View(
        rows=[row for row in rows if (row.commit_id, row.parent_index) == shown],
        commits=list(dict.fromkeys(row.commit.oid for row in rows)),
    )


def _load_contents(checkout: Checkout, rows: Sequence[FileChange]) -> None:
    """Give the rows their content changes, and have Git read all blobs in one exchange."""
    ids = {row.content_change_id for row in rows if row.content_change_id is not None}
    contents = ContentChange.objects.filter(scope_id=checkout.scope_id).in_bulk(ids)
    for row in rows:
        if row.content_change_id is not None:
            row.content_change = contents[row.content_change_id]
    checkout.prefetch(oid for c in contents.values() for oid in (c.old_oid, c.new_oid))


def _result(
    checkout: Checkout,
    change: LogicalChange,
    commits: list[str],
    rows: Sequence[FileChange],
    weights: Mapping[str, float],
    only_paths: frozenset[bytes],
) -> dict[str, Any]:
    hunks = _best_hunks(checkout, rows, weights, only_paths)
    best = hunks[0].row if hunks else rows[0]
    shown = [h for h in hunks if h.row.pk == best.pk][:HUNKS_SHOWN]
    verdicts = judge_file_change(checkout, best, [h.number for h in shown] or None)
    whole = aggregate(verdicts)
    lead = next((v for v in verdicts if v.verdict == whole.verdict), None)
    return {
        "kind": "change",
        "id": f"L{change.pk}",
        "commit": best.commit.oid,
        "commits": commits,
        "old_path": shown_path(bytes(best.old_path.raw)) if best.old_path else None,
        "new_path": shown_path(bytes(best.new_path.raw)) if best.new_path else None,
        "title": _title(best, shown, change),
        "snippet": _snippet(shown, weights),
        "verdict": whole.verdict.value,
        "verdict_method": lead.method.value if lead else HUNKS_DIFFER,
        "verdict_path": shown_path((lead or verdicts[0]).path),
        "verdict_cites": lead.cites if lead else None,
        "verdict_counts": {kind.value: count for kind, count in whole.counts.items()},
        "standing": "observed",
        "rationale": "UNKNOWN",
        "evidence_ids": [i for h in shown for i in _ids(h)],
    }


def is_asked(path: bytes, asked: Collection[bytes]) -> bool:
    """Whether a path is one of those asked for, or lies below one."""
    return any(path == one or path.startswith(one.rstrip(b"/") + b"/") for one in asked)


def _path_of(row: FileChange) -> bytes:
    path = row.new_path or row.old_path
    return bytes(path.raw) if path else b""


def _worth(text: str, weights: Mapping[str, float]) -> float:
    """The weight of the question's distinct terms that a text holds."""
    return sum(weights.get(term, 0.0) for term in set(terms(text)))


def _rank_files(
    rows: Sequence[FileChange], weights: Mapping[str, float], only_paths: frozenset[bytes]
) -> list[FileChange]:
    def worth(row: FileChange) -> tuple[bool, bool, float]:
        path = _path_of(row)
        is_plain = row.path_class == "NORMAL"
        return (
            is_asked(path, only_paths),
            is_plain,
            _worth(path.decode("utf-8", "replace"), weights),
        )

    return sorted(rows, key=worth, reverse=True)


def _best_hunks(
    checkout: Checkout,
    rows: Sequence[FileChange],
    weights: Mapping[str, float],
    only_paths: frozenset[bytes],
) -> list[_ScoredHunk]:
    readable = [row for row in rows if row.content_change and row.path_class not in UNREAD_CLASSES]
    found = []
    for row in readable:
        found += _scored_hunks(checkout, row, weights)
    return sorted(
        found,
        key=lambda h: (not is_asked(_path_of(h.row), only_paths), -h.score, h.row.pk, h.number),
    )


def _scored_hunks(
    checkout: Checkout, row: FileChange, weights: Mapping[str, float]
) -> list[_ScoredHunk]:
    change = row.content_change
    assert change is not None
    old, new = checkout.content(change.old_oid), checkout.content(change.new_oid)
    hunks = change.hunks()
    path_worth = _worth(_path_of(row).decode("utf-8", "replace"), weights)
    class_share = 1.0 if row.path_class == "NORMAL" else 0.3
    found = []
    for number in list(row.hunk_numbers or range(1, len(hunks) + 1))[:HUNKS_READ]:
        hunk = hunks[number - 1]
        before = _side(checkout, change.old_oid, hunk.old_start, hunk.old_end)
        after = _side(checkout, change.new_oid, hunk.new_start, hunk.new_end)
        text = (before + b"\n" + after)[:8000].decode("utf-8", "replace")
        name = _enclosing(new if hunk.new_lines else old, hunk)
        score = _worth(text, weights) + 0.5 * path_worth + 0.5 * _worth(name, weights)
        found.append(_ScoredHunk(score * class_share, row, number, hunk, before, after, name))
    return found


def _side(checkout: Checkout, oid: str | None, start: int, end: int) -> bytes:
    """One side's redacted bytes; empty where there is no such side or it cannot be read."""
    if oid is None or start == end:
        return b""
    found = checkout.cut(oid, start, end)
    return b"" if isinstance(found, Gap) else found[0]


def _enclosing(content: bytes | None, hunk: Hunk) -> str:
    """The last definition named above a hunk's end, by its words alone; empty without one."""
    if content is None:
        return ""
    end = hunk.new_end if hunk.new_lines else hunk.old_end
    above = content[max(0, end - ABOVE_BYTES) : end].decode("utf-8", "replace")
    names = [match[1] for match in DEFINITION.finditer(above)]
    return names[-1] if names else ""


def _title(row: FileChange, shown: Sequence[_ScoredHunk], change: LogicalChange) -> str:
    """A title by rule: what was changed where, never what a message says."""
    verb = {"A": "added", "D": "deleted", "R": "renamed", "C": "copied", "T": "changed type"}
    path = shown_path(_path_of(row)) or ""
    names = dict.fromkeys(h.inside for h in shown if h.inside)
    what = f"{', '.join(names)} in {path}" if names and row.kind == "M" else path
    title = f"{what} {verb.get(row.kind, 'changed')} (+{change.added_lines} -{change.removed_lines}"
    return title + (f" in {change.files} files)" if change.files > 1 else ")")


def _snippet(shown: Sequence[_ScoredHunk], weights: Mapping[str, float]) -> str:
    """Both sides of the best hunk; of a long side the lines that say most of what was asked."""
    if not shown:
        return ""
    lines: list[str] = []
    sides = [("-", shown[0].before), ("+", shown[0].after)]
    most = SNIPPET_LINES if not all(side for _, side in sides) else SNIPPET_LINES // 2
    for sign, side in sides:
        text = side.decode("utf-8", "backslashreplace").splitlines()
        first = _best_window(text, weights, most)
        cut = text[first : first + most]
        before, after = first, len(text) - first - len(cut)
        lines += [f"  … {before} lines above"] if before else []
        lines += [f"{sign} {line}" for line in cut]
        lines += [f"  … {after} more lines"] if after else []
    return "\n".join(lines)[:SNIPPET_CHARACTERS]


def _best_window(lines: Sequence[str], weights: Mapping[str, float], most: int) -> int:
    """Return where the `most` lines begin that hold most of the question's weight."""
    if len(lines) <= most:
        return 0
    worth = [_worth(line, weights) for line in lines[:WINDOW_LINES]]
    starts = range(len(worth) - most + 1) if len(worth) >= most else range(1)
    return max(starts, key=lambda start: (sum(worth[start : start + most]), -start))


def _ids(h: _ScoredHunk) -> list[str]:
    """Both sides of a hunk that have lines, the after side first."""
    key = f"{h.row.content_change_id}.{h.number}"
    sides = [("A", h.hunk.new_lines), ("B", h.hunk.old_lines)]
    return [f"{side}{key}" for side, lines in sides if lines]
