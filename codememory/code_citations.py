"""Makes evidence of code: a range of a blob that a claim cites, read from Git, redacted, kept."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from codememory.bulk import insert_rows
from codememory.ingest_documents import cite_segment
from codememory.models import (
    EvidenceSegment,
    FileChange,
    GitCommit,
    Reversal,
    Run,
    SourceKind,
    SourceRevision,
    SymbolChange,
)
from collectors.objects import ObjectReader
from collectors.policy import Policy
from collectors.redact import find_secrets, redact
from collectors.values import Hunk, Segment

SEGMENT_BYTES = 4_096  # of a range; a longer one is cut at the end of a line
CODE_REVISION = 1


@dataclass(frozen=True, slots=True)
class Citation:
    """A range of a blob, and where it is from."""

    path_id: int
    oid: str
    algorithm: str
    sha256: bytes
    size: int
    commit_id: int
    segment: Segment


def cite_ends(
    scope_id: int, earlier_id: int, later_id: int, reader: ObjectReader, policy: Policy
) -> Sequence[Citation]:
    """What the earlier commit made of a place, and what the later one made of it again.

    Empty where either cannot be read.
    """
    of_symbols = SymbolChange.objects.filter(
        scope_id=scope_id, content_change_id=OuterRef("earlier__content_change_id")
    )
    pair = (
        Reversal.objects.filter(
            scope_id=scope_id, earlier__commit_id=earlier_id, later__commit_id=later_id
        )
        .select_related("earlier__content_change", "later__content_change")
        .annotate(has_symbols=Exists(of_symbols))
        .order_by("-has_symbols", "pk")
        .first()
    )
    if pair is None:
        return ()
    found = [
        _cite(row, numbers, reader, policy)
        for row, numbers in ((pair.earlier, pair.earlier_hunks), (pair.later, pair.later_hunks))
    ]
    cited = [one for one in found if one is not None]
    return cited if len(cited) == len(found) else ()


def _cite(
    row: FileChange, numbers: Sequence[int], reader: ObjectReader, policy: Policy
) -> Citation | None:
    content = row.content_change
    hunks = content.hunks() if content else []
    if content is None or not hunks:
        return None
    chosen = [hunks[n - 1] for n in numbers] if numbers else hunks
    hunk = max(chosen, key=lambda h: h.new_end - h.new_start + h.old_end - h.old_start)
    is_after = hunk.new_lines > 0
    oid = content.new_oid if is_after else content.old_oid
    path_id = row.new_path_id if is_after else row.old_path_id
    if oid is None or path_id is None:
        return None
    data = reader.read(oid, limit=policy.max_blob_bytes)
    if not isinstance(data, bytes):
        return None
    commit = GitCommit.objects.get(scope_id=row.scope_id, pk=row.commit_id)
    segment = _segment(data, hunk, policy, is_after=is_after)
    sha256 = hashlib.sha256(data).digest()
    return Citation(path_id, oid, commit.algorithm, sha256, len(data), commit.pk, segment)


def _segment(data: bytes, hunk: Hunk, policy: Policy, *, is_after: bool) -> Segment:
    start, end = (hunk.new_start, hunk.new_end) if is_after else (hunk.old_start, hunk.old_end)
    first = hunk.new_line if is_after else hunk.old_line
    is_long = end - start > SEGMENT_BYTES
    if is_long:
        at = data.rfind(b"\n", start, start + SEGMENT_BYTES)
        end = at + 1 if at != -1 else start + SEGMENT_BYTES
    exact = data[start:end]
    content, redactions = redact(data, find_secrets(data), policy.redaction_key, start, end)
    return Segment(
        kind="hunk",
        start=start,
        end=end,
        first_line=first,
        last_line=first + max(0, exact.rstrip(b"\n").count(b"\n")),
        sha256=hashlib.sha256(exact).digest(),
        content=content,
        is_truncated=is_long,
        redactions=redactions,
    )


def store_citation(run: Run, one: Citation) -> int:
    """Write the revision and the segment; returns the segment's row."""
    insert_rows(
        SourceRevision,
        [
            "scope", "kind", "schema_revision", "worktree", "path", "object_oid",
            "object_algorithm", "sha256", "size", "encoding", "head_oid", "branch_label",
            "policy_generation", "extractor_revision", "is_instruction_file",
        ],
        [
            (
                run.scope_id, SourceKind.GIT.value, 1, run.worktree_id, one.path_id, one.oid,
                one.algorithm, one.sha256, one.size, None, run.head_oid, run.branch_label,
                run.policy_generation, CODE_REVISION, False,
            )
        ],
    )  # fmt: skip
    revision = SourceRevision.objects.get(
        scope_id=run.scope_id, kind=SourceKind.GIT, path_id=one.path_id, sha256=one.sha256
    )
    segment_id = cite_segment(revision, one.segment)
    rows = EvidenceSegment.objects.filter(scope_id=run.scope_id, pk=segment_id, commit=None)
    rows.update(commit_id=one.commit_id)
    return segment_id
