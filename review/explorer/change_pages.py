"""What the page of a logical change shows, in a bounded number of statements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import F

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import (
    Candidate,
    CodeFacts,
    ContentChange,
    FileChange,
    GitCommit,
    LogicalChange,
    SymbolChange,
)
from codememory.paths import shown_path
from codememory.serving import is_archived, serves_change
from codememory.verdict_of import judge_file_change
from codememory.verdicts import Verdict, VerdictKind, aggregate
from review.explorer.change_ends import Ends, Neighbour, ends_of, neighbours_of
from review.explorer.hunk_rows import Block, blocks_of
from review.explorer.titles import CONTENT_CLASSES, Title, path_of, title_of

FILES = 300  # of a change that are listed
COMMITS = 20  # that show it, in full
VIEWS_LOOKED_AT = 200
HUNKS = 24  # on a page
ROWS = 260  # of code on a page, after which no further hunk is begun
COLOURED = 40_000  # characters of code on a page that are put in colours
SYMBOLS = 60
CANDIDATES = 10
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


@dataclass(frozen=True, slots=True)
class ShownSymbol:
    """What happened to a symbol, and whether that still holds where it was judged here."""

    change: SymbolChange
    path: str
    verdict: ShownVerdict | None


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Everything of the page; `rows` are the files as the shown commit has them."""

    change: LogicalChange
    title: Title
    rows: list[FileChange]
    withheld: int  # files that the policy keeps from being shown now
    is_archived: bool
    files: list[ShownFile]
    more: tuple[int, int] | None  # the file and the number of hunks at which the next page begins
    is_first: bool
    commits: list[GitCommit]
    commit_count: int
    commit: GitCommit
    compared_with: str
    verdict: ShownVerdict
    verdict_counts: dict[str, int]
    judged: int
    steps: list[tuple[str, Verdict]]
    judged_head: str
    symbols: list[ShownSymbol]
    symbols_left_out: int
    ends: Ends
    candidates: list[Candidate]
    earlier: list[Neighbour]
    later: list[Neighbour]

    @property
    def lead_path(self) -> str:
        return path_of(self.rows[0]) if self.rows else ""


def change_page(checkout: Checkout, number: int, file: int | None, after: int) -> ChangePage | None:
    """Return the page that begins at a file (None: the first) after `after` of its hunks."""
    scope_id = checkout.scope_id
    change = LogicalChange.objects.filter(scope_id=scope_id, pk=number).first()
    if change is None:
        return None
    views = _views(checkout, number)
    if not views:
        return None
    commit, parent_index = _best_view(checkout, views)
    every = _rows(scope_id, number, commit, parent_index)
    archived = is_archived(checkout, "git")
    rows = [r for r in every if not archived and _is_shown(checkout, r)]
    symbols = _symbols(scope_id, rows)
    rows = _code_first(rows, symbols)
    files, more, judged = _files(checkout, rows, file, after, _touched(symbols))
    _colour(files)
    facts = _facts(scope_id, rows)
    for shown in files:
        shown.coverage = facts.get(shown.row.content_change_id or 0)
    verdicts = [verdict for _, verdict in judged]
    whole = aggregate(verdicts)
    commits = list({view.pk: view for view, _ in views}.values())
    by_hunk = {key: verdict for key, verdict in judged if key}
    return ChangePage(
        change=change,
        title=title_of(rows, symbols, change.files),
        rows=rows,
        withheld=len(every) - len(rows),
        is_archived=archived,
        files=files,
        more=more,
        is_first=not files or (files[0].row.pk == rows[0].pk and not files[0].hunks_before),
        commits=commits[:COMMITS],
        commit_count=len(commits),
        commit=commit,
        compared_with=commit.parent_oids[parent_index] if parent_index >= 0 else "",
        verdict=_chip(verdicts),
        verdict_counts={kind.value: count for kind, count in whole.counts.items()},
        judged=len(verdicts),
        steps=_steps(judged),
        judged_head=checkout.head.oid or "",
        symbols=_shown_symbols(rows, symbols[:SYMBOLS], by_hunk),
        symbols_left_out=max(0, len(symbols) - SYMBOLS),
        ends=ends_of(checkout, number),
        candidates=_candidates(scope_id, commits),
        earlier=neighbours_of(checkout, rows, change, is_later=False),
        later=neighbours_of(checkout, rows, change, is_later=True),
    )


def _views(checkout: Checkout, number: int) -> list[tuple[GitCommit, int]]:
    """The commits that show a change, each with the parent it is compared with."""
    shown = FileChange.objects.filter(scope_id=checkout.scope_id, logical_change_id=number)
    pairs = shown.values_list("commit_id", "parent_index").distinct().order_by("commit_id")
    found = list(pairs.order_by("commit_id", "parent_index")[:VIEWS_LOOKED_AT])
    commits = GitCommit.objects.in_bulk([commit for commit, _ in found])
    return [(commits[commit], index) for commit, index in found]


def _best_view(checkout: Checkout, views: Sequence[tuple[GitCommit, int]]) -> tuple[GitCommit, int]:
    """The earliest reachable commit that is no merge, as search results show it."""
    return min(
        views,
        key=lambda view: (
            not checkout.is_reachable(view[0].pk),
            len(view[0].parent_oids) > 1,
            view[0].pk,
        ),
    )


