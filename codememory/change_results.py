"""Shows one logical change for a question: its best file, its best hunks, and their verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codememory.change_views import is_asked, views_of
from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import FileChange, LogicalChange
from codememory.paths import shown_path
from codememory.plain_rows import rows_where
from codememory.search.line_kinds import DEFINITION
from codememory.verdict_of import file_cases, judge_cases
from codememory.verdicts import Verdict, aggregate
from codememory.worth import Worth
from collectors.values import Gap, Hunk, PathClass

HUNKS_READ = 40  # of a file
HUNKS_SHOWN = 3
TEXT_BYTES = 8_000  # of a hunk's two sides, compared with the question
BOUND_BYTES = 2 * TEXT_BYTES  # of each side: where secrets are cut out, more of it is compared
MARK = "REDACTED"  # stands in the place of a secret
ROUNDING = 1e-9
WINDOW_LINES = 2_000  # of a side, among which a snippet is chosen
HUNKS_DIFFER = "HUNKS_DIFFER"  # method of a change whose shown hunks are judged differently
SNIPPET_LINES, SNIPPET_CHARACTERS = 14, 1_200
# Looked through for the definition that a hunk stands in: most stand near.
ABOVE_BYTES = (1_000, 4_000, 20_000)


@dataclass(frozen=True, slots=True)
class _ScoredHunk:
    score: float
    row: FileChange
    number: int
    hunk: Hunk
    before: bytes
    after: bytes
    inside: str  # name of the definition that the hunk stands in, or empty


@dataclass(frozen=True, slots=True)
class _Place:
    """A hunk before its text is looked at: the most that it can score, and what of that is sure."""

    row: FileChange
    number: int
    hunk: Hunk
    inside: str
    beside: float  # for its path and the name of its definition
    share: float  # of a score that its kind of file keeps
    most: float


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
    worth = Worth(weights)
    same = "scope_id = %s AND id = ANY(%s)"
    rows = rows_where(LogicalChange, same, checkout.scope_id, list(change_ids))
    changes = {row.pk: row for row in rows}
    views = views_of(checkout, changes, worth, only_paths)
    contents = [row.content_change for view in views.values() for row in view.rows]
    checkout.prefetch(oid for one in contents if one for oid in (one.old_oid, one.new_oid))
    shown = {pk: _shown(checkout, view.rows, worth, only_paths) for pk, view in views.items()}
    cases = {pk: file_cases(checkout, one.row, one.numbers) for pk, one in shown.items()}
    checkout.expect_inverses(case for of_file in cases.values() for case in of_file)
    verdicts = {pk: judge_cases(checkout, of_file) for pk, of_file in cases.items()}
    return {
        pk: _result(changes[pk], views[pk].commits, one, verdicts[pk], worth)
        for pk, one in shown.items()
    }


@dataclass(frozen=True, slots=True)
class _Shown:
    """The file that a change is shown by, with its best hunks (none: it has no lines)."""

    row: FileChange
    hunks: list[_ScoredHunk]

    @property
    def numbers(self) -> list[int] | None:
        return [hunk.number for hunk in self.hunks] or None


def _shown(
    checkout: Checkout, rows: Sequence[FileChange], worth: Worth, only_paths: frozenset[bytes]
) -> _Shown:
    """Choose the file with the best hunk, and the best hunks of it."""
    readable = [row for row in rows if row.content_change and row.path_class not in UNREAD_CLASSES]
    places = [place for row in readable for place in _places(checkout, row, worth)]
    asked = [place for place in places if is_asked(_path_of(place.row), only_paths)]
    choice = _Choice(checkout, worth, asked or places)
    best = choice.best()
    return _Shown(best.row, choice.best_of(best.row)) if best else _Shown(rows[0], [])


def _result(
    change: LogicalChange,
    commits: list[str],
    judged: _Shown,
    verdicts: Sequence[Verdict],
    worth: Worth,
) -> dict[str, Any]:
    best, shown = judged.row, judged.hunks
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
        "snippet": _snippet(shown, worth),
        "verdict": whole.verdict.value,
        "verdict_method": lead.method.value if lead else HUNKS_DIFFER,
        "verdict_path": shown_path((lead or verdicts[0]).path),
        "verdict_cites": lead.cites if lead else None,
        "verdict_counts": {kind.value: count for kind, count in whole.counts.items()},
        "standing": "observed",
        "rationale": "UNKNOWN",
        "evidence_ids": [i for h in shown for i in _ids(h)],
    }


def _path_of(row: FileChange) -> bytes:
    path = row.new_path or row.old_path
    return bytes(path.raw) if path else b""


class _Choice:
    """Finds the best of hunks without looking at them all.

    A hunk's text is compared with the question without the secrets in it, for which the whole file
    is looked through. What it scores with them is soon known and is no less: the best in that order
    are compared, until the next cannot be better.
    """

    def __init__(self, checkout: Checkout, worth: Worth, places: Iterable[_Place]) -> None:
        self._checkout = checkout
        self._worth = worth
        self._places = sorted(places, key=lambda place: -place.most)
        self._scored: dict[tuple[int, int], _ScoredHunk] = {}

    def best(self) -> _ScoredHunk | None:
        return next(iter(self._first(self._places, 1)), None)

    def best_of(self, row: FileChange) -> list[_ScoredHunk]:
        of_row = [place for place in self._places if place.row.pk == row.pk]
        return self._first(of_row, HUNKS_SHOWN)

    def _first(self, places: Iterable[_Place], most: int) -> list[_ScoredHunk]:
        best: list[_ScoredHunk] = []
        for place in places:
            if len(best) == most and best[-1].score > place.most:
                break
            best.append(self._score(place))
            best.sort(key=lambda hunk: (-hunk.score, hunk.row.pk, hunk.number))
            del best[most:]
        return best

    def _score(self, place: _Place) -> _ScoredHunk:
        key = (place.row.pk, place.number)
        if key not in self._scored:
            self._scored[key] = _scored(self._checkout, place, self._worth)
        return self._scored[key]


def _places(checkout: Checkout, row: FileChange, worth: Worth) -> list[_Place]:
    """The hunks of a file with the most that each can score."""
    change = row.content_change
    assert change is not None
    old, new = checkout.content(change.old_oid), checkout.content(change.new_oid)
    hunks = change.hunks()
    path_worth = worth.of(_path_of(row).decode("utf-8", "replace"))
    mark_worth = worth.of(MARK)
    found = []
    for number in list(row.hunk_numbers or range(1, len(hunks) + 1))[:HUNKS_READ]:
        hunk = hunks[number - 1]
        name = _enclosing(new if hunk.new_lines else old, hunk)
        beside = 0.5 * path_worth + 0.5 * worth.of(name)
        before = (old or b"")[hunk.old_start : min(hunk.old_end, hunk.old_start + BOUND_BYTES)]
        after = (new or b"")[hunk.new_start : min(hunk.new_end, hunk.new_start + BOUND_BYTES)]
        text = (before + b"\n" + after).decode("utf-8", "replace")
        share = 1.0 if row.path_class == PathClass.NORMAL else 0.3
        most = (worth.of(text) + mark_worth + beside) * share
        found.append(_Place(row, number, hunk, name, beside, share, most + ROUNDING))
    return found


def _scored(checkout: Checkout, place: _Place, worth: Worth) -> _ScoredHunk:
    change, hunk = place.row.content_change, place.hunk
    assert change is not None
    before = _side(checkout, change.old_oid, hunk.old_start, hunk.old_end)
    after = _side(checkout, change.new_oid, hunk.new_start, hunk.new_end)
    text = (before + b"\n" + after)[:TEXT_BYTES].decode("utf-8", "replace")
    score = (worth.of(text) + place.beside) * place.share
    return _ScoredHunk(score, place.row, place.number, hunk, before, after, place.inside)


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
    for reach in ABOVE_BYTES:
        start = max(0, end - reach)
        if start and reach != ABOVE_BYTES[-1]:
            start = content.find(b"\n", start, end) + 1 or end
        above = content[start:end].decode("utf-8", "replace")
        names = [match[1] for match in DEFINITION.finditer(above)]
        if names or start == 0:
            return names[-1] if names else ""
    return ""


def _title(row: FileChange, shown: Sequence[_ScoredHunk], change: LogicalChange) -> str:
    """A title by rule: what was changed where, never what a message says."""
    verb = {"A": "added", "D": "deleted", "R": "renamed", "C": "copied", "T": "changed type"}
    path = shown_path(_path_of(row)) or ""
    names = dict.fromkeys(h.inside for h in shown if h.inside)
    what = f"{', '.join(names)} in {path}" if names and row.kind == "M" else path
    title = f"{what} {verb.get(row.kind, 'changed')} (+{change.added_lines} -{change.removed_lines}"
    return title + (f" in {change.files} files)" if change.files > 1 else ")")


def _snippet(shown: Sequence[_ScoredHunk], worth: Worth) -> str:
    """Both sides of the best hunk; of a long side the lines that say most of what was asked."""
    if not shown:
        return ""
    lines: list[str] = []
    sides = [("-", shown[0].before), ("+", shown[0].after)]
    most = SNIPPET_LINES if not all(side for _, side in sides) else SNIPPET_LINES // 2
    for sign, side in sides:
        text = side.decode("utf-8", "backslashreplace").splitlines()
        first = _best_window(text, worth, most)
        cut = text[first : first + most]
        before, after = first, len(text) - first - len(cut)
        lines += [f"  … {before} lines above"] if before else []
        lines += [f"{sign} {line}" for line in cut]
        lines += [f"  … {after} more lines"] if after else []
    return "\n".join(lines)[:SNIPPET_CHARACTERS]


def _best_window(lines: Sequence[str], worth: Worth, most: int) -> int:
    """Return where the `most` lines begin that hold most of the question's weight."""
    if len(lines) <= most:
        return 0
    said = [worth.of(line) for line in lines[:WINDOW_LINES]]
    starts = range(len(said) - most + 1) if len(said) >= most else range(1)
    return max(starts, key=lambda start: (sum(said[start : start + most]), -start))


def _ids(h: _ScoredHunk) -> list[str]:
    """Both sides of a hunk that have lines, the after side first."""
    key = f"{h.row.content_change_id}.{h.number}"
    sides = [("A", h.hunk.new_lines), ("B", h.hunk.old_lines)]
    return [f"{side}{key}" for side, lines in sides if lines]
