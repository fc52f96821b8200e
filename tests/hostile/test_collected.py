"""Broken and hostile repositories through whole collections: states, gaps, and what heals."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory import runs
from codememory.models import FileChange, GapRecord, GitCommit, Project, Run
from codememory.projects import primary_worktree
from codememory.status import project_status
from tests.collected import collect, collect_source
from tests.hostile.attacks import ordinary
from tests.repos import RepoBuilder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_processes")]


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return ordinary(tmp_path / "repo")


def git_reasons() -> set[str]:
    return set(GapRecord.objects.filter(source="git").values_list("reason", flat=True))


def git_state(project: Project) -> str:
    return str(project_status(project)["sources"]["git"]["state"])


def test_a_lost_folder_is_partial_and_heals(repo: RepoBuilder) -> None:
    repo.write("far/x.txt", "x\n")
    repo.write("near/y.txt", "y\n")
    repo.commit()
    far = repo.git("rev-parse", "HEAD:far")
    kept = repo.loose(far).read_bytes()
    repo.drop(far)
    project = collect(repo, ("git",))
    assert git_state(project) == "PARTIAL"
    assert FileChange.objects.filter(new_path__raw=b"near/y.txt").count() == 1
    repo.loose(far).write_bytes(kept)
    collect_source(project, "git")
    assert FileChange.objects.filter(new_path__raw=b"far/x.txt").count() == 1
    assert git_state(project) == "COMPLETE"


def test_a_lost_commit_is_partial_and_heals(repo: RepoBuilder) -> None:
    lost = repo.head()
    repo.write("b.txt", "b\n")
    repo.commit()
    kept = repo.loose(lost).read_bytes()
    repo.drop(lost)
    project = collect(repo, ("git",))
    assert (git_state(project), GitCommit.objects.count()) == ("PARTIAL", 1)
    repo.loose(lost).write_bytes(kept)
    collect_source(project, "git")
    assert (git_state(project), GitCommit.objects.count()) == ("COMPLETE", 3)
    assert FileChange.objects.count() == repo.raw_rows()


def test_the_ignore_file_holds_for_history(repo: RepoBuilder) -> None:
    repo.write("private/plan.txt", "a plan\n")
    repo.commit()
    project = collect(repo, ("git",))
    row = FileChange.objects.filter(new_path__raw=b"private/plan.txt")
    assert row.get().path_class == "NORMAL"
    repo.write(".codememoryignore", "private/\n")
    repo.commit()
    collect_source(project, "git")
    assert (row.get().path_class, row.get().content_change) == ("EXCLUDED", None)
    repo.remove(".codememoryignore")
    repo.commit()
    collect_source(project, "git")
    assert row.get().path_class == "NORMAL"


def test_neither_side_of_a_rename_from_a_protected_path_is_captured(repo: RepoBuilder) -> None:
    text = "".join(f"KEY_{number}=value\n" for number in range(30))
    repo.write(".env", text)
    repo.commit()
    repo.rename(".env", "plain.txt")
    repo.commit()
    collect(repo, ("git",))
    rows = FileChange.objects.filter(new_path__raw__in=[b".env", b"plain.txt"])
    assert [(row.path_class, row.content_change) for row in rows] == [("PROTECTED", None)] * 2


def test_overlays_are_ignored_and_counted_in_the_run(repo: RepoBuilder) -> None:
    ids = repo.git("rev-list", "HEAD").split()
    repo.git("replace", ids[0], ids[-1])
    (repo.root / ".git/info/grafts").write_text(ids[0] + "\n")
    collect(repo, ("git",))
    metrics = Run.objects.get().metrics
    assert (metrics["ignored_replace_refs"], metrics["ignored_grafts"]) == (1, 1)
    assert GitCommit.objects.count() == 2


def test_a_submodule_is_one_gap_of_its_place(repo: RepoBuilder) -> None:
    for oid in ("1" * 40, "2" * 40, "3" * 40):
        repo.submodule("sub", oid)
        repo.commit()
    collect(repo, ("git",))
    found = GapRecord.objects.filter(reason="SUBMODULE_NOT_READ")
    assert [bytes(gap.path.raw) for gap in found if gap.path] == [b"sub"]


def test_a_checkout_that_is_gone_fails_its_run_with_its_reason(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    project = collect(repo, ("git",))
    repo.root.rename(tmp_path / "elsewhere")
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    run = collect_source(project, "git")
    assert run.state == "FAILED"
    assert "SourceUnreadable" in str(run.error_class)


def test_a_document_that_hangs_the_parser_is_a_gap_and_the_next_is_read(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collectors.document_reader.DOCUMENT_SECONDS", 0.02)
    repo.write("a_slow.md", "".join(" " * depth + "- x\n" for depth in range(1_900)))
    repo.write("z.md", "# Z\n\nFields must be sent as text.\n")
    repo.commit()
    project = collect(repo, ("git", "documents"))
    assert GapRecord.objects.filter(source="documents", reason="DEADLINE").exists()
    assert project_status(project)["sources"]["documents"]["processed"] == 3
