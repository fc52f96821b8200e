"""Names what a candidate's statement took the place of: the older text, and the commit.

The older text becomes a segment of its revision because it is cited here. Where a sentence was
rewritten more than once since anybody looked, the oldest wording that is known counts: what a
memory rests on, or else what a candidate does. Nothing is decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from codememory import runs
from codememory.candidates import OPEN_STATES, set_replaced, statement_digest
from codememory.facts_progress import add_metrics
from codememory.ingest_documents import cite_segment
from codememory.models import (
    Candidate,
    CandidateState,
    EvidenceLink,
    MemoryState,
    RefSnapshot,
    Run,
    SourceKind,
    SourceRevision,
    WorktreeDocument,
)
from codememory.runs import Claim
from codememory.stored_gaps import store_gaps, store_paths
from collectors.document_reader import DocumentReader
from collectors.objects import ObjectReader
from collectors.policy import Policy
from collectors.values import Gap, Segment

BATCH = 25
MAX_STEPS = 20  # rewordings that are followed back
# Where a sentence took the place of another, the last commit first.
_REPLACED = """
    SELECT place.key, commit.oid, change.old_revision_id,
           change.replaced_ranges[2 * place.number - 1], change.replaced_ranges[2 * place.number],
           change.commit_id
    FROM codememory_sectionchange change
    JOIN codememory_gitcommit commit ON commit.id = change.commit_id
    CROSS JOIN LATERAL unnest(change.sentence_keys) WITH ORDINALITY AS place (key, number)
    WHERE change.scope_id = %s AND change.sentence_keys && %s::bigint[]
      AND place.key = ANY(%s) AND NOT change.commit_id = ANY(%s)
      AND (%s::bigint IS NULL OR change.commit_id < %s)
    ORDER BY change.commit_id DESC, change.id, place.number
"""


@dataclass(frozen=True, slots=True)
class _Replaced:
    """A candidate, the commit that changed the text, and where the older text stood."""

    candidate_id: int
    commit_oid: str
    revision_id: int
    start: int
    end: int
    commit_id: int


def replacement_batches(
    claim: Claim, run: Run, reader: ObjectReader, documents: DocumentReader, policy: Policy
) -> Iterator[None]:
    """Find what pending candidates of HEAD replace; yield after each committed batch."""
    found = _find(run)
    for at in range(0, len(found), BATCH):
        batch = found[at : at + BATCH]
        rows = SourceRevision.objects.filter(
            scope_id=run.scope_id, pk__in={one.revision_id for one in batch}
        )
        revisions = {row.pk: row for row in rows.select_related("path")}
        cited, gaps = [], []
        known: dict[int, int] = {}
        for one in batch:
            if (earlier := _known_before(run, one, reader, policy)) is not None:
                known[one.candidate_id] = earlier
                continue
            segment = _segment(revisions[one.revision_id], one, reader, documents, policy)
            if isinstance(segment, Gap):
                gaps.append(segment)
            elif segment is not None:
                cited.append((one, segment))
        with runs.fenced(claim) as row:
            commits = {one.candidate_id: one.commit_oid for one in batch}
            count = sum(
                set_replaced(run.scope_id, pk, segment_id, commits[pk])
                for pk, segment_id in known.items()
            )
            for one, segment in cited:
                segment_id = cite_segment(revisions[one.revision_id], segment)
                count += set_replaced(run.scope_id, one.candidate_id, segment_id, one.commit_oid)
            paths = store_paths(run.scope_id, {gap.path for gap in gaps if gap.path is not None})
            store_gaps(run.scope_id, run.pk, SourceKind.DOCUMENTS, gaps, paths)
            row.metrics = add_metrics(row.metrics, {"replacements": count})
        yield


def _find(run: Run) -> list[_Replaced]:
    current = WorktreeDocument.objects.filter(scope_id=run.scope_id, worktree_id=run.worktree_id)
    pending = Candidate.objects.filter(
        scope_id=run.scope_id,
        state__in=OPEN_STATES,
        replaces=None,
        evidence_links__segment__revision__in=current.values("revision"),
    )
    by_key = {
        int.from_bytes(bytes(digest)[:8], "big", signed=True): pk
        for pk, digest in pending.values_list("pk", "statement_digest")
    }
    if not by_key:
        return []
    found: dict[int, _Replaced] = {}
    for key, place in _changes(run, list(by_key)):
        found.setdefault(key, _Replaced(by_key[key], *place))
    return sorted(found.values(), key=lambda one: (one.revision_id, one.candidate_id))


def _changes(
    run: Run, keys: list[int], before: int | None = None
) -> list[tuple[int, tuple[str, int, int, int, int]]]:
    """Where these sentences took the place of others: key and (commit, revision, range, row)."""
    snapshot = RefSnapshot.objects.filter(
        scope_id=run.scope_id, worktree_id=run.worktree_id, head_oid=run.head_oid
    ).last()
    unreachable = snapshot.unreachable if snapshot else []
    with connection.cursor() as cursor:
        cursor.execute(_REPLACED, (run.scope_id, keys, keys, unreachable, before, before))
        return [(key, place) for key, *place in cursor.fetchall()]


def _known_before(run: Run, one: _Replaced, reader: ObjectReader, policy: Policy) -> int | None:
    """The segment of the nearest wording before that a memory cites, or else a candidate."""
    fallback, step, seen = None, one, set[bytes]()
    for _ in range(MAX_STEPS):
        revision = SourceRevision.objects.get(scope_id=run.scope_id, pk=step.revision_id)
        content = reader.read(str(revision.object_oid), "blob", policy.max_document_bytes)
        if isinstance(content, Gap):
            break
        digest = statement_digest(content[step.start : step.end].decode("utf-8", "replace"))
        if digest in seen:
            break  # it went back and forth
        seen.add(digest)
        cited = EvidenceLink.objects.filter(scope_id=run.scope_id, joined_by=None).order_by("-pk")
        memory = cited.filter(
            memory__state=MemoryState.ACTIVE, memory__candidate__statement_digest=digest
        ).first()
        if memory is not None:
            return memory.segment_id
        if fallback is None:
            claim = cited.filter(candidate__statement_digest=digest).exclude(
                candidate_id=one.candidate_id
            )
            link = claim.exclude(candidate__state=CandidateState.REJECTED).first()
            fallback = link.segment_id if link else None
        key = int.from_bytes(digest[:8], "big", signed=True)
        rows = _changes(run, [key], step.commit_id)
        if not rows:
            break
        step = _Replaced(one.candidate_id, *rows[0][1])
    return fallback


def _segment(
    revision: SourceRevision,
    one: _Replaced,
    reader: ObjectReader,
    documents: DocumentReader,
    policy: Policy,
) -> Segment | Gap | None:
    """The block of the older version that holds the replaced sentence."""
    path, oid = bytes(revision.path.raw), str(revision.object_oid)
    content = reader.read(oid, "blob", policy.max_document_bytes)
    if isinstance(content, Gap):
        return Gap(content.reason, path, oid, one.commit_oid, content.detail)
    segments = documents.with_sections(path, oid, content).document.segments
    return next((s for s in segments if s.start <= one.start and one.end <= s.end), None)
