"""A project follows its checkout; linked worktrees of its clone join it, other clones do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.models import AuditEvent, GitCommit, Project, RefSnapshot, Run, Worktree
from codememory.projects import find_project, project_of_path, register_project
from codememory.recall import search
from codememory.status import project_status
from tests.collected import collect
from tests.commands import said
from tests.repos import RepoBuilder, stamp


@pytest.fixture
def repo(db: None, tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop.py", "def open_on_sunday():\n    return True\n")
    repo.write("README.md", "# Rules\n\nThe shop must stay open on Sundays.\n")
    repo.commit()
    return repo


def moved(repo: RepoBuilder, to: Path) -> Path:
    repo.root.rename(to)
    return to


def test_a_moved_checkout_keeps_everything(repo: RepoBuilder, tmp_path: Path) -> None:
    project = collect(repo)
    before = search(project, "open sunday")
    new = moved(repo, tmp_path / "elsewhere")
    assert said("projects", "move", "shop", str(new), "--yes").status == 0
    project = Project.objects.get(slug="shop")
    assert (project.root, find_project(str(new))) == (str(new), project)
    assert search(project, "open sunday") == before


def test_a_move_is_in_the_audit_trail(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    new = moved(repo, tmp_path / "elsewhere")
    said("projects", "move", str(repo.root), str(new), "--yes")
    event = AuditEvent.objects.get(action="project.move")
    assert (event.facts["old_root"], event.facts["new_root"]) == (str(repo.root), str(new))


def test_after_a_move_nothing_is_read_again(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    repo.root = moved(repo, tmp_path / "elsewhere")
    said("projects", "move", "shop", str(repo.root), "--yes")
    collect(repo)
    assert Project.objects.count() == 1
    assert Run.objects.filter(source="git").latest("pk").done == 0


def test_its_preview_moves_nothing(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    new = moved(repo, tmp_path / "elsewhere")
    found = said("projects", "move", "shop", str(new), "--preview", "--json").document
    assert (found["is_preview"], found["to"]) == (True, str(new))
    assert found["known_by"]["root_commits"] == [GitCommit.objects.get().oid]
    assert Project.objects.get().root == str(repo.root)


def test_a_moved_checkout_is_not_changed(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    new = moved(repo, tmp_path / "elsewhere")
    before = stamp(new)
    said("projects", "move", "shop", str(new), "--yes")
    assert stamp(new) == before


def test_another_clone_is_no_moved_checkout(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    twin = tmp_path / "twin"
    repo.git("clone", "-q", str(repo.root), str(twin))
    refused = said("projects", "move", "shop", str(twin), "--yes")
    assert (refused.status, "NOT_MOVED" in refused.err) == (1, True)
    assert Project.objects.get().root == str(repo.root)


def test_another_history_is_no_moved_checkout(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    moved(repo, tmp_path / "gone")
    other = RepoBuilder(tmp_path / "other")
    other.write("a", "b")
    other.commit()
    refused = said("projects", "move", "shop", str(other.root), "--yes")
    assert refused.status == 1
    assert "does not hold the root commit" in refused.err


def test_a_clone_of_which_nothing_is_known_cannot_be_recognised(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    register_project(repo.root)
    new = moved(repo, tmp_path / "elsewhere")
    assert "NOTHING_KNOWN" in said("projects", "move", "shop", str(new), "--yes").err


def test_a_project_does_not_move_onto_another(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    other = RepoBuilder(tmp_path / "other")
    other.commit()
    register_project(other.root)
    moved(repo, tmp_path / "gone")
    assert "is the project other already" in said("projects", "move", "shop", str(other.root)).err


@pytest.mark.parametrize(
    "arguments", [("move", "shop"), ("remove", "shop", "x"), ("add", "a", "b")]
)
def test_only_a_move_takes_two_folders(repo: RepoBuilder, arguments: tuple[str, ...]) -> None:
    collect(repo)
    assert "`projects move OLD NEW`" in said("projects", *arguments, "--yes").err


@pytest.fixture
def linked(repo: RepoBuilder, tmp_path: Path) -> RepoBuilder:
    """A linked worktree of the registered clone, on a branch with a commit of its own."""
    collect(repo)
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = RepoBuilder(tmp_path / "side")
    side.write("side.py", "def walrus_counter():\n    return 1\n")
    side.commit()
    return side


def test_a_linked_worktree_joins_its_project(repo: RepoBuilder, linked: RepoBuilder) -> None:
    found = said("projects", "add-worktree", str(linked.root), "--yes", "--json").document
    assert (found["project"], found["worktrees"]) == ("shop", [str(linked.root)])
    assert Project.objects.count() == 1


def test_it_is_read_with_its_project(linked: RepoBuilder) -> None:
    said("projects", "add-worktree", str(linked.root), "--yes")
    ended = said("collect", "--project", "shop", "--wait")
    assert (ended.status, ended.err) == (0, ended.err)
    assert RefSnapshot.objects.filter(head_oid=linked.head()).exists()
    assert search(Project.objects.get(), "walrus counter")["results"][0]["new_path"] == "side.py"


def test_a_question_from_it_is_judged_against_it(linked: RepoBuilder) -> None:
    said("projects", "add-worktree", str(linked.root), "--yes")
    said("collect", "--project", "shop", "--wait")
    here = project_of_path(linked.root)
    assert here is not None
    verdicts = [
        search(project, "walrus counter")["results"][0]["verdict"]
        for project in (here, Project.objects.get())
    ]
    assert verdicts == ["CURRENT_SUPPORTED", "HISTORICAL"]


def test_status_tells_the_head_of_each_worktree(repo: RepoBuilder, linked: RepoBuilder) -> None:
    said("projects", "add-worktree", str(linked.root), "--yes")
    worktrees = project_status(Project.objects.get())["worktrees"]
    assert [(w["head"], w["branch"]) for w in worktrees] == [
        (repo.head(), "main"),
        (linked.head(), "side"),
    ]


def test_its_preview_adds_nothing(linked: RepoBuilder) -> None:
    shown = said("projects", "add-worktree", str(linked.root), "--preview")
    assert "A checkout of the clone of shop" in shown.out
    assert Worktree.objects.count() == 1


def test_it_is_no_project_of_its_own(linked: RepoBuilder) -> None:
    refused = said("projects", "add", str(linked.root), "--yes")
    assert "SAME_CLONE" in refused.err
    assert Project.objects.count() == 1


def test_another_clone_is_no_worktree(repo: RepoBuilder, tmp_path: Path) -> None:
    collect(repo)
    twin = tmp_path / "twin"
    repo.git("clone", "-q", str(repo.root), str(twin))
    refused = said("projects", "add-worktree", str(twin), "--yes")
    assert "is a clone of its own" in refused.err
    assert Worktree.objects.count() == 1


def test_a_worktree_that_was_removed_later_is_left_out(linked: RepoBuilder) -> None:
    said("projects", "add-worktree", str(linked.root), "--yes")
    linked.root.rename(linked.root.parent / "gone")
    found = said("collect", "--project", "shop", "--wait", "--json").document
    assert [run["state"] for run in found["runs"]] == ["DONE", "DONE"]


def test_a_move_says_which_worktree_does_not_open(
    repo: RepoBuilder, linked: RepoBuilder, tmp_path: Path
) -> None:
    said("projects", "add-worktree", str(linked.root), "--yes")
    new = moved(repo, tmp_path / "elsewhere")
    shown = said("projects", "move", "shop", str(new), "--yes")
    assert f"Its worktree {linked.root} does not open" in shown.out


def test_removing_a_project_previews_what_goes(repo: RepoBuilder) -> None:
    project = collect(repo)
    shown = said("projects", "remove", "shop", "--preview")
    assert "1 commits" in shown.out
    assert Project.objects.filter(pk=project.pk).exists()
