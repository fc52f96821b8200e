"""A candidate is said as what the places of its words in HEAD say now."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.candidates import shown_digest
from codememory.models import Candidate, CandidateState, EvidenceLink, Project
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)

RULE = "Every job must be idempotent."
RECORD = "# 1. Jobs\n\nStatus: {}\n\n## Decision\n\nWe will use one queue per tenant.\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "r")


def write(repo: RepoBuilder, **headings: str) -> None:
    """Documents that hold the rule, each under a heading."""
    for name, heading in headings.items():
        repo.write(f"docs/{name}.md", f"# {heading}\n\n{RULE}\n")
    repo.commit()


def again(project: Project) -> Candidate:
    assert collect_source(project, "documents").state == "DONE"
    return Candidate.objects.get()


def test_a_proposal_that_was_accepted_is_a_decision(repo: RepoBuilder) -> None:
    repo.write("docs/adr/0001.md", RECORD.format("proposed"))
    repo.commit()
    project = collect(repo, ("documents",))
    before = Candidate.objects.get()
    shown = shown_digest(before)
    assert before.modality == "PROPOSAL"
    repo.write("docs/adr/0001.md", RECORD.format("accepted"))
    repo.commit()
    after = again(project)
    assert (after.modality, after.version) == ("DECISION", before.version + 1)
    assert shown_digest(after) != shown


def test_the_place_that_binds_most_wins_and_all_are_cited(repo: RepoBuilder) -> None:
    write(repo, a_prop="Proposal", b_rule="Rules")
    collect(repo, ("documents",))
    found = Candidate.objects.get()
    assert (found.modality, found.flags) == ("REQUIREMENT", ["ALSO_PLANNED"])
    places = EvidenceLink.objects.values_list("modality", "segment__heading_path")
    assert sorted(places) == [("PROPOSAL", ["Proposal"]), ("REQUIREMENT", ["Rules"])]


def test_two_places_in_one_document_count_both(repo: RepoBuilder) -> None:
    repo.write("docs/a.md", f"# Roadmap\n\n{RULE}\n\n# Rules\n\n{RULE}\n")
    repo.commit()
    collect(repo, ("documents",))
    assert Candidate.objects.get().modality == "REQUIREMENT"
    assert EvidenceLink.objects.count() == 2


@pytest.mark.parametrize("state", [CandidateState.PENDING, CandidateState.DEFERRED])
def test_a_rule_whose_heading_became_one_of_plans_is_a_plan(
    repo: RepoBuilder, state: CandidateState
) -> None:
    write(repo, jobs="Rules")
    project = collect(repo, ("documents",))
    Candidate.objects.update(state=state)
    write(repo, jobs="Roadmap")
    assert again(project).modality == "PLAN"
    write(repo, jobs="Rules")
    assert again(project).modality == "REQUIREMENT"


def test_a_place_that_is_gone_counts_no_more(repo: RepoBuilder) -> None:
    write(repo, a_prop="Proposal", b_rule="Rules")
    project = collect(repo, ("documents",))
    repo.remove("docs/b_rule.md")
    repo.commit()
    found = again(project)
    assert (found.modality, found.flags) == ("PROPOSAL", [])


def test_words_that_stand_nowhere_any_more_stay_as_they_were(repo: RepoBuilder) -> None:
    write(repo, jobs="Rules")
    project = collect(repo, ("documents",))
    before = Candidate.objects.values().get()
    repo.remove("docs/jobs.md")
    repo.commit()
    again(project)
    assert Candidate.objects.values().get() == before


@pytest.mark.parametrize("state", [CandidateState.PROMOTED, CandidateState.REJECTED])
def test_what_a_person_decided_on_never_changes(repo: RepoBuilder, state: CandidateState) -> None:
    write(repo, jobs="Rules")
    project = collect(repo, ("documents",))
    Candidate.objects.update(state=state)
    before = Candidate.objects.values().get()
    write(repo, jobs="Roadmap")
    again(project)
    assert Candidate.objects.values().get() == before
    assert EvidenceLink.objects.count() == 1


def test_an_instruction_file_among_the_places_marks_the_candidate(repo: RepoBuilder) -> None:
    write(repo, jobs="Rules")
    project = collect(repo, ("documents",))
    assert Candidate.objects.get().flags == []
    repo.write("AGENTS.md", f"# Rules\n\n{RULE}\n")
    repo.commit()
    assert again(project).flags == ["UNTRUSTED_INSTRUCTIONS"]
    repo.remove("AGENTS.md")
    repo.commit()
    assert again(project).flags == []
