"""Applies the verdict rules to stored rows: file changes, logical changes and document segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codememory.checkout import Checkout
from codememory.models import EvidenceSegment, FileChange, WorktreeDocument
from codememory.verdicts import (
    HunkCase,
    Method,
    Verdict,
    VerdictKind,
    contains_segment,
    judge_hunk,
    judge_segment,
)
from collectors.redact import find_secrets, redact
from collectors.values import Hunk, PathClass

# The checkout cannot be opened, or has no commit: there is nothing to compare with.
SOURCE_UNAVAILABLE = Verdict(VerdictKind.UNKNOWN, Method.SOURCE_UNAVAILABLE)


def judge_file_change(
    checkout: Checkout, row: FileChange, numbers: Sequence[int] | None = None
) -> list[Verdict]:
    """Judge hunks (numbers from 1; all without) of a file change against the worktree now."""
    if not checkout.is_readable:
        return [SOURCE_UNAVAILABLE]
    change = row.content_change
    hunks: list[Hunk | None] = list(change.hunks()) if change else []
    if numbers is not None:
        hunks = [hunks[number - 1] for number in numbers if number <= len(hunks)]
    return [judge_hunk(_case(checkout, row, hunk), checkout) for hunk in hunks or [None]]


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


def judge_stored_segment(checkout: Checkout, segment: EvidenceSegment) -> Verdict:
    """Judge a document segment: does its text still stand in its document, or in another one?"""
    if not checkout.is_readable:
        return SOURCE_UNAVAILABLE
    current = checkout.current(bytes(segment.revision.path.raw))
    if current is not None and current.content is not None and segment.redactions:
        # The stored text has its secrets cut out: compare with the document cut the same way.
        spans = find_secrets(current.content)
        content, _ = redact(current.content, spans, checkout.policy.redaction_key)
        current = replace(current, content=content)
    return judge_segment(
        bytes(segment.content),
        current,
        lambda: _moved_to(checkout, segment),
        oid=segment.revision.object_oid,
        is_piece=segment.is_truncated,
    )


def _moved_to(checkout: Checkout, segment: EvidenceSegment) -> bytes | None:
    """Another document of HEAD that says the same: the whole one renamed, or one that is stored."""
    own, text = bytes(segment.revision.path.raw), bytes(segment.content)
    stored = WorktreeDocument.objects.filter(
        scope_id=checkout.scope_id, worktree_id=checkout.worktree.pk
    )
    same = EvidenceSegment.objects.filter(
        scope_id=checkout.scope_id,
        sha256=segment.sha256,
        revision_id__in=stored.values("revision_id"),
    )
    paths = [
        *checkout.paths_of(segment.revision.object_oid),
        *(bytes(raw) for raw in same.values_list("revision__path__raw", flat=True)),
    ]
    for path in dict.fromkeys(paths):
        other = checkout.current(path) if path != own else None
        if other is None or other.content is None:
            continue
        content = other.content
        if segment.redactions:
            content, _ = redact(content, find_secrets(content), checkout.policy.redaction_key)
        if contains_segment(text, content, is_piece=segment.is_truncated):
            return path
    return None
