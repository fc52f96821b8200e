"""status: what is stored of HEAD comes before how the last run went; what is not known is null."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory import runs
from codememory.errors import SourceUnreadableError
from codememory.models import Project
from codememory.projects import primary_worktree, register_project
from codememory.status import project_status
from tests.collected import collect, collect_source
from tests.commands import said
from tests.repos import RepoBuilder


@pytest.fixture
def repo(db: None, tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "shop")


def written(repo: RepoBuilder) -> Project:
    repo.write("README.md", "# Shop\n\nThe shop must stay open.\n")
    repo.commit()
    return collect(repo)


def sources(project: Project) -> dict[str, Any]:
    found = project_status(project)["sources"]
    return {name: found[name]["state"] for name in ("git", "documents")}


def fail(project: Project, source: str) -> None:
    run = runs.request_run(primary_worktree(project), source, 1, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    runs.fail_run(claim, SourceUnreadableError("BUSY", "no"))


def test_what_a_missing_checkout_reaches_is_not_known(repo: RepoBuilder) -> None:
    project = written(repo)
    repo.root.rename(repo.root.with_name("moved"))
    found = project_status(project)["sources"]
    assert [source["state"] for source in found.values()] == ["NOT_A_REPOSITORY"] * 2
    assert [source["reachable"] for source in found.values()] == [None, None]
    assert [source["processed"] for source in found.values()] == [1, 1]


def test_people_are_told_what_is_stored_and_what_helps(repo: RepoBuilder) -> None:
    written(repo)
    repo.root.rename(repo.root.with_name("moved"))
    answer = said("status", "--project", "shop")
    assert "HEAD cannot be read; 1 commits are stored" in answer.out
    assert "put the folder back, then `collect`" in answer.out
    assert "HEAD cannot be read" in said("context", "stay open", "--project", "shop").out


def test_a_repository_without_a_commit_is_empty(repo: RepoBuilder) -> None:
    project, _ = register_project(repo.root)
    assert sources(project) == {"git": "EMPTY", "documents": "EMPTY"}
    for source in ("git", "documents"):
        collect_source(project, source)
    assert sources(project) == {"git": "EMPTY", "documents": "EMPTY"}
    assert "no commit yet" in said("status", "--project", "shop").out


def test_a_failure_after_head_was_read_leaves_it_complete(repo: RepoBuilder) -> None:
    project = written(repo)
    for source in ("git", "documents"):
        fail(project, source)
    assert sources(project) == {"git": "COMPLETE", "documents": "COMPLETE"}


def test_a_failure_before_head_was_read_is_shown(repo: RepoBuilder) -> None:
    project = written(repo)
    repo.write("README.md", "# Shop\n\nThe shop may close.\n")
    repo.commit()
    assert sources(project) == {"git": "BEHIND", "documents": "BEHIND"}
    for source in ("git", "documents"):
        fail(project, source)
    assert sources(project) == {"git": "FAILED", "documents": "FAILED"}
