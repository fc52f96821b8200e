"""What the page of a logical change shows, in a bounded number of statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import (
    Candidate,
    CodeFacts,
    EvidenceLink,
    EvidenceSegment,
    FileChange,
    GitCommit,
    LogicalChange,
    SourceKind,
    SymbolChange,
)
from codememory.serving import is_archived, serves_change
from codememory.verdicts import Verdict, aggregate
from review.explorer.change_code import (
    ShownFile,
    ShownVerdict,
    chip,
    colour,
    files_shown,
    steps,
    touched_by,
)
from review.explorer.change_ends import Ends, Neighbour, ends_of, neighbours_of
from review.explorer.titles import Title, path_of, title_of

FILES = 300  # of a change that are listed
COMMITS = 20  # that show it, in full
VIEWS_LOOKED_AT = 200
SYMBOLS = 60
CANDIDATES = 10


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
    files, more, judged = files_shown(checkout, rows, file, after, touched_by(symbols))
    colour(files)
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
        verdict=chip(verdicts),
        verdict_counts={kind.value: count for kind, count in whole.counts.items()},
        judged=len(verdicts),
        steps=steps(judged),
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
            chip(found)
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
    """Claims that cite code of one of the commits; code has few revisions: those of citations."""
    cited = EvidenceSegment.objects.filter(
        scope_id=scope_id,
        revision__scope_id=scope_id,
        revision__kind=SourceKind.GIT,
        commit__in=[commit.pk for commit in commits],
    )
    segments = list(cited.values_list("pk", flat=True))
    links = EvidenceLink.objects.filter(scope_id=scope_id, segment__in=segments)
    found = Candidate.objects.filter(scope_id=scope_id, pk__in=links.values("candidate_id"))
    return list(found.order_by("-pk")[:CANDIDATES]) if segments else []