def _rows(scope_id: int, number: int, commit: GitCommit, parent_index: int) -> list[FileChange]:
    """Files of the change, as one of its commits shows it."""
    rows = FileChange.objects.filter(
        scope_id=scope_id, logical_change_id=number, commit=commit, parent_index=parent_index
    ).select_related("old_path", "new_path", "content_change")
    found = list(rows.order_by("pk")[:FILES])
    for row in found:
        row.commit = commit
    return found


def _code_first(rows: Sequence[FileChange], symbols: Sequence[SymbolChange]) -> list[FileChange]:
    """Files with symbols, then the others that are read, then what was generated or not read."""
    touched = {one.content_change_id for one in symbols}
    return sorted(
        rows, key=lambda row: (row.path_class != "NORMAL", row.content_change_id not in touched)
    )


def _is_shown(checkout: Checkout, row: FileChange) -> bool:
    """A file that was never read is its path alone, which is shown."""
    return row.path_class in UNREAD_CLASSES or serves_change(checkout, row)


# Code and its verdicts

Judged = list[tuple[tuple[int, int] | None, Verdict]]  # by content change and hunk
Touched = dict[tuple[int, int], list[str]]  # names of symbols, by content change and hunk


def _files(
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


def _colour(files: Sequence[ShownFile]) -> None:
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
        shown.verdicts = _chips(verdicts)
        return shown, [(None, verdict) for verdict in verdicts]
    shown.hunks_before = skip = min(skip, len(numbers))
    chosen = _that_fit(change, numbers[skip : skip + hunks_left], rows_left)
    shown.hunks_shown = len(chosen)
    by_number = dict(zip(chosen, judge_file_change(checkout, row, chosen), strict=True))
    blocks = blocks_of(checkout, change, chosen)
    if not blocks:
        shown.note = "Git no longer gives this content (SOURCE_UNAVAILABLE)."
    shown.blocks = [_block(change, block, by_number, touched) for block in blocks]
    shown.verdicts = _chips(list(by_number.values()))
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


def _touched(symbols: Sequence[SymbolChange]) -> Touched:
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
        _chips([verdicts[number] for number in block.numbers]),
        lines[0] if lines else 0,
        lines[-1] if lines else 0,
    )


def _chips(verdicts: Sequence[Verdict]) -> list[ShownVerdict]:
    """Each distinct verdict once."""
    return list(dict.fromkeys(ShownVerdict(v.verdict.value, v.method.value) for v in verdicts))


def _chip(verdicts: Sequence[Verdict]) -> ShownVerdict:
    """The verdict of all that is shown."""
    if not verdicts:
        return ShownVerdict(VerdictKind.UNKNOWN.value, "NOT_JUDGED")
    methods = Counter(verdict.method.value for verdict in verdicts)
    is_one = len({verdict.verdict for verdict in verdicts}) == 1
    method = methods.most_common(1)[0][0] if is_one else DIFFERS
    return ShownVerdict(aggregate(verdicts).verdict.value, method)


def _steps(judged: Judged) -> list[tuple[str, Verdict]]:
    """Of each method the first hunk that it decided, with the steps to it."""
    found: dict[str, tuple[str, Verdict]] = {}
    for key, verdict in judged:
        name = f"A{key[0]}.{key[1]}" if key else ""
        found.setdefault(verdict.method.value, (name, verdict))
    return list(found.values())[:4]


# What belongs to it


def _symbols(scope_id: int, rows: Sequence[FileChange]) -> list[SymbolChange]:
    contents = {row.content_change_id for row in rows if row.content_change_id}
    found = SymbolChange.objects.filter(scope_id=scope_id, content_change_id__in=contents)
    found = found.select_related("name", "old_name").order_by("content_change_id", "position")
    owned = {row.content_change_id: row.hunk_numbers for row in rows}
    return [
        one
        for one in found[: SYMBOLS * 10]
        if (mine := owned[one.content_change_id]) is None or set(mine) & set(one.hunk_numbers)
    ]


def _facts(scope_id: int, rows: Sequence[FileChange]) -> dict[int, CodeFacts]:
    contents = [row.content_change_id for row in rows if row.content_change_id]
    found = CodeFacts.objects.filter(scope_id=scope_id, content_change_id__in=contents)
    return {one.content_change_id: one for one in found}


def _shown_symbols(
    rows: Sequence[FileChange],
    symbols: Sequence[SymbolChange],
    verdicts: dict[tuple[int, int], Verdict],
) -> list[ShownSymbol]:
    paths = {row.content_change_id: path_of(row) for row in rows}
    return [
        ShownSymbol(
            one,
            paths[one.content_change_id],
            _chip(found)
            if (
                found := [
                    verdicts[key]
                    for number in one.hunk_numbers
                    if (key := (one.content_change_id, number)) in verdicts
                ]
            )
            else None,
        )
        for one in symbols
    ]


def _candidates(scope_id: int, commits: Sequence[GitCommit]) -> list[Candidate]:
    """Claims that cite code of one of the commits."""
    found = Candidate.objects.filter(
        scope_id=scope_id,
        evidence_links__segment__commit_id__in=[commit.pk for commit in commits],
        evidence_links__segment__scope_id=F("scope_id"),
    )
    return list(found.distinct().order_by("-pk")[:CANDIDATES])
