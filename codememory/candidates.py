"""Proposes candidate knowledge from statements found by rule; it can only create PENDING rows."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from django.db.models import F

from codememory.bulk import insert_rows, text_array
from codememory.candidate_places import BASE_CONFIDENCE, OPEN_STATES, binding, cite
from codememory.models import Candidate, CandidateState, Layer
from collectors.replaced import sentence_key
from collectors.statements import EXTRACTOR_REVISION
from collectors.values import Statement

__all__ = ["OPEN_STATES", "propose", "set_replaced", "shown_digest", "statement_digest"]


def statement_digest(text: str) -> bytes:
    """SHA-256 of the whitespace-normalised text: only identical statements join by themselves."""
    return hashlib.sha256(" ".join(text.split()).encode()).digest()


def shown_digest(candidate: Candidate) -> bytes:
    """SHA-256 over statement, type, modality and flags, and the digests of all its evidence."""
    digest = hashlib.sha256()
    flags = ",".join(candidate.flags)
    for part in (candidate.statement, candidate.type, candidate.modality, flags):
        digest.update(f"{len(part)}:{part}".encode())
    links = candidate.evidence_links.order_by("byte_start", "segment_id")
    for sha256, start in links.values_list("segment__sha256", "byte_start"):
        digest.update(bytes(sha256) + str(start).encode())
    if candidate.replaces is not None:
        digest.update(b"replaces" + bytes(candidate.replaces.sha256))
    return digest.digest()


def set_replaced(scope_id: int, candidate_id: int, segment_id: int, commit_oid: str) -> int:
    """Say what an open candidate's statement took the place of, once; returns 1 if it was news.

    A reviewer who has the candidate open is told that it changed.
    """
    return Candidate.objects.filter(
        scope_id=scope_id, pk=candidate_id, state__in=OPEN_STATES, replaces=None
    ).update(replaces=segment_id, replaced_in_commit=commit_oid, version=F("version") + 1)


def propose(
    scope_id: int, found: Sequence[tuple[Statement, int]], earlier: Collection[int] = ()
) -> dict[int, Statement]:
    """Store statements with the segment that each stands in; returns the new candidates.

    A statement that some candidate already makes only adds its evidence while nobody decided on
    that one for good: what a person decided on keeps the evidence they saw. `earlier` are the keys
    of sentences that stood in the documents before: moved text is nothing new.
    """
    by_digest: dict[bytes, Statement] = {}
    for statement, _ in sorted(found, key=lambda pair: binding(pair[0].modality)):
        by_digest.setdefault(statement_digest(statement.text), statement)
    rows = [
        (
            scope_id,
            statement.type,
            statement.modality,
            statement.text,
            digest,
            statement.subject,
            Layer.WORKSPACE.value,
            CandidateState.PENDING.value,
            BASE_CONFIDENCE[statement.type],
            statement.rule,
            EXTRACTOR_REVISION,
            text_array(statement.flags),
            1,
        )
        for digest, statement in by_digest.items()
        if sentence_key(statement.text) not in earlier
    ]
    names = [
        "scope", "type", "modality", "statement", "statement_digest", "subject", "layer", "state",
        "confidence", "rule", "rule_revision", "flags", "version",
    ]  # fmt: skip
    inserted = insert_rows(Candidate, names, rows, ["id", "statement_digest"])
    new = {row_id: by_digest[bytes(digest)] for row_id, digest in inserted}
    still_open = Candidate.objects.filter(
        scope_id=scope_id,
        layer=Layer.WORKSPACE,
        state__in=OPEN_STATES,
        statement_digest__in=list(by_digest),
    )
    ids = {
        bytes(digest): row_id for row_id, digest in still_open.values_list("id", "statement_digest")
    }
    cited = [
        (ids[digest], segment_id, statement)
        for statement, segment_id in found
        if (digest := statement_digest(statement.text)) in ids
    ]
    cite(scope_id, cited)
    return new
