"""A mistyped name does nothing, although the current directory lies inside a registered root."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.models import ApiToken, Project, Run
from codememory.projects import find_exact_project, find_project, register_project
from tests.commands import said
from tests.repos import RepoBuilder

COMMANDS = (
    ("status", "--project", "nope"),
    ("search", "open", "--project", "nope"),
    ("context", "open", "--project", "nope"),
    ("list", "documents", "--project", "nope"),
    ("evidence", "S1", "--project", "nope"),
    ("runs", "--project", "nope"),
    ("collect", "--project", "nope", "--yes"),
    ("collect", "--project", "nope", "--preview"),
    ("up", "--project", "nope", "--preview"),
    ("projects", "add", "nope", "--yes"),
    ("projects", "remove", "nope", "--yes"),
    ("token", "create", "--project", "nope"),
    ("mcp", "--project", "nope"),
)


@pytest.fixture
def root(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registered root with a folder `docs`, in which the test stands."""
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("docs/README.md", "# Shop\n")
    repo.commit()
    register_project(repo.root)
    monkeypatch.chdir(repo.root)
    return repo.root


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_mistyped_name_is_refused_and_nothing_is_done(root: Path, command: list[str]) -> None:
    answer = said(*command)
    assert (answer.status, answer.out) == (1, "")
    assert "nope" in answer.err
    assert Project.objects.count() == 1
    assert not Run.objects.exists()
    assert not ApiToken.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_up_refuses_a_mistyped_name(root: Path, free_port: int) -> None:
    answer = said("up", "--project", "nope", "--port", str(free_port), "--yes")
    assert answer.status == 1
    assert "nope" in answer.err
    assert not Run.objects.exists()


@pytest.mark.parametrize("name", ["shop", ".", "docs", "./docs", "docs/.."])
def test_names_and_paths_that_exist_are_found(root: Path, name: str) -> None:
    assert find_project(name) is not None


@pytest.mark.parametrize("name", ["nope", "docs/nope", "./nope", "README.md", "", "a\0b"])
def test_what_does_not_exist_is_found_nowhere(root: Path, name: str) -> None:
    assert find_project(name) is None


@pytest.mark.parametrize(("name", "is_found"), [("shop", True), (".", True), ("docs", False)])
def test_what_cannot_be_undone_wants_the_exact_project(
    root: Path, name: str, *, is_found: bool
) -> None:
    assert (find_exact_project(name) is not None) is is_found


def test_a_folder_inside_removes_no_project_and_gives_no_token(root: Path) -> None:
    assert said("projects", "remove", "docs", "--yes").status == 1
    assert said("token", "create", "--project", "./docs").status == 1
    assert Project.objects.count() == 1
    assert not ApiToken.objects.exists()


def test_a_root_whose_folder_is_gone_is_still_found_and_removed(root: Path) -> None:
    root.rename(root.with_name("moved"))
    assert find_project(str(root)) is not None
    assert said("projects", "remove", str(root), "--yes").status == 0
