"""The code of a change on its page: hunks from a place on and their verdicts, until it is full."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from codememory.checkout import Checkout
from codememory.models import CodeFacts, ContentChange, FileChange, SymbolChange
from codememory.paths import shown_path
from codememory.verdict_of import judge_file_change
from codememory.verdicts import Verdict, VerdictKind, aggregate
from review.explorer.hunk_rows import Block, blocks_of
from review.explorer.titles import CONTENT_CLASSES, path_of

HUNKS = 24  # on a page
ROWS = 260  # of code on a page, after which no further hunk is begun
COLOURED = 40_000  # characters of code on a page that are put in colours
DIFFERS = "HUNKS_DIFFER"  # the method where hunks have different verdicts


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """A verdict as the chip shows it, for one hunk or several of the same."""

    kind: str
    method: str


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """A block of code with its symbols, evidence ids, verdicts, and the steps to them."""

    block: Block
    symbols: list[str]
    evidence: list[str]
    verdicts: list[ShownVerdict]
    first: int
    last: int


@dataclass(slots=True)
class ShownFile:
    """A file of the change as far as it is shown here."""

    row: FileChange
    path: str
    old_path: str | None  # where it was called otherwise
    blocks: list[ShownBlock] = field(default_factory=list)
    note: str = ""
    hunks: int = 0
    hunks_before: int = 0
    hunks_shown: int = 0
    verdicts: list[ShownVerdict] = field(default_factory=list)
    coverage: CodeFacts | None = None


Judged = list[tuple[tuple[int, int] | None, Verdict]]  # by content change and hunk
Touched = dict[tuple[int, int], list[str]]  # names of symbols, by content change and hunk


def files_shown(
    checkout: Checkout,
    rows: Sequence[FileChange],
    file: int | None,
    after: int,
    touched: Touched,
) -> tuple[list[ShownFile], tuple[int, int] | None, Judged]:
    """Files from the asked place on, until the page is full; then where the next one begins."""
    numbers = [row.pk for row in rows]
    begin = numbers.index(file) if file in numbers else 0
    skip = after if file in numbers else 0
    files: list[ShownFile] = []
    judged: Judged = []
    hunks_left, rows_left = HUNKS, ROWS
    for row in rows[begin:]:
        if hunks_left <= 0 or rows_left <= 0:
            return files, (row.pk, 0), judged
        shown, used = _file(checkout, row, skip, (hunks_left, rows_left), touched)
        files.append(shown)
        judged += used
        hunks_left -= max(shown.hunks_shown, 1)
        rows_left -= sum(len(block.block.rows) for block in shown.blocks)
        seen = shown.hunks_before + shown.hunks_shown
        if seen < shown.hunks:
            return files, (row.pk, seen), judged
        skip = 0
    return files, None, judged


def colour(files: Sequence[ShownFile]) -> None:
    """Put the code of a page in colours, block by block, up to COLOURED characters."""
    left = COLOURED
    for file in files:
        for shown in file.blocks:
            left -= shown.block.characters
            if left < 0:
                return
            shown.block.colour(file.old_path or file.path, file.path)


def _file(
    checkout: Checkout, row: FileChange, skip: int, left: tuple[int, int], touched: Touched
) -> tuple[ShownFile, Judged]:
    """A file after `skip` of its hunks, as far as hunks and rows are left on the page."""
    hunks_left, rows_left = left
    change = row.content_change
    old = shown_path(bytes(row.old_path.raw)) if row.old_path else None
    shown = ShownFile(row, path_of(row), old if old != path_of(row) else None)
    if change is None:
        shown.note = f"No byte of it is read ({row.path_class})."
        return shown, []
    hunks = change.hunks()
    numbers = list(row.hunk_numbers or range(1, len(hunks) + 1))
    shown.hunks = len(numbers)
    if not numbers:
        verdicts = judge_file_change(checkout, row)
        shown.note = CONTENT_CLASSES.get(change.content_class, "No line of it changed.")
        shown.verdicts = chips(verdicts)
        return shown, [(None, verdict) for verdict in verdicts]
    shown.hunks_before = skip = min(skip, len(numbers))
    chosen = _that_fit(change, numbers[skip : skip + hunks_left], rows_left)
    shown.hunks_shown = len(chosen)
    by_number = dict(zip(chosen, judge_file_change(checkout, row, chosen), strict=True))
    blocks = blocks_of(checkout, change, chosen)
    if not blocks:
        shown.note = "Git no longer gives this content (SOURCE_UNAVAILABLE)."
    shown.blocks = [_block(change, block, by_number, touched) for block in blocks]
    shown.verdicts = chips(list(by_number.values()))
    return shown, [((change.pk, number), verdict) for number, verdict in by_number.items()]


def _that_fit(change: ContentChange, numbers: Sequence[int], rows: int) -> list[int]:
    """The first hunks whose lines fit; one at least."""
    hunks = change.hunks()
    chosen: list[int] = []
    for number in numbers:
        if rows <= 0:
            break
        chosen.append(number)
        rows -= max(hunks[number - 1].old_lines, hunks[number - 1].new_lines) + 6
    return chosen


def touched_by(symbols: Sequence[SymbolChange]) -> Touched:
    found: Touched = defaultdict(list)
    for one in symbols:
        for number in one.hunk_numbers:
            found[one.content_change_id, number].append(one.name.qualified)
    return found


def _block(
    change: ContentChange,
    block: Block,
    verdicts: dict[int, Verdict],
    touched: Touched,
) -> ShownBlock:
    hunks = change.hunks()
    evidence = [
        f"{side}{change.pk}.{number}"
        for number in block.numbers
        for side, lines in (("A", hunks[number - 1].new_lines), ("B", hunks[number - 1].old_lines))
        if lines
    ]
    lines = [cell.number for row in block.rows if (cell := row.new or row.old)]
    names = dict.fromkeys(
        name for number in block.numbers for name in touched.get((change.pk, number), ())
    )
    return ShownBlock(
        block,
        list(names)[:4],
        evidence,
        chips([verdicts[number] for number in block.numbers]),
        lines[0] if lines else 0,
        lines[-1] if lines else 0,
    )


def chips(verdicts: Sequence[Verdict]) -> list[ShownVerdict]:
    """Each distinct verdict once."""
    return list(dict.fromkeys(ShownVerdict(v.verdict.value, v.method.value) for v in verdicts))


def chip(verdicts: Sequence[Verdict]) -> ShownVerdict:
    """The verdict of all that is shown."""
    if not verdicts:
        return ShownVerdict(VerdictKind.UNKNOWN.value, "NOT_JUDGED")
    methods = Counter(verdict.method.value for verdict in verdicts)
    is_one = len({verdict.verdict for verdict in verdicts}) == 1
    method = methods.most_common(1)[0][0] if is_one else DIFFERS
    return ShownVerdict(aggregate(verdicts).verdict.value, method)


def steps(judged: Judged) -> list[tuple[str, Verdict]]:
    """Of each method the first hunk that it decided, with the steps to it."""
    found: dict[str, tuple[str, Verdict]] = {}
    for key, verdict in judged:
        name = f"A{key[0]}.{key[1]}" if key else ""
        found.setdefault(verdict.method.value, (name, verdict))
    return list(found.values())[:4]
