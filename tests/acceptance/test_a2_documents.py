"""A2: a rule of a document changes, or only moves."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from codememory.candidates import shown_digest
from codememory.evidence import find_evidence
from codememory.models import Candidate, Memory, MemoryState, Project, SectionChange
from codememory.people import actor_of
from codememory.recall import engineering_context
from review.actions import promote_candidate
from review.outcomes import Decided, Shown
from tests.builders import make_person
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder

PATH = "docs/architecture/refunds.md"
OLD = "Refund keys must be kept for 30 days after the first attempt."
NEW = "Refund keys must be kept for 400 days after the first attempt."
TASK = "how many days refund keys are kept after the first attempt"
KEYS = f"## Keys\n\nA key is made once.\n\n{OLD}\n"
WRAPPED = KEYS.replace("for 30", "for\n30")
AMOUNTS = "## Amounts\n\nAmounts must be stored in whole cents.\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write(PATH, f"# Refunds\n\n{KEYS}\n{AMOUNTS}")
    repo.commit()
    return repo


@pytest.fixture
def project(db: None, repo: RepoBuilder) -> Project:
    """Collected, and the rule promoted by Alice."""
    project = collect(repo)
    promote(Candidate.objects.get(statement=OLD), make_person(project))
    return project


def promote(candidate: Candidate, person: User) -> None:
    shown = Shown(candidate.version, shown_digest(candidate), frozenset())
    assert isinstance(promote_candidate(candidate, shown, actor=actor_of(person)), Decided)


def change(repo: RepoBuilder, project: Project, content: str, path: str = PATH) -> str:
    repo.write(path, content)
    head = repo.commit()
    for source in ("git", "documents"):
        assert collect_source(project, source).state == "DONE"
    return head


def test_a_changed_rule_gives_old_and_new_evidence(repo: RepoBuilder, project: Project) -> None:
    """A Markdown rule changes: old and new evidence."""
    head = change(repo, project, f"# Refunds\n\n{KEYS.replace(OLD, NEW)}\n{AMOUNTS}")
    candidate = Candidate.objects.get(statement=NEW)
    new = find_evidence(project, f"S{candidate.evidence_links.get().segment_id}")
    old = find_evidence(project, f"S{candidate.replaces_id}")
    assert new is not None
    assert old is not None
    assert NEW in new["text"]
    assert OLD in old["text"]
    assert (new["availability"], old["availability"]) == ("AVAILABLE", "AVAILABLE")
    assert candidate.replaced_in_commit == head


def test_it_proposes_to_replace_the_rule_and_replaces_nothing(
    repo: RepoBuilder, project: Project
) -> None:
    """And a replacement to review."""
    change(repo, project, f"# Refunds\n\n{KEYS.replace(OLD, NEW)}\n{AMOUNTS}")
    candidate, memory = Candidate.objects.get(statement=NEW), Memory.objects.get()
    assert candidate.state == "PENDING"
    assert candidate.replaces_id == memory.evidence_links.get().segment_id
    assert (memory.state, memory.statement) == (MemoryState.ACTIVE, OLD)


MOVES = {
    "a moved paragraph": f"# Refunds\n\n## Amounts\n\n{OLD}\n\n"
    "Amounts must be stored in whole cents.\n\n## Keys\n\nA key is made once.\n",
    "a renamed heading": f"# Refunds\n\n{KEYS.replace('## Keys', '## Rules')}\n{AMOUNTS}",
    "another order": f"# Refunds\n\n{AMOUNTS}\n{KEYS}",
    "other line breaks": f"# Refunds\n\n{WRAPPED}\n{AMOUNTS}",
}


@pytest.mark.parametrize("content", MOVES.values(), ids=MOVES)
def test_moving_neither_duplicates_nor_revokes(
    repo: RepoBuilder, project: Project, content: str
) -> None:
    """Merely moving the paragraph neither duplicates nor revokes the rule."""
    before = set(Candidate.objects.values_list("pk", "state", "replaces"))
    change(repo, project, content)
    assert set(Candidate.objects.values_list("pk", "state", "replaces")) == before
    (rule,) = engineering_context(project, TASK)["applicable_rules"]
    assert (rule["standing"], rule["verdict"]) == ("reviewed", "CURRENT_SUPPORTED")


def test_moving_to_another_document_neither_duplicates_nor_revokes(
    repo: RepoBuilder, project: Project
) -> None:
    """Nor does it if the paragraph is in another document now."""
    count = Candidate.objects.count()
    repo.write(PATH, f"# Refunds\n\n{AMOUNTS}")
    head = change(repo, project, f"# Keys\n\n{KEYS}", "docs/architecture/keys.md")
    assert Candidate.objects.count() == count
    assert Memory.objects.get().state == MemoryState.ACTIVE
    assert SectionChange.objects.filter(commit__oid=head, kind="MOVED").count() == 1


def test_removal_alone_cancels_nothing(repo: RepoBuilder, project: Project) -> None:
    """A rule whose paragraph is gone stays a rule until somebody decides, and says so."""
    change(repo, project, f"# Refunds\n\n{AMOUNTS}")
    found = engineering_context(project, TASK)
    (rule,) = found["applicable_rules"]
    assert (rule["state"], rule["verdict"]) == ("ACTIVE", "HISTORICAL")
    assert "LINK_BROKEN" in {gap["reason"] for gap in found["verification_gaps"]}
