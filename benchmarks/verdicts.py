"""How often the verdict rules agree with `git blame`, and how often the two controls fool them.

    python benchmarks/verdicts.py REPO [--sample 440] [--seed 1] [--show KIND]

One hunk is drawn from each of `sample` reachable commits. The truth is `git blame -w -M -C` at
HEAD, which knows nothing of the rules: every effective line alive, some, or none. Blame credits
moved and copied lines to where they came from; the `fair` figures leave out hunks whose lines it
does not credit to the commit at the commit itself. The controls need no judge: nothing of a change
may be current at its own parent, or after its hunk is undone.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
import tracemalloc
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.verdict_history import History, reviewable
from codememory.verdicts import (
    ChangedSymbol,
    CurrentFile,
    CurrentSymbol,
    HunkCase,
    Inverse,
    LineIndex,
    Method,
    Places,
    Verdict,
    VerdictKind,
    judge_hunk,
)
from codememory.verdicts.lines import TextFacts
from codememory.verdicts.mapping import SHARED
from codememory.verdicts.survival import effective_lines
from collectors.symbol_changes import compare
from collectors.symbol_languages import language_of
from collectors.symbol_values import SymbolChangeKind
from collectors.symbols import bodies_of, body_key, extract, symbols_touched
from collectors.values import Hunk

TRUTH = {
    "ALL": VerdictKind.CURRENT_SUPPORTED,
    "SOME": VerdictKind.RECHECK_REQUIRED,
    "NONE": VerdictKind.HISTORICAL,
}
CHANGED = {SymbolChangeKind.ADDED, SymbolChangeKind.MODIFIED, SymbolChangeKind.SIGNATURE}
IN_PLACE = {Method.BLOB_MATCH, Method.LINES_IN_PLACE, Method.LINES_WEAK_IN_PLACE}


class HistoryWorld:
    """The world at HEAD, read from git."""

    def __init__(self, history: History, index: LineIndex) -> None:
        self.history = history
        self.index = index

    def current(self, path: bytes, /) -> CurrentFile | None:
        oid = self.history.head.get(path)
        return None if oid is None else CurrentFile(path, self.history.blob(oid), oid)

    def followed_paths(self, path: bytes, case: HunkCase, /) -> tuple[bytes, ...]:
        return self.history.names.follow(path, case.ordinal)

    def where(self, line_hash: int, /) -> Places:
        return self.index.where(line_hash)

    def content_before(self, path: bytes, case: HunkCase, /) -> bytes | None:
        name = self.history.names.before(path, case.ordinal)
        return self.history.blob_at(case.commit_oid + "^", name)

    def twin(self, _case: HunkCase, /) -> HunkCase | None:
        return None

    def inverse(self, case: HunkCase, /) -> Inverse | None:
        return self.history.inverse(case)

    def changed_symbols(self, case: HunkCase, /) -> list[ChangedSymbol]:
        return changed_symbols(case)

    def symbols_now(self, path: bytes, /) -> list[CurrentSymbol] | None:
        current, language = self.current(path), language_of(path)
        if current is None or current.content is None or language is None:
            return None
        return [CurrentSymbol(*one) for one in bodies_of(current.content, language.name)]


class OneFileWorld(HistoryWorld):
    """HEAD, but for one file; or nothing but that file."""

    def __init__(self, base: HistoryWorld, file: CurrentFile | None, *, is_alone: bool) -> None:
        super().__init__(base.history, LineIndex(()) if is_alone else base.index)
        self._file = file
        self._is_alone = is_alone

    def current(self, path: bytes, /) -> CurrentFile | None:
        if self._file is not None and path == self._file.path:
            return self._file
        return None if self._is_alone else super().current(path)

    def followed_paths(self, path: bytes, case: HunkCase, /) -> tuple[bytes, ...]:
        if self._is_alone:
            return () if self._file is None else (self._file.path,)
        return super().followed_paths(path, case)

    def inverse(self, case: HunkCase, /) -> Inverse | None:
        return None if self._is_alone else super().inverse(case)


@dataclass
class Row:
    case: HunkCase
    verdict: Verdict
    effective: list[int]
    alive: int
    alive_share: float
    at_parent: VerdictKind
    undone: VerdictKind | None
    seconds: float
    is_fair: bool  # blame credits every effective line to the commit at the commit itself

    @property
    def truth(self) -> str:
        if not self.alive:
            return "NONE"
        return "ALL" if self.alive == len(self.effective) else "SOME"

    @property
    def agrees(self) -> bool:
        return TRUTH[self.truth] is self.verdict.verdict


def changed_symbols(case: HunkCase) -> list[ChangedSymbol]:
    """What is stored of a hunk's symbols, read anew."""
    hunk, language = case.hunk, language_of(case.new_path or b"")
    if hunk is None or case.new_content is None or language is None:
        return []
    new = extract(case.new_content, language)
    before = language_of(case.old_path) if case.old_path else None
    old = None if case.old_content is None else extract(case.old_content, before)
    last = hunk.new_line + hunk.new_lines - 1
    touched = {id(new.symbols[n]) for n in symbols_touched(new, hunk.new_line, last)}
    return [
        ChangedSymbol(
            one.after.name,
            body_key(one.before) if one.before else None,
            body_key(one.after),
            one.after.first_line,
            one.after.last_line,
        )
        for one in compare(old, new)
        if one.after is not None and id(one.after) in touched and one.kind in CHANGED
    ]


