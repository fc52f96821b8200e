"""Small repositories for the agents' tests, and the ids of what is read from them."""

from __future__ import annotations

from pathlib import Path

from codememory.candidates import shown_digest
from codememory.listing import KINDS, list_rows
from codememory.models import (
    Actor,
    ActorKind,
    Candidate,
    CandidateState,
    DecisionAction,
    EvidenceLink,
    LogicalChange,
    Memory,
    Project,
    ReviewDecision,
    Run,
)
from codememory.search_entries import write_memory_entry
from tests.repos import RepoBuilder

DOCUMENT = "# Decisions\n\n## Cache\n\nThe {} cache must be invalidated on every write.\n"
BEFORE = "def read_{0}(key):\n    return CACHE[key]\n"
AFTER = "def read_{0}(key):\n    return CACHE.get(key, MISSING_{0})\n"


def write_repository(folder: Path, word: str) -> RepoBuilder:
    """Two commits named fx: a document and a function, then another behaviour of the function."""
    repo = RepoBuilder(folder)
    repo.write("decisions.md", DOCUMENT.format(word))
    repo.write("cache.py", BEFORE.format(word))
    repo.commit()
    repo.write("cache.py", AFTER.format(word))
    repo.commit()
    return repo


def evidence_ids(project: Project) -> list[str]:
    """Every evidence id of the project: its segments, and both sides of its hunks."""
    ids = [row["id"] for row in list_rows(project, "segments")["rows"]]
    for change in list_rows(project, "changes")["rows"]:
        ids += change["evidence_ids"]
        ids += [f"B{each[1:]}" for each in change["evidence_ids"]]
    return ids


def ids_of(project: Project) -> list[str]:
    """The id of everything the project has: what is listed, its evidence and its runs."""
    ids = evidence_ids(project)
    for kind in KINDS:
        ids += [row["id"] for row in list_rows(project, kind, limit=500)["rows"]]
    changes = LogicalChange.objects.filter(scope_id=project.scope_id)
    ids += [f"L{pk}" for pk in changes.values_list("pk", flat=True)]
    ids += [f"R{pk}" for pk in Run.objects.filter(scope=project.scope).values_list("pk", flat=True)]
    return ids


def make_rule(project: Project) -> Memory:
    """Promote the project's first candidate: the rows that the review form would write."""
    candidate = Candidate.objects.filter(scope_id=project.scope_id).earliest("pk")
    decision = ReviewDecision.objects.create(
        scope_id=project.scope_id,
        candidate=candidate,
        action=DecisionAction.PROMOTE,
        actor=Actor.objects.create(kind=ActorKind.PERSON, name="alice"),
        candidate_version=candidate.version,
        shown_digest=shown_digest(candidate),
    )
    Candidate.objects.filter(pk=candidate.pk).update(state=CandidateState.PROMOTED)
    same = ("type", "modality", "statement", "subject", "layer", "confidence")
    memory = Memory.objects.create(
        scope_id=project.scope_id,
        candidate=candidate,
        decision=decision,
        **{name: getattr(candidate, name) for name in same},
    )
    for link in EvidenceLink.objects.filter(candidate=candidate):
        link.pk, link.candidate, link.memory = None, None, memory
        link.save(force_insert=True)
    write_memory_entry(memory)
    return memory
