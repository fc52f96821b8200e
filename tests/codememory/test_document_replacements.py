"""A changed sentence proposes to replace the older one; what only moved proposes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.candidates import shown_digest
from codememory.models import (
    Candidate,
    CandidateState,
    EvidenceLink,
    Project,
    Role,
    SearchEntry,
)
from review.rivals import Ground, rivals_of
from tests.builders import make_memory, make_person
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "docs/architecture/keys.md"
OLD = "Keys must be kept for 30 days after their first use."
NEW = "Keys must be kept for 90 days after their first use."
OTHER = "A retry must reuse the first key of its refund."


def text(*rules: str) -> str:
    return "# Keys\n\n## Rules\n\nHow keys are kept.\n\n" + "".join(f"- {rule}\n" for rule in rules)


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "r")
    repo.write(PATH, text(OLD, OTHER))
    repo.commit()
    return repo


def change(repo: RepoBuilder, content: str) -> str:
    repo.write(PATH, content)
    return repo.commit()


def again(project: Project) -> None:
    for source in ("git", "documents"):
        assert collect_source(project, source).state == "DONE"


def candidate(statement: str) -> Candidate:
    return Candidate.objects.select_related("replaces").get(statement=statement)


def replaced_by(found: Candidate) -> tuple[bytes, str | None]:
    assert found.replaces is not None
    return bytes(found.replaces.content), found.replaced_in_commit


def test_a_changed_rule_names_the_older_one_and_the_commit(repo: RepoBuilder) -> None:
    head = change(repo, text(NEW, OTHER))
    collect(repo)
    older, commit = replaced_by(candidate(NEW))
    assert OLD.encode() in older
    assert commit == head
    assert candidate(OTHER).replaces is None


def test_the_older_one_is_the_very_segment_that_was_cited_before(repo: RepoBuilder) -> None:
    project = collect(repo)
    cited = EvidenceLink.objects.get(candidate=candidate(OLD)).segment_id
    change(repo, text(NEW, OTHER))
    again(project)
    assert candidate(NEW).replaces_id == cited
    assert candidate(OLD).state == CandidateState.PENDING


def test_the_last_change_is_named_not_the_first(repo: RepoBuilder) -> None:
    change(repo, text(NEW, OTHER))
    change(repo, text(OLD, OTHER))
    head = change(repo, text(NEW, OTHER))
    collect(repo)
    assert candidate(NEW).replaced_in_commit == head


def test_changes_after_it_do_not_hide_what_it_replaced(repo: RepoBuilder) -> None:
    changed = change(repo, text(NEW, OTHER))
    repo.rename(PATH, "docs/architecture/all.md")
    repo.commit()
    repo.write("docs/architecture/all.md", text(OTHER, NEW))
    repo.commit()
    collect(repo)
    assert candidate(NEW).replaced_in_commit == changed


def test_it_is_found_once_the_history_is_there(repo: RepoBuilder) -> None:
    head = change(repo, text(NEW, OTHER))
    project = collect(repo, ("documents",))
    assert candidate(NEW).replaces is None
    again(project)
    assert candidate(NEW).replaced_in_commit == head


def test_a_reviewer_is_told_that_the_candidate_changed(repo: RepoBuilder) -> None:
    change(repo, text(NEW, OTHER))
    project = collect(repo, ("documents",))
    before = candidate(NEW)
    shown = shown_digest(before)
    again(project)
    assert candidate(NEW).version == before.version + 1
    assert shown_digest(candidate(NEW)) != shown


def test_what_was_decided_stays_as_it_was(repo: RepoBuilder) -> None:
    change(repo, text(NEW, OTHER))
    project = collect(repo, ("documents",))
    Candidate.objects.update(state=CandidateState.REJECTED)
    again(project)
    assert candidate(NEW).replaces is None


def test_the_older_text_is_not_searched(repo: RepoBuilder) -> None:
    change(repo, text(NEW, OTHER))
    collect(repo)
    older = candidate(NEW).replaces_id
    assert not SearchEntry.objects.filter(segment_id=older).exists()


MANY = [f"Field number {number} must be sent as text in every request." for number in range(30)]
UNCHANGED = {
    "another order": text(*reversed(MANY)),
    "another heading": text(*MANY).replace("## Rules", "## Naming conventions"),
    "another title": text(*MANY).replace("# Keys", "# Decisions"),
    "another section before": text(*MANY).replace("## Rules", "## More\n\nWords.\n\n## Rules"),
}


@pytest.mark.parametrize("after", UNCHANGED.values(), ids=UNCHANGED)
def test_text_that_stood_there_before_makes_no_new_candidate(repo: RepoBuilder, after: str) -> None:
    change(repo, text(*MANY))
    project = collect(repo)
    before = set(Candidate.objects.values_list("pk", "state", "version", "replaces"))
    assert len(before) == 20  # of thirty: which twenty must not depend on their order
    change(repo, after)
    again(project)
    assert set(Candidate.objects.values_list("pk", "state", "version", "replaces")) == before


def test_text_moved_to_another_document_makes_no_new_candidate(repo: RepoBuilder) -> None:
    change(repo, text(*MANY))
    project = collect(repo)
    count = Candidate.objects.count()
    repo.write(PATH, text(OLD))
    repo.write("docs/architecture/fields.md", text(*MANY))
    repo.commit()
    again(project)
    assert Candidate.objects.count() == count + 1


def test_what_is_removed_cancels_nothing(repo: RepoBuilder) -> None:
    project = collect(repo)
    repo.remove(PATH)
    repo.commit()
    again(project)
    assert set(Candidate.objects.values_list("state", flat=True)) == {CandidateState.PENDING}


FIRST = "Keys must be kept for 30 days after their first use."
SECOND = "Keys must be kept for 60 days after their first use."
THIRD = "Keys must be kept for 90 days after their first use."


def rename_and_reword(repo: RepoBuilder) -> str:
    """Two rewordings with a renamed heading between them, before anybody collects."""
    change(repo, text(SECOND, OTHER))
    change(repo, text(SECOND, OTHER).replace("## Rules", "## Retention"))
    return change(repo, text(THIRD, OTHER).replace("## Rules", "## Retention"))


def test_a_sentence_reworded_twice_names_the_wording_that_is_known(repo: RepoBuilder) -> None:
    project = collect(repo)
    head = rename_and_reword(repo)
    again(project)
    older, commit = replaced_by(candidate(THIRD))
    assert FIRST.encode() in older
    assert commit == head


def test_a_memory_of_the_first_wording_is_what_the_third_would_replace(repo: RepoBuilder) -> None:
    project = collect(repo)
    memory = make_memory(candidate(FIRST), make_person(project, Role.REVIEWER, "alice"))
    rename_and_reword(repo)
    again(project)
    (rival,) = rivals_of(candidate(THIRD))
    assert rival.memory == memory
    assert Ground.REPLACED_TEXT in rival.grounds


def test_without_a_claim_on_older_wordings_the_last_one_is_named(repo: RepoBuilder) -> None:
    rename_and_reword(repo)
    collect(repo)
    older, _ = replaced_by(candidate(THIRD))
    assert SECOND.encode() in older
