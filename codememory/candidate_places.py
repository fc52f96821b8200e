"""Keeps what a candidate is said as with the places where its words stand in HEAD now.

A statement of a rule's section that a proposal repeats is a rule; once only the proposal is left it
is proposed. Every place stays cited; a candidate that a person decided on never changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from django.db import connection
from django.db.models import F

from codememory.bulk import insert_rows, text_array
from codememory.models import Candidate, CandidateState, EvidenceLink, Modality, WorktreeDocument
from collectors.statements import EXTRACTOR_REVISION
from collectors.values import Statement

OPEN_STATES = (CandidateState.PENDING, CandidateState.DEFERRED)  # nobody decided for good
ALSO_PLANNED = "ALSO_PLANNED"  # the flag of a rule whose words a plan or a proposal has too
# Design §2: confidence ranks, standing admits.
BASE_CONFIDENCE = {
    "requirement": 0.8,
    "decision": 0.8,
    "convention": 0.8,
    "preference": 0.95,
    "pattern": 0.8,
    "error_fix": 0.8,
    "code_pattern": 0.7,
    "context": 0.6,
    "command": 0.6,
    "summary": 0.6,
    "conversation": 0.4,
}
_PLANNED = (Modality.PROPOSAL, Modality.PLAN)
_BINDING = (Modality.REQUIREMENT, Modality.DECISION, Modality.CONVENTION, *_PLANNED)
# A place that is read again under other rules may be said as something else.
_SAID_NOW = """
    UPDATE codememory_evidencelink link
    SET type = said.type, modality = said.modality, rule = said.rule,
        flags = said.flags::varchar(32)[]
    FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[],
                %s::text[]) AS said (candidate_id, segment_id, byte_start, type, modality, rule,
                                     flags)
    WHERE link.scope_id = %s AND link.candidate_id = said.candidate_id
      AND link.segment_id = said.segment_id AND link.byte_start = said.byte_start
      AND (link.type, link.modality, link.rule, link.flags::text[])
          IS DISTINCT FROM (said.type, said.modality, said.rule, said.flags::text[])
"""


def binding(modality: str) -> int:
    """The rank of a modality among the places of a statement: what binds most comes first."""
    return _BINDING.index(Modality(modality)) if modality in _BINDING else len(_BINDING)


def cite(scope_id: int, cited: Sequence[tuple[int, int, Statement]]) -> None:
    """Store where statements of open candidates stand, given as (candidate, segment, statement)."""
    links = [
        (
            scope_id, candidate_id, segment_id, one.start, one.end, one.type, one.modality,
            one.rule, text_array(one.flags),
        )
        for candidate_id, segment_id, one in cited
    ]  # fmt: skip
    names = [
        "scope", "candidate", "segment", "byte_start", "byte_end", "type", "modality", "rule",
        "flags",
    ]  # fmt: skip
    if len(insert_rows(EvidenceLink, names, links)) == len(links):
        return
    columns = [list(column) for column in zip(*links, strict=True)]
    values = [columns[index] for index in (1, 2, 3, 5, 6, 7, 8)]
    with connection.cursor() as cursor:
        cursor.execute(_SAID_NOW, [*values, scope_id])


def follow_places(scope_id: int, revision_ids: Collection[int]) -> int:
    """Say open candidates that cite these revisions as what their places in HEAD say now.

    Where places differ, the one that binds most wins, and the flags of all of them count. A
    candidate that stands nowhere any more stays as it is. Returns how many changed.
    """
    touched = EvidenceLink.objects.filter(
        scope_id=scope_id, segment__revision_id__in=revision_ids, candidate__isnull=False
    )
    candidates = Candidate.objects.filter(
        scope_id=scope_id, state__in=OPEN_STATES, pk__in=touched.values("candidate_id")
    ).in_bulk()
    current = WorktreeDocument.objects.filter(scope_id=scope_id).values("revision_id")
    links = (
        EvidenceLink.objects.filter(
            scope_id=scope_id, candidate_id__in=list(candidates), segment__revision_id__in=current
        )
        .exclude(modality="")
        .order_by("segment__revision__path__raw", "byte_start")
    )
    places: defaultdict[int | None, list[EvidenceLink]] = defaultdict(list)
    for link in links:
        places[link.candidate_id].append(link)
    return sum(_follow(candidates[pk], found) for pk, found in places.items() if pk is not None)


def _follow(candidate: Candidate, places: Sequence[EvidenceLink]) -> int:
    first = min(places, key=lambda place: binding(place.modality))
    flags = {flag for place in places for flag in place.flags}
    if first.modality not in _PLANNED and any(one.modality in _PLANNED for one in places):
        flags.add(ALSO_PLANNED)
    before = (candidate.type, candidate.modality, candidate.rule, sorted(candidate.flags))
    if before == (first.type, first.modality, first.rule, sorted(flags)):
        return 0
    # A reviewer who has it open is told that it changed; one who just decided wins.
    return Candidate.objects.filter(
        scope_id=candidate.scope_id, pk=candidate.pk, state__in=OPEN_STATES
    ).update(
        type=first.type,
        modality=first.modality,
        rule=first.rule,
        rule_revision=EXTRACTOR_REVISION,
        flags=sorted(flags),
        confidence=BASE_CONFIDENCE[first.type],
        version=F("version") + 1,
    )
