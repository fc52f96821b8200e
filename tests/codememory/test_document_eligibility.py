"""Which documents are read: what the tree's ignore file, the policy and our own marks leave out."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory import runs
from codememory.models import (
    EvidenceSegment,
    GapRecord,
    Policy,
    Project,
    SourceRevision,
    WorktreeDocument,
)
from codememory.projects import primary_worktree, register_project
from codememory.slices import work_slice
from codememory.status import project_status
from tests.collected import collect, collect_source
from tests.commands import said
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)

OWN = "<!-- codememory:begin -->\n\nAsk the memory first.\n\n<!-- codememory:end -->\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "r")
    for path in ("README.md", "docs/a.md", "docs/old/b.md", "vendor/c.md"):
        repo.write(path, f"# {path}\n\nWords of {path} stand here.\n")
    repo.commit()
    return repo


def ignoring(repo: RepoBuilder, *lines: str) -> Project:
    repo.write(".codememoryignore", "\n".join(lines) + "\n")
    repo.commit()
    return collect(repo, ("documents",))


def read() -> set[str]:
    return {bytes(row.path.raw).decode() for row in WorktreeDocument.objects.all()}


def gaps(reason: str) -> dict[str, str]:
    rows = GapRecord.objects.filter(reason=reason)
    return {bytes(row.path.raw).decode(): row.detail for row in rows}


def test_what_the_ignore_file_names_is_left_out_and_listed(repo: RepoBuilder) -> None:
    ignoring(repo, "# our own", "docs/old/")
    assert "docs/old/b.md" not in read()
    assert gaps("EXCLUDED")["docs/old/b.md"] == "docs/old/"


def test_the_ignore_file_can_bring_back(repo: RepoBuilder) -> None:
    repo.write("node_modules/ours/d.md", "# d\n")
    ignoring(repo, "docs/", "!docs/a.md", "!node_modules/ours/")
    assert read() == {"README.md", "docs/a.md", "node_modules/ours/d.md"}


def test_the_ignore_file_brings_back_nothing_protected(repo: RepoBuilder) -> None:
    repo.write(".ssh/notes.md", "# keys\n")
    ignoring(repo, "!.ssh/", "!.ssh/notes.md", "!*")
    assert ".ssh/notes.md" not in read()
    assert ".ssh/notes.md" in gaps("PROTECTED")


def test_the_owners_policy_decides_over_the_ignore_file(repo: RepoBuilder) -> None:
    project, _ = register_project(repo.root)
    Policy.objects.create(scope=project.scope, generation=2, sources=[], exclude=["docs/old/"])
    repo.write(".codememoryignore", "!docs/old/b.md\n")
    repo.commit()
    run = runs.request_run(primary_worktree(project), "documents", 2, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    work_slice(claim)
    assert "docs/old/b.md" not in read()


def test_a_line_that_is_no_glob_is_said(repo: RepoBuilder) -> None:
    ignoring(repo, "docs/old/", "a*a*a*a*a*a*b", "!")
    assert gaps("PARSE_ERROR") == {".codememoryignore": "lines 2, 3"}
    assert "docs/old/b.md" not in read()


def test_a_tracked_document_is_read_whatever_gitignore_says(repo: RepoBuilder) -> None:
    repo.write(".gitignore", "*.md\n")
    repo.commit()
    collect(repo, ("documents",))
    assert "README.md" in read()


def test_what_is_brought_back_later_is_no_gap_any_more(repo: RepoBuilder) -> None:
    project = ignoring(repo, "docs/")
    repo.write(".codememoryignore", "docs/old/\n")
    repo.commit()
    collect_source(project, "documents")
    assert set(gaps("EXCLUDED")) == {"docs/old/b.md", "vendor/c.md"}
    assert "docs/a.md" in read()


def test_status_counts_what_the_ignore_file_leaves(repo: RepoBuilder) -> None:
    documents = project_status(ignoring(repo, "docs/"))["sources"]["documents"]
    assert documents["reachable"] == documents["processed"] == 1


def test_the_preview_counts_what_the_ignore_file_leaves_out(repo: RepoBuilder) -> None:
    repo.write(".codememoryignore", "docs/\n")
    repo.commit()
    found = said("collect", "--project", str(repo.root), "--preview", "--json").document
    rules = {(rule["name"], rule["pattern"]): rule["count"] for rule in found["rules"]}
    assert rules["the tree's ignore file", "docs/"] == 2
    assert found["sources"]["documents"]["eligible"] == 1


def test_our_own_block_is_left_out_and_listed(repo: RepoBuilder) -> None:
    repo.write("AGENTS.md", "# Agents\n\nOur words.\n\n" + OWN)
    repo.commit()
    collect(repo, ("documents",))
    texts = EvidenceSegment.objects.filter(revision__is_instruction_file=True)
    assert [bytes(row.content) for row in texts.order_by("byte_start")] == [
        b"# Agents",
        b"Our words.",
    ]
    assert gaps("EXCLUDED")["AGENTS.md"] == "codememory's own block, lines 5-9"


def test_our_own_block_is_listed_for_whoever_asks(repo: RepoBuilder) -> None:
    repo.write("AGENTS.md", "# Agents\n\nOur words.\n\n" + OWN)
    repo.commit()
    collect(repo, ("documents",))
    asked = ("list", "gaps", "--project", str(repo.root), "--path", "AGENTS.md")
    (row,) = said(*asked, "--reason", "EXCLUDED", "--json").document["rows"]
    assert (row["path"], row["source"], row["commit"]) == ("AGENTS.md", "documents", None)
    assert row["detail"] == "codememory's own block, lines 5-9"
    assert "own block, lines 5-9" in said(*asked).out
    assert said(*asked, "--reason", "BINARY", "--json").document["rows"] == []


def test_the_preview_lists_our_own_blocks(repo: RepoBuilder) -> None:
    repo.write("AGENTS.md", "# Agents\n\nOur words.\n\n" + OWN)
    repo.write("docs/begun.md", "<!-- codememory:begin -->\n\nNothing closes it.\n")
    repo.commit()
    found = said("collect", "--project", str(repo.root), "--preview", "--json").document
    (rule,) = (r for r in found["rules"] if r["pattern"] == "our own blocks in documents")
    assert (rule["effect"], rule["count"], rule["examples"]) == ("exclude", 1, ["AGENTS.md"])


def test_a_reason_is_asked_of_gaps_only(repo: RepoBuilder) -> None:
    collect(repo, ("documents",))
    asked = ("list", "documents", "--project", str(repo.root), "--reason", "BINARY")
    assert "--reason is for `list gaps`" in said(*asked).err


def test_an_excluded_document_has_no_history_either(repo: RepoBuilder) -> None:
    repo.write("docs/old/b.md", "# b\n\nOther words.\n")
    repo.write(".codememoryignore", "docs/old/\n")
    repo.commit()
    collect(repo)
    assert not SourceRevision.objects.filter(object_oid=repo.blob("docs/old/b.md")).exists()


def test_documents_of_others_are_left_out_and_listed(repo: RepoBuilder) -> None:
    collect(repo, ("documents",))
    assert gaps("EXCLUDED") == {"vendor/c.md": "vendor/"}
