"""Proposes what was tried and undone: changes that a later commit took back whole, for good.

Only content says so. Why it was done is UNKNOWN; a reviewer decides what it is worth.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import QuerySet

from codememory import runs
from codememory.candidates import OPEN_STATES, propose, statement_digest
from codememory.code_citations import Citation, cite_ends, store_citation
from codememory.models import Candidate, EntryKind, EvidenceLink, ReviewDecision, Run
from codememory.paths import shown_path
from codememory.runs import Claim
from codememory.search.entries import remove_entries
from codememory.search_entries import write_candidate_entries
from collectors.objects import ObjectReader
from collectors.policy import Policy
from collectors.values import Statement

RULE = "tried-and-undone"
MOST_OPEN = 20  # of a project
MOST_RANKED = 200
MOST_FILES = 30  # of one change: a larger one says nothing of any of them
LEAST_LINES = 3
NAMED_SYMBOLS = 3
_ERROR = re.compile(
    rb"\b(?:except|catch|raise|throws?|rescue|panic|unwrap|errors?|exceptions?|assert|retry)\b",
    re.IGNORECASE,
)
# Logical changes that one commit undid whole, that no later commit shows again, and whose undoing
# was not undone itself; the largest and widest first. A change that undid another is no try.
_UNDONE = """
    WITH whole AS (
        SELECT e.logical_change_id AS change, min(l.commit_id) AS later, min(e.commit_id) AS earlier
        FROM codememory_reversal r
        JOIN codememory_filechange e ON e.id = r.earlier_id
        JOIN codememory_filechange l ON l.id = r.later_id
        WHERE r.scope_id = %(scope)s AND r.is_whole GROUP BY 1
    )
    SELECT c.id, whole.earlier, whole.later, c.files, c.added_lines, c.removed_lines,
           g.oid, h.oid,
           (SELECT count(DISTINCT s.name_id) FROM codememory_filechange f
            JOIN codememory_symbolchange s
              ON s.scope_id = f.scope_id AND s.content_change_id = f.content_change_id
             AND s.kind IN ('ADDED', 'REMOVED', 'MODIFIED', 'SIGNATURE', 'RENAMED')
            WHERE f.scope_id = %(scope)s AND f.commit_id = whole.earlier
              AND f.logical_change_id = c.id) AS symbols
    FROM whole
    JOIN codememory_logicalchange c ON c.id = whole.change
    JOIN codememory_gitcommit g ON g.id = whole.earlier
    JOIN codememory_gitcommit h ON h.id = whole.later
    WHERE c.files <= %(most_files)s AND c.added_lines + c.removed_lines >= %(least)s
      AND NOT EXISTS (SELECT 1 FROM codememory_filechange f WHERE f.scope_id = %(scope)s
                      AND f.logical_change_id = c.id AND f.commit_id > whole.later)
      AND NOT EXISTS (SELECT 1 FROM codememory_reversal r
                      JOIN codememory_filechange e ON e.id = r.earlier_id
                      WHERE r.scope_id = %(scope)s AND e.commit_id = whole.later)
      AND NOT EXISTS (SELECT 1 FROM codememory_reversal r
                      JOIN codememory_filechange l ON l.id = r.later_id
                      WHERE r.scope_id = %(scope)s AND l.commit_id = whole.earlier AND r.is_whole)
    ORDER BY c.added_lines + c.removed_lines + 10 * c.files DESC, c.id DESC LIMIT %(most)s
"""

# The files of these commits' own changes with the symbols they touch, the most changed first.
_PLACES = """
    SELECT f.commit_id, f.logical_change_id, p.raw,
           (SELECT array_agg(n.qualified ORDER BY s.position) FROM codememory_symbolchange s
            JOIN codememory_symbolname n ON n.id = s.name_id
            WHERE s.scope_id = f.scope_id AND s.content_change_id = f.content_change_id
              AND s.kind IN ('ADDED', 'REMOVED', 'MODIFIED', 'SIGNATURE', 'RENAMED'))
    FROM codememory_filechange f
    JOIN codememory_path p ON p.id = coalesce(f.new_path_id, f.old_path_id)
    JOIN codememory_contentchange c ON c.id = f.content_change_id
    WHERE f.scope_id = %s AND f.commit_id = ANY(%s) AND f.logical_change_id IS NOT NULL
    ORDER BY f.commit_id, c.added_lines + c.removed_lines DESC, f.id
"""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A change that was tried and undone, as its commit shows it."""

    change_id: int
    earlier_id: int
    later_id: int
    files: int
    added: int
    removed: int
    earlier_oid: str
    later_oid: str
    symbols: int

    @property
    def weight(self) -> int:
        """Size and reach."""
        return self.added + self.removed + 10 * self.files + 5 * self.symbols