def draw(history: History, wanted: int, seed: int) -> tuple[list[HunkCase], int]:
    """One added or modified hunk from each of `wanted` commits; how many had no effective line."""
    # A seeded draw has to be repeatable, not secret.
    chance = random.Random(seed)
    commits = sorted(history.rows, key=history.ordinals.__getitem__)
    chance.shuffle(commits)
    cases: list[HunkCase] = []
    undecidable = 0
    for commit in commits:
        if len(cases) == wanted:
            break
        found = [case for case in history.cases(commit) if case.hunk and case.hunk.new_lines]
        if not found:
            continue
        case = chance.choice(found)
        if effective(case):
            cases.append(case)
        else:
            undecidable += 1
    return cases, undecidable


def effective(case: HunkCase) -> list[int]:
    """Line indexes, in the after image, of what the hunk really added."""
    hunk = case.hunk
    if hunk is None:
        return []
    old, new = TextFacts(case.old_content or b""), TextFacts(case.new_content or b"")
    gone = old.normals[hunk.old_line - 1 : hunk.old_line - 1 + hunk.old_lines]
    if not hunk.old_lines:
        gone = []
    span = range(hunk.new_line - 1, hunk.new_line - 1 + hunk.new_lines)
    return [line.number for line in effective_lines(new, span, Counter(gone))]


def undo(case: HunkCase, now: bytes) -> bytes | None:
    """The file now with this hunk alone taken back; None when its lines are not together."""
    hunk = case.hunk
    if hunk is None or case.new_content is None:
        return None
    kept = SHARED.kept(case.new_content, now)
    first = hunk.new_line - 1
    mapped = [at for at in kept[first : first + hunk.new_lines] if at >= 0]
    if not mapped:
        return None
    lines = now.splitlines(keepends=True) if b"\r" not in now else _git_lines(now)
    before = _git_lines((case.old_content or b"")[hunk.old_start : hunk.old_end])
    drop = set(mapped)
    rest = [line for at, line in enumerate(lines) if at not in drop and at > mapped[0]]
    return b"".join(lines[: mapped[0]] + before + rest)


def _git_lines(content: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in content.split(b"\n")]
    return lines[:-1] if content.endswith(b"\n") or not content else lines


def judge_row(case: HunkCase, world: HistoryWorld) -> Row:
    started = time.perf_counter()
    verdict = judge_hunk(case, world)
    seconds = time.perf_counter() - started
    lines = effective(case)
    normals = TextFacts(case.new_content or b"").normals
    alive = [n for n in lines if world.history.is_alive(case, n + 1)]
    whole = sum(len(normals[n]) for n in lines)
    parent = None
    if case.old_path is not None and case.old_content is not None:
        parent = CurrentFile(case.old_path, case.old_content, case.old_oid)
    at_parent = judge_hunk(case, OneFileWorld(world, parent, is_alone=True)).verdict
    undone = None
    if verdict.method in IN_PLACE and verdict.path is not None:
        now = world.history.blob(world.history.head[verdict.path])
        text = None if now is None else undo(case, now)
        if text is not None:
            overlay = OneFileWorld(world, CurrentFile(verdict.path, text), is_alone=False)
            undone = judge_hunk(case, overlay).verdict
    share = sum(len(normals[n]) for n in alive) / whole
    is_fair = {n + 1 for n in lines} <= world.history.credited(case)
    return Row(case, verdict, lines, len(alive), share, at_parent, undone, seconds, is_fair)


