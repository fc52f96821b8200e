"""Applies the verdict rules to stored rows: file changes, logical changes and document segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from django.db import connection

from codememory.checkout import Checkout
from codememory.kept_spans import spans_of
from codememory.models import EvidenceSegment, FileChange
from codememory.verdicts import (
    HunkCase,
    Method,
    Verdict,
    VerdictKind,
    contains_segment,
    judge_hunk,
    judge_segment,
)
from collectors.redact import redact
from collectors.values import Hunk, PathClass

# The documents of a worktree that have segments with these digests.
_SAME_TEXTS = """
    SELECT segment.sha256, path.raw FROM codememory_evidencesegment AS segment
    JOIN codememory_worktreedocument AS document
    ON document.scope_id = segment.scope_id AND document.revision_id = segment.revision_id
    JOIN codememory_path AS path ON path.id = document.path_id
    WHERE segment.scope_id = %s AND document.worktree_id = %s AND segment.sha256 = ANY(%s)
    ORDER BY segment.id
"""
# The checkout cannot be opened, or has no commit: there is nothing to compare with.
SOURCE_UNAVAILABLE = Verdict(VerdictKind.UNKNOWN, Method.SOURCE_UNAVAILABLE)


def judge_file_change(
    checkout: Checkout, row: FileChange, numbers: Sequence[int] | None = None
) -> list[Verdict]:
    """Judge hunks (numbers from 1; all without) of a file change against the worktree now."""
    return judge_cases(checkout, file_cases(checkout, row, numbers))


def judge_cases(checkout: Checkout, cases: Sequence[HunkCase]) -> list[Verdict]:
    """The same of cases: the verdict of each."""
    if not checkout.is_readable:
        return [SOURCE_UNAVAILABLE]
    return [judge_hunk(case, checkout) for case in cases]


def file_cases(
    checkout: Checkout, row: FileChange, numbers: Sequence[int] | None = None
) -> list[HunkCase]:
    """What is to be judged of a file change; nothing where there is nothing to compare with."""
    if not checkout.is_readable:
        return []
    change = row.content_change
    hunks: list[Hunk | None] = list(change.hunks()) if change else []
    if numbers is not None:
        hunks = [hunks[number - 1] for number in numbers if number <= len(hunks)]
    return [_case(checkout, row, hunk) for hunk in hunks or [None]]


def _case(checkout: Checkout, row: FileChange, hunk: Hunk | None) -> HunkCase:
    change = row.content_change
    has_lines = change is not None and hunk is not None
    return HunkCase(
        commit_oid=row.commit.oid,
        ordinal=row.commit_id,
        old_path=bytes(row.old_path.raw) if row.old_path else None,
        new_path=bytes(row.new_path.raw) if row.new_path else None,
        old_oid=change.old_oid if change else row.unread_old_oid,
        new_oid=change.new_oid if change else row.unread_new_oid,
        old_content=checkout.content(change.old_oid) if change and has_lines else None,
        new_content=checkout.content(change.new_oid) if change and has_lines else None,
        hunk=hunk,
        is_reachable=checkout.is_reachable(row.commit_id),
        path_class=PathClass(row.path_class),
    )


def judge_stored_segment(
    checkout: Checkout, segment: EvidenceSegment, moved: MovedTexts | None = None
) -> Verdict:
    """Judge a document segment: does its text still stand in its document, or in another one?

    `moved` is that of all segments judged together.
    """
    if not checkout.is_readable:
        return SOURCE_UNAVAILABLE
    moved = moved or MovedTexts(checkout, [segment])
    current = checkout.current(bytes(segment.revision.path.raw))
    if current is not None and current.content is not None and segment.redactions:
        # The stored text has its secrets cut out: compare with the document cut the same way.
        spans = spans_of(current.content)
        content, _ = redact(current.content, spans, checkout.policy.redaction_key)
        current = replace(current, content=content)
    return judge_segment(
        bytes(segment.content),
        current,
        lambda: moved.path_of(segment),
        oid=segment.revision.object_oid,
        is_piece=segment.is_truncated,
    )


class MovedTexts:
    """Where HEAD has the text of segments now, other than in their own documents.

    The documents that say the same are looked up once for all of them, when the first is asked for.
    """

    def __init__(self, checkout: Checkout, segments: Iterable[EvidenceSegment]) -> None:
        self._checkout = checkout
        self._digests = {bytes(segment.sha256) for segment in segments}

    def path_of(self, segment: EvidenceSegment) -> bytes | None:
        """Another document that says the same: the whole one renamed, or one that is stored."""
        checkout, text = self._checkout, bytes(segment.content)
        paths: list[bytes] = [
            *checkout.paths_of(segment.revision.object_oid),
            *self._paths_by_text.get(bytes(segment.sha256), ()),
        ]
        own = bytes(segment.revision.path.raw)
        for path in dict.fromkeys(paths):
            other = checkout.current(path) if path != own else None
            if other is None or other.content is None:
                continue
            content = other.content
            if segment.redactions:
                content, _ = redact(content, spans_of(content), checkout.policy.redaction_key)
            if contains_segment(text, content, is_piece=segment.is_truncated):
                return path
        return None

    @cached_property
    def _paths_by_text(self) -> dict[bytes, list[bytes]]:
        scope_id, worktree_id = self._checkout.scope_id, self._checkout.worktree.pk
        with connection.cursor() as cursor:
            cursor.execute(_SAME_TEXTS, [scope_id, worktree_id, list(self._digests)])
            rows = cursor.fetchall()
        found: dict[bytes, list[bytes]] = {}
        for digest, raw in rows:
            found.setdefault(bytes(digest), []).append(bytes(raw))
        return found
