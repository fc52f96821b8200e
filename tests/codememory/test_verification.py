"""What an answer leaves open: each verification gap, and each section of a context, seen and not.

For each there is a test in which it appears and one in which it does not.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from codememory.models import (
    Candidate,
    EvidenceLink,
    EvidenceSegment,
    GitCommit,
    Memory,
    Policy,
    Project,
    SourceRevision,
)
from codememory.models import Path as PathRow
from codememory.recall import engineering_context, search
from tests.api.builders import make_rule
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)

RULE = "A refund must never be negative."
DOCUMENT = f"# Shop\n\n## Refunds\n\n{RULE}\n"
CODE = "shop/refund.py"
OLD = "def refund(order):\n    return order.total * 0.9\n"
NEW = "def refund(order):\n    return max(order.total - order.fee, 0)\n"
TASK = "make the refund of an order negative"
NOTHING = "zebra"  # in no file and in no document


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write(CODE, OLD)
    repo.write("README.md", DOCUMENT)
    repo.commit()
    repo.write(CODE, NEW)
    repo.commit()
    return repo


@pytest.fixture
def project(repo: RepoBuilder) -> Project:
    return collect(repo)


@pytest.fixture
def rule(project: Project) -> Memory:
    return make_rule(project)


def context(project: Project, task: str = TASK, **more: Any) -> dict[str, Any]:
    return engineering_context(project, task, **more)


def gaps(project: Project, task: str = TASK, **more: Any) -> dict[str, dict[str, Any]]:
    return {gap["reason"]: gap for gap in context(project, task, **more)["verification_gaps"]}


# --- gaps ----------------------------------------------------------------------------------------


def test_nothing_is_said_to_pass_without_an_execution_record(project: Project) -> None:
    assert "NO_EXECUTION_RECORD" in gaps(project)


def test_what_found_nothing_needs_no_execution_record(project: Project) -> None:
    assert "NO_EXECUTION_RECORD" not in gaps(project, NOTHING)


def test_a_rule_that_no_code_carries_out_is_said(project: Project, rule: Memory) -> None:
    assert gaps(project)["RULE_WITHOUT_IMPLEMENTATION_LINK"]["claim"] == f"M{rule.pk}"


def test_a_rule_that_cites_code_is_linked(project: Project, rule: Memory) -> None:
    cite_code(rule)
    assert "RULE_WITHOUT_IMPLEMENTATION_LINK" not in gaps(project)


def git_oid(content: bytes) -> str:
    blob = b"blob %d\0" % len(content) + content
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest()


def cite_code(rule: Memory) -> None:
    """What a claim that cites code stores: its blob as a revision, and the segment cut of it."""
    content = NEW.encode()
    digest = hashlib.sha256(content).digest()
    revision = SourceRevision.objects.create(
        scope=rule.scope,
        kind="git",
        path=PathRow.objects.get(scope=rule.scope, raw=CODE.encode()),
        object_oid=git_oid(content),
        sha256=digest,
        size=len(content),
        policy_generation=1,
    )
    segment = EvidenceSegment.objects.create(
        scope=rule.scope,
        revision=revision,
        commit=GitCommit.objects.filter(scope=rule.scope).latest("pk"),
        kind="code",
        byte_start=0,
        byte_end=len(content),
        first_line=1,
        last_line=2,
        sha256=digest,
        content=content,
    )
    EvidenceLink.objects.create(
        scope=rule.scope, memory=rule, segment=segment, byte_start=0, byte_end=len(content)
    )


def test_a_rule_whose_sentence_is_gone_has_a_broken_link(
    repo: RepoBuilder, project: Project, rule: Memory
) -> None:
    (repo.root / "README.md").write_text("# Shop\n\nNothing is said here.\n")
    assert gaps(project)["LINK_BROKEN"]["claim"] == f"M{rule.pk}"


def test_a_rule_whose_sentence_stands_has_a_whole_link(project: Project, rule: Memory) -> None:
    assert "LINK_BROKEN" not in gaps(project)


def test_commits_that_were_not_read_are_counted(repo: RepoBuilder, project: Project) -> None:
    for number in range(3):
        repo.write("a.py", f"a = {number}\n")
        repo.commit()
    assert gaps(project)["NOT_YET_PROCESSED"]["count"] == 3
    assert [gap["count"] for gap in search(project, "refund")["gaps"]] == [3]


def test_documents_that_were_not_read_are_counted(repo: RepoBuilder, project: Project) -> None:
    repo.write("README.md", DOCUMENT + "\nMore.\n")
    repo.write("docs/new.md", "# New\n")
    repo.commit()
    collect_source(project, "git")
    found = gaps(project, NOTHING)["NOT_YET_PROCESSED"]
    assert (found["count"], found["text"]) == (2, "2 documents of HEAD are not collected yet")


def test_documents_that_nobody_allowed_are_not_waiting(repo: RepoBuilder) -> None:
    project = collect(repo, ("git",))
    assert gaps(project)["NOT_YET_PROCESSED"]["count"] == 1
    Policy.objects.create(scope=project.scope, generation=2, sources=["git"])
    assert "NOT_YET_PROCESSED" not in gaps(project)


def test_what_was_read_is_not_waiting(repo: RepoBuilder, project: Project) -> None:
    repo.write("a.py", "a = 1\n")
    repo.commit()
    collect(repo)
    assert "NOT_YET_PROCESSED" not in gaps(project)


def test_a_shallow_clone_says_that_history_is_missing(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(tmp_path / "part"))
    shallow = collect(RepoBuilder(tmp_path / "part"))
    assert gaps(shallow)["SHALLOW"]["count"] == 1


def test_a_whole_history_is_not_shallow(project: Project) -> None:
    assert "SHALLOW" not in gaps(project)


def test_an_asked_file_that_was_too_large_is_said(repo: RepoBuilder) -> None:
    repo.write("big.py", "a = 1\n" * 400_000)
    repo.commit()
    project = collect(repo)
    found = gaps(project, paths=["big.py"])["SKIPPED_FILES"]
    assert (found["path"], found["skipped_for"]) == ("big.py", "OVERSIZE")


@pytest.mark.parametrize(
    ("path", "why"), [(".env", "PROTECTED"), ("node_modules/a/b.js", "EXCLUDED")]
)
def test_an_asked_file_that_is_never_read_is_said(repo: RepoBuilder, path: str, why: str) -> None:
    repo.write(path, "refund = 1\n")
    repo.commit()
    found = gaps(collect(repo), paths=[path])["SKIPPED_FILES"]
    assert (found["path"], found["skipped_for"]) == (path, why)


def test_files_that_were_not_asked_for_are_not_said(repo: RepoBuilder) -> None:
    repo.write("big.py", "a = 1\n" * 400_000)
    repo.write(".env", "refund = 1\n")
    repo.commit()
    project = collect(repo)
    assert "SKIPPED_FILES" not in gaps(project)
    assert "SKIPPED_FILES" not in gaps(project, paths=[CODE])


def test_a_change_without_symbols_is_said_to_be_compared_as_text(
    repo: RepoBuilder, project: Project
) -> None:
    assert "TEXTUAL_ONLY" not in gaps(project)
    repo.write("refund.xyz", "refund amount refund amount\n")
    repo.commit()
    assert "TEXTUAL_ONLY" in gaps(collect(repo), paths=["refund.xyz"])


def test_without_changes_nothing_was_compared(project: Project) -> None:
    assert "TEXTUAL_ONLY" not in gaps(project, NOTHING)


def test_a_checkout_that_is_gone_is_said(repo: RepoBuilder, project: Project) -> None:
    shutil.rmtree(repo.root)
    assert "SOURCE_UNAVAILABLE" in gaps(project)


def test_a_change_whose_blob_is_gone_is_said(repo: RepoBuilder, project: Project) -> None:
    repo.write(CODE, "def refund(order):\n    return 1\n")
    repo.commit()
    collect(repo)
    repo.drop(repo.blob(CODE, "HEAD~1"))
    found = context(project, paths=[CODE])
    lost = [c["id"] for c in found["relevant_changes"] if c["verdict"] == "UNKNOWN"]
    assert lost
    said = [gap for gap in found["verification_gaps"] if gap["reason"] == "SOURCE_UNAVAILABLE"]
    assert all(each in said[0]["text"] for each in lost)


def test_a_source_that_is_there_is_not_said_to_be_gone(project: Project, rule: Memory) -> None:
    assert "SOURCE_UNAVAILABLE" not in gaps(project)


# --- sections of a context -----------------------------------------------------------------------


def test_a_rule_that_the_task_is_about_applies(project: Project, rule: Memory) -> None:
    [found] = context(project)["applicable_rules"]
    assert (found["id"], found["standing"]) == (f"M{rule.pk}", "reviewed")
    assert found["evidence_ids"]


@pytest.mark.parametrize("task", [NOTHING, "print the order", "speed up the tests"])
def test_a_rule_about_something_else_does_not(project: Project, rule: Memory, task: str) -> None:
    assert context(project, task)["applicable_rules"] == []


def test_a_candidate_is_no_rule(project: Project) -> None:
    assert context(project)["applicable_rules"] == []


def test_an_asked_path_is_linked_to_the_code_of_now(project: Project) -> None:
    [link] = context(project, NOTHING, paths=[CODE])["current_code_links"]
    assert (link["path"], link["is_present"], link["is_dirty"]) == (CODE, True, False)


def test_a_change_that_stands_is_linked_to_its_file(project: Project) -> None:
    assert [link["path"] for link in context(project)["current_code_links"]] == [CODE]


def test_nothing_is_linked_when_nothing_stands(repo: RepoBuilder, project: Project) -> None:
    repo.remove(CODE)
    repo.commit()
    collect_source(project, "git")
    assert context(project, "refund order fee")["current_code_links"] == []


def test_changes_about_the_task_are_relevant(project: Project) -> None:
    assert {c["new_path"] for c in context(project)["relevant_changes"]} == {CODE}


def test_other_changes_are_not(project: Project) -> None:
    assert context(project, NOTHING)["relevant_changes"] == []


def test_what_a_document_says_is_documented_intent(project: Project) -> None:
    found = {(each["kind"], each["standing"]) for each in context(project)["documented_intent"]}
    assert found == {("section", "observed"), ("candidate", "provisional")}


def test_what_no_document_says_is_not(project: Project) -> None:
    assert context(project, NOTHING)["documented_intent"] == []


def test_a_rule_whose_source_reads_otherwise_is_a_conflict(
    repo: RepoBuilder, project: Project, rule: Memory
) -> None:
    (repo.root / "README.md").write_text("# Shop\n\nNothing is said here.\n")
    assert "EVIDENCE_CHANGED" in {each["kind"] for each in context(project)["conflicts"]}


def test_another_claim_about_the_subject_is_a_conflict(project: Project, rule: Memory) -> None:
    Memory.objects.filter(pk=rule.pk).update(subject="refund")
    rival = another_candidate(rule, "refund")
    [found] = context(project)["conflicts"]
    assert (found["kind"], found["ids"]) == ("SAME_SUBJECT", [f"M{rule.pk}", f"C{rival.pk}"])


def test_a_claim_about_another_subject_is_none(project: Project, rule: Memory) -> None:
    Memory.objects.filter(pk=rule.pk).update(subject="refund")
    another_candidate(rule, "shipping")
    assert context(project)["conflicts"] == []


def another_candidate(rule: Memory, subject: str) -> Candidate:
    return Candidate.objects.create(
        scope=rule.scope,
        type="decision",
        modality="DECISION",
        statement="A refund may be anything.",
        statement_digest=b"x" * 32,
        subject=subject,
        confidence=0.8,
        rule="decision-section",
    )


def test_a_complete_answer_that_asserts_nothing_leaves_nothing_open(project: Project) -> None:
    assert context(project, NOTHING)["verification_gaps"] == []


def test_an_answer_that_asserts_something_leaves_something_open(project: Project) -> None:
    assert context(project)["verification_gaps"] != []


def test_everything_cited_has_its_provenance(project: Project, rule: Memory) -> None:
    found = context(project)
    sections = ("applicable_rules", "relevant_changes", "documented_intent")
    cited = {i for name in sections for each in found[name] for i in each["evidence_ids"]}
    assert cited == {each["evidence_id"] for each in found["provenance"]} != set()


def test_without_citations_there_is_no_provenance(project: Project) -> None:
    assert context(project, NOTHING)["provenance"] == []


def test_what_the_budget_leaves_out_is_counted(project: Project) -> None:
    found = context(project, budget=200)["omitted"]
    assert {each["reason"] for each in found} == {"BUDGET"}
    assert all(each["count"] > 0 for each in found)


def test_a_large_budget_leaves_nothing_out(project: Project) -> None:
    assert context(project, budget=12_000)["omitted"] == []


def test_the_coverage_is_said_whatever_was_found(repo: RepoBuilder, project: Project) -> None:
    found = context(project, NOTHING)["coverage"]
    assert (found["head"], found["branch"]) == (repo.head(), "main")
    assert found["git"] == {"state": "COMPLETE", "reachable": 2, "processed": 2}
    assert found["documents"]["state"] == "COMPLETE"