def rejected_batches(
    claim: Claim, run: Run, reader: ObjectReader, policy: Policy
) -> Iterator[None]:
    """Propose what is new and withdraw what came again; at most one committed batch."""
    found = find_rejected(run.scope_id)
    texts = dict(zip(map(statement_digest, told := _told(run.scope_id, found)), found, strict=True))
    text_of = {statement_digest(text): text for text in told}
    stale = _withdrawable(run.scope_id, texts)
    room = MOST_OPEN - _open(run.scope_id).exclude(pk__in=stale).count()
    same = Candidate.objects.filter(scope_id=run.scope_id, statement_digest__in=list(texts))
    known = {bytes(digest) for digest in same.values_list("statement_digest", flat=True)}
    cited: list[tuple[str, Sequence[Citation]]] = []
    for digest, one in texts.items():
        if len(cited) >= room:
            break
        if digest in known:
            continue
        if ends := cite_ends(run.scope_id, one.earlier_id, one.later_id, reader, policy):
            cited.append((text_of[digest], ends))
    if not cited and not stale:
        return
    with runs.fenced(claim) as row:
        _withdraw(run.scope_id, stale)
        new = _store(row, cited)
        row.metrics = {**row.metrics, "tried_and_undone": new}
    yield


def find_rejected(scope_id: int) -> list[Rejected]:
    """What was tried and undone, the largest and widest first."""
    values = {
        "scope": scope_id,
        "most_files": MOST_FILES,
        "least": LEAST_LINES,
        "most": MOST_RANKED,
    }
    with connection.cursor() as cursor:
        cursor.execute(_UNDONE, values)
        found = [Rejected(*row) for row in cursor.fetchall()]
    return sorted((one for one in found if one.symbols), key=lambda one: -one.weight)


def _open(scope_id: int) -> QuerySet[Candidate]:
    return Candidate.objects.filter(scope_id=scope_id, rule=RULE, state__in=OPEN_STATES)


def _withdrawable(scope_id: int, texts: Collection[bytes]) -> list[int]:
    """Open ones that hold no more, that nobody ever decided on or merged another one into."""
    decisions = ReviewDecision.objects.filter(scope_id=scope_id)
    rows = _open(scope_id).exclude(pk__in=decisions.values("candidate_id"))
    targets = decisions.filter(merged_into__isnull=False).values("merged_into_id")
    rows = rows.exclude(pk__in=targets)
    return [
        pk
        for pk, digest in rows.values_list("pk", "statement_digest")
        if bytes(digest) not in texts
    ]


def _withdraw(scope_id: int, ids: Collection[int]) -> None:
    if ids:
        remove_entries(scope_id, EntryKind.CANDIDATE, ids)
        EvidenceLink.objects.filter(scope_id=scope_id, candidate_id__in=ids).delete()
        Candidate.objects.filter(scope_id=scope_id, pk__in=ids).delete()


def _told(scope_id: int, found: Sequence[Rejected]) -> list[str]:
    """A statement of each: what was changed where, and the commits that did and undid it."""
    commits = [one.earlier_id for one in found]
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, [scope_id, commits])
        rows = cursor.fetchall()
    places: dict[tuple[int, int], list[tuple[bytes, list[str]]]] = defaultdict(list)
    for commit_id, change_id, raw, names in rows:
        places[commit_id, change_id].append((bytes(raw), names or []))
    return [_statement(one, places[one.earlier_id, one.change_id]) for one in found]


def _statement(one: Rejected, places: Sequence[tuple[bytes, list[str]]]) -> str:
    path, names = next((place for place in places if place[1]), places[0])
    shown = ", ".join(f"`{name}`" for name in names[:NAMED_SYMBOLS])
    more = f" and {len(names) - NAMED_SYMBOLS} more" if len(names) > NAMED_SYMBOLS else ""
    others = f" (with {one.files - 1} more files)" if one.files > 1 else ""
    what = f"{shown}{more} in {shown_path(path)}" if names else f"{shown_path(path)}"
    return (
        f"{what}{others} was changed in commit {one.earlier_oid[:12]} "
        f"(+{one.added} -{one.removed} lines) and undone in commit {one.later_oid[:12]}."
    )


def _store(run: Run, cited: Sequence[tuple[str, Sequence[Citation]]]) -> int:
    """Write the cited ranges and the candidates; returns how many are new."""
    found = []
    for text, ends in cited:
        is_error = any(_ERROR.search(end.segment.content) for end in ends)
        for end in ends:
            statement = Statement(
                text=text,
                type="error_fix" if is_error else "decision",
                modality="OBSERVATION",
                rule=RULE,
                start=end.segment.start,
                end=end.segment.end,
            )
            found.append((statement, store_citation(run, end)))
    new = propose(run.scope_id, found)
    write_candidate_entries(run.scope_id, new)
    return len(new)
