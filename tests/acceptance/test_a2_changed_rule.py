"""A2: a rule is changed in its document; text that only moved changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from codememory.candidates import shown_digest
from codememory.models import Candidate, Memory, Project, Role
from codememory.recall import engineering_context
from tests.builders import make_memory, make_person, signed_in
from tests.collected import collect
from tests.repos import RepoBuilder

PATH = "docs/refunds.md"
OLD = "Idempotency keys of refunds must be kept for 90 days."
NEW = "Idempotency keys of refunds must be kept for 400 days."
OTHER = "Every refund must be booked in the ledger before the customer is told."
TEXT = "# Refunds\n\n## Rules\n\n{}\n\n## Ledger\n\n{}\n"
TASK = "change how long idempotency keys of refunds are kept"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write(PATH, TEXT.format(OLD, OTHER))
    repo.commit()
    return repo


@pytest.fixture
def project(db: None, repo: RepoBuilder) -> Project:
    return collect(repo)


@pytest.fixture
def alice(project: Project) -> User:
    return make_person(project, Role.REVIEWER, "alice")


@pytest.fixture
def memory(project: Project, alice: User) -> Memory:
    """The rule as it was promoted."""
    return make_memory(Candidate.objects.get(statement=OLD), alice)


def rewrite(repo: RepoBuilder, text: str) -> str:
    repo.write(PATH, text)
    oid = repo.commit()
    collect(repo)
    return oid


@pytest.fixture
def changing(repo: RepoBuilder, memory: Memory) -> str:
    return rewrite(repo, TEXT.format(NEW, OTHER))


@pytest.fixture
def proposal(changing: str) -> Candidate:
    """What the changed document proposes."""
    return Candidate.objects.get(statement=NEW)


def address(candidate: Candidate, action: str = "") -> str:
    return f"/projects/shop/candidates/{candidate.pk}/{action}"


def test_a_changed_rule_names_the_old_evidence_and_the_commit(
    proposal: Candidate, changing: str
) -> None:
    """`gives old and new evidence`: the older segment, and the commit in which it was replaced."""
    old = proposal.replaces
    assert old is not None
    assert bytes(old.content).decode().strip() == OLD
    assert proposal.replaced_in_commit == changing


def test_the_reviewer_sees_both_texts_and_what_would_be_replaced(
    proposal: Candidate, memory: Memory, alice: User
) -> None:
    """Side by side, the changed words marked, with the rule that it would replace."""
    page = signed_in(alice).get(address(proposal)).content.decode()
    assert "kept for <del>90</del> days." in page
    assert "kept for <ins>400</ins> days." in page
    assert "Would replace" in page
    assert f"Supersede M{memory.pk}" in page


def test_nothing_is_replaced_until_a_person_says_so(proposal: Candidate, memory: Memory) -> None:
    memory.refresh_from_db()
    assert (proposal.state, memory.state) == ("PENDING", "ACTIVE")


def test_an_agent_is_told_that_the_source_reads_otherwise(
    project: Project, memory: Memory, proposal: Candidate
) -> None:
    answer = engineering_context(project, TASK)
    assert [rule["id"] for rule in answer["applicable_rules"]] == [f"M{memory.pk}"]
    assert {"EVIDENCE_CHANGED", "SAME_SUBJECT"} & {each["kind"] for each in answer["conflicts"]}


def test_superseding_gives_agents_the_new_rule_alone(
    project: Project, proposal: Candidate, memory: Memory, alice: User
) -> None:
    form = {
        "version": str(proposal.version),
        "shown": shown_digest(proposal).hex(),
        "rivals": str(memory.pk),
        "memory": str(memory.pk),
    }
    signed_in(alice).post(address(proposal, "supersede"), form)
    rules = engineering_context(project, TASK)["applicable_rules"]
    assert [rule["snippet"] for rule in rules] == [NEW]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.format(OTHER, OLD),
        TEXT.format(OLD, OTHER).replace("## Rules", "## What holds"),
        f"# Refunds\n\n## Ledger\n\n{OTHER}\n\n## Rules\n\n{OLD}\n",
    ],
    ids=["moved", "renamed heading", "re-ordered"],
)
def test_what_only_moved_proposes_and_revokes_nothing(
    repo: RepoBuilder, memory: Memory, text: str
) -> None:
    """`a moved one, a renamed heading and a re-ordered document give nothing`."""
    before = set(Candidate.objects.values_list("pk", "state"))
    rewrite(repo, text)
    memory.refresh_from_db()
    assert set(Candidate.objects.values_list("pk", "state")) == before
    assert memory.state == "ACTIVE"


def test_removal_alone_cancels_nothing(repo: RepoBuilder, memory: Memory) -> None:
    rewrite(repo, f"# Refunds\n\n## Ledger\n\n{OTHER}\n")
    memory.refresh_from_db()
    assert memory.state == "ACTIVE"
    assert Candidate.objects.filter(state="PENDING").count() == 1


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("is_collected", [True, False])
def test_a_rule_stays_current_when_its_document_gets_another_name(
    repo: RepoBuilder, project: Project, is_collected: bool
) -> None:
    """Moved text revokes nothing: the rule is current where its document is now."""
    repo.rename(PATH, "docs/money/back.md")
    repo.commit()
    if is_collected:
        collect(repo)
    answer = engineering_context(project, TASK)
    (rule,) = answer["applicable_rules"]
    assert (rule["verdict"], rule["verdict_path"]) == ("CURRENT_SUPPORTED", "docs/money/back.md")
    assert not [c for c in answer["conflicts"] if c["kind"] == "EVIDENCE_CHANGED"]
    assert "LINK_BROKEN" not in {gap["reason"] for gap in answer["verification_gaps"]}


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("task", "applies"),
    [
        ("keep idempotency keys", True),
        ("idempotency of refunds", True),
        ("keep the kitchen", False),
    ],
)
def test_a_short_task_finds_a_long_rule(project: Project, task: str, applies: bool) -> None:
    assert bool(engineering_context(project, task)["applicable_rules"]) is applies