def agreement(rows: list[Row]) -> dict[str, object]:
    """How the verdicts stand to the truth, as parts of one."""
    kinds = Counter((row.truth, row.verdict.verdict) for row in rows)
    current, historical = VerdictKind.CURRENT_SUPPORTED, VerdictKind.HISTORICAL
    unknown = sum(row.verdict.verdict is VerdictKind.UNKNOWN for row in rows)

    def precision(truth: str, kind: VerdictKind) -> float:
        said = sum(count for (_, answer), count in kinds.items() if answer is kind)
        return round(kinds[truth, kind] / said, 3) if said else 0.0

    return {
        "hunks": len(rows),
        "truth": dict(Counter(row.truth for row in rows)),
        "agreement": round(sum(row.agrees for row in rows) / len(rows), 3),
        "unknown": round(unknown / len(rows), 3),
        "confused": round((kinds["ALL", historical] + kinds["NONE", current]) / len(rows), 3),
        "current_precision": precision("ALL", current),
        "historical_precision": precision("NONE", historical),
        "recheck_precision": precision("SOME", VerdictKind.RECHECK_REQUIRED),
    }


def measure(rows: list[Row]) -> dict[str, object]:
    total = len(rows)
    current = VerdictKind.CURRENT_SUPPORTED
    undone = [row.undone for row in rows if row.undone is not None]
    partial = [row for row in rows if row.verdict.method is Method.LINES_PARTIAL]
    errors = [abs((row.verdict.share or 0) - row.alive_share) for row in partial]
    fair = agreement([row for row in rows if row.is_fair])
    wrong = [row for row in rows if not row.agrees]
    return {
        **agreement(rows),
        **{f"fair_{name}": value for name, value in fair.items()},
        "current_at_parent": round(sum(row.at_parent is current for row in rows) / total, 4),
        "current_after_undo": round(undone.count(current) / len(undone), 4) if undone else None,
        "undone": len(undone),
        "share_mae": round(statistics.fmean(errors), 3) if errors else None,
        "methods": dict(Counter(row.verdict.method.value for row in rows).most_common()),
        "wrong": dict(Counter(f"{row.verdict.method} {row.truth}" for row in wrong).most_common()),
        "verdict_ms_median": round(statistics.median(row.seconds for row in rows) * 1000, 2),
        "verdict_ms_p95": round(sorted(row.seconds for row in rows)[int(total * 0.95)] * 1000, 2),
    }


def build_index(history: History) -> tuple[LineIndex, dict[str, object]]:
    files = [
        (path, content)
        for path, oid in history.head.items()
        if (content := history.blob(oid)) is not None and reviewable(path)
    ]
    started = time.perf_counter()
    index = LineIndex(files)
    seconds = time.perf_counter() - started
    tracemalloc.start()
    LineIndex(files)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return index, {
        "index_files": len(files),
        "index_lines": len(index),
        "index_seconds": round(seconds, 3),
        "index_bytes": index.size,
        "index_build_peak_bytes": peak,
    }


def show(rows: list[Row], wanted: str) -> None:
    """Print the disagreements of one kind ('all' for every kind), to be read by a person."""
    for row in rows:
        label = f"{row.verdict.method} {row.truth} {'fair' if row.is_fair else 'unfair'}"
        if row.agrees or (wanted != "all" and wanted not in label):
            continue
        hunk: Hunk | None = row.case.hunk
        path = (row.case.new_path or b"").decode("utf-8", "backslashreplace")
        print(f"== {label} {row.case.commit_oid[:10]} {path} -> {row.verdict.path!r}")
        for step in row.verdict.steps:
            print(f"   {step.rule}: {step.compared}: {step.answer}")
        if hunk is not None:
            text = (row.case.new_content or b"")[hunk.new_start : hunk.new_end]
            shown = _git_lines(text)
            for number, line in enumerate(shown[:14], hunk.new_line):
                mark = "+" if row.case and number - 1 in row.effective else " "
                print("   ", mark, line.decode("utf-8", "backslashreplace").rstrip()[:110])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("repo", type=Path)
    parser.add_argument("--sample", type=int, default=440)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", help="print the disagreements whose label contains this")
    options = parser.parse_args()
    history = History(options.repo)
    index, figures = build_index(history)
    world = HistoryWorld(history, index)
    cases, undecidable = draw(history, options.sample, options.seed)
    history.learn_truth({case.commit_oid for case in cases})
    rows = [judge_row(case, world) for case in cases]
    figures = {"repo": options.repo.name, "undecidable": undecidable, **measure(rows), **figures}
    if options.show:
        show(rows, options.show)
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
