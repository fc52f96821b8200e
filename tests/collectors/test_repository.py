"""Opening a repository by its files only: what is accepted, and what is refused without hanging."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collectors.git import (
    Refused,
    Repository,
    Shadow,
    find_root,
    open_repository,
    read_worktree_file,
)
from collectors.repository import read_head
from collectors.values import Gap, GapReason
from tests.repos import RepoBuilder


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "repo")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    return repo


def opened(root: Path) -> Repository:
    repository = open_repository(root)
    assert isinstance(repository, Repository), repository
    return repository


def refusal(root: Path) -> str:
    refused = open_repository(root)
    assert isinstance(refused, Refused)
    return refused.reason


def test_an_ordinary_checkout_is_opened(repo: RepoBuilder) -> None:
    repository = opened(repo.root)
    assert (repository.root, repository.git_dir) == (repo.root, repo.root / ".git")
    assert (repository.object_format, repository.is_bare) == ("sha1", False)


def test_only_the_exact_root_is_opened(repo: RepoBuilder) -> None:
    (repo.root / "sub").mkdir()
    assert refusal(repo.root / "sub") == "NOT_A_REPOSITORY"
    assert find_root(repo.root / "sub") == repo.root


def test_a_bare_repository_is_opened(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    repository = opened(tmp_path / "bare")
    assert repository.is_bare
    assert read_head(repository).oid == repo.head()


def test_a_linked_worktree_is_opened_with_its_own_head(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    repository = opened(tmp_path / "linked")
    assert repository.common_dir == repo.root / ".git"
    assert read_head(repository).branch == "other"
    with Shadow(repository, tmp_path / "s") as shadow:
        assert shadow.count(repo.head()) == 1


def test_a_git_file_that_is_not_pointed_back_to_is_refused(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    (tmp_path / "thief").mkdir()
    (tmp_path / "thief" / ".git").write_bytes((tmp_path / "linked" / ".git").read_bytes())
    assert refusal(tmp_path / "thief") == GapReason.GITDIR_OUTSIDE_PROJECT


def test_a_git_file_that_names_another_repository_is_refused(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    (tmp_path / "thief").mkdir()
    (tmp_path / "thief" / ".git").write_text(f"gitdir: {repo.root}/.git\n")
    assert refusal(tmp_path / "thief") == GapReason.GITDIR_OUTSIDE_PROJECT


def test_a_git_link_is_refused(repo: RepoBuilder, tmp_path: Path) -> None:
    (tmp_path / "thief").mkdir()
    (tmp_path / "thief" / ".git").symlink_to(repo.root / ".git")
    assert refusal(tmp_path / "thief") == GapReason.GITDIR_OUTSIDE_PROJECT


@pytest.mark.parametrize("name", ["config", "HEAD", "objects/pack/x.idx"])
def test_a_pipe_where_git_would_read_is_refused_at_once(repo: RepoBuilder, name: str) -> None:
    place = repo.root / ".git" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    assert refusal(repo.root) == GapReason.NOT_REGULAR


def test_a_pipe_as_the_git_entry_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert refusal(tmp_path) == GapReason.NOT_REGULAR


def test_a_linked_object_folder_is_refused(repo: RepoBuilder, tmp_path: Path) -> None:
    pack = repo.root / ".git" / "objects" / "pack"
    pack.rmdir()
    pack.symlink_to(tmp_path)
    assert refusal(repo.root) == GapReason.NOT_REGULAR


def test_borrowed_objects_are_refused(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--shared", ".", str(tmp_path / "borrower"))
    assert refusal(tmp_path / "borrower") == GapReason.ALTERNATE_NOT_ALLOWED


@pytest.mark.parametrize(
    ("version", "key", "value"),
    [
        ("2", "core.bare", "false"),
        ("1", "extensions.refStorage", "reftable"),
        ("1", "extensions.unheardOf", "true"),
        ("1", "extensions.objectFormat", "md5"),
    ],
)
def test_an_unknown_format_is_refused(
    repo: RepoBuilder, version: str, key: str, value: str
) -> None:
    section, name = key.split(".")
    with (repo.root / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\nrepositoryformatversion = {version}\n[{section}]\n{name} = {value}\n"
        )
    assert refusal(repo.root) == GapReason.UNSUPPORTED_FORMAT


def test_a_worktree_elsewhere_is_refused(repo: RepoBuilder) -> None:
    repo.git("config", "core.worktree", "/etc")
    assert refusal(repo.root) == GapReason.GITDIR_OUTSIDE_PROJECT


def test_a_sha256_repository_is_opened(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r", object_format="sha256")
    repo.write("a", "a")
    oid = repo.commit()
    repository = opened(repo.root)
    assert (repository.object_format, len(oid)) == ("sha256", 64)
    assert read_head(repository).oid == oid


def test_no_commit_yet_is_a_branch_without_an_id(tmp_path: Path) -> None:
    head = read_head(opened(RepoBuilder(tmp_path / "r").root))
    assert (head.oid, head.branch) == (None, "main")


def test_packed_detached_and_renamed_heads_are_resolved(repo: RepoBuilder) -> None:
    repo.git("pack-refs", "--all", "--prune")
    assert read_head(opened(repo.root)).oid == repo.head()
    repo.git("checkout", "-q", "--detach")
    assert (read_head(opened(repo.root)).oid, read_head(opened(repo.root)).branch) == (
        repo.head(), None,
    )  # fmt: skip
    repo.branch("çay/a b".replace(" ", "-"))
    assert read_head(opened(repo.root)).branch == "çay/a-b"


@pytest.mark.parametrize(
    "text", ["ref: ../../../etc/passwd", "ref: refs/heads/../../config", "ref: config", "junk"]
)
def test_a_head_that_points_out_of_the_refs_names_nothing(repo: RepoBuilder, text: str) -> None:
    (repo.root / ".git" / "HEAD").write_text(text + "\n")
    assert read_head(opened(repo.root)).oid is None


def test_a_ref_that_is_a_link_names_nothing(repo: RepoBuilder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(repo.head())
    ref = repo.root / ".git" / "refs" / "heads" / "main"
    ref.unlink()
    ref.symlink_to(tmp_path / "elsewhere")
    assert read_head(opened(repo.root)).oid is None


def test_a_worktree_file_is_read_as_it_lies_there(repo: RepoBuilder) -> None:
    assert read_worktree_file(repo.root, b"a.py", 100) == b"x = 1\n"
    assert read_worktree_file(repo.root, b"absent/b.py", 100) is None
    assert read_worktree_file(repo.root, b"a.py/b", 100) is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (b"link", GapReason.SYMLINK_NOT_FOLLOWED),
        (b"folder/a.py", GapReason.SYMLINK_NOT_FOLLOWED),
        (b"pipe", GapReason.NOT_REGULAR),
        (b"real", GapReason.NOT_REGULAR),
        (b"../repo/a.py", GapReason.UNSAFE_PATH),
        (b".git/config", GapReason.UNSAFE_PATH),
        (b"/etc/passwd", GapReason.UNSAFE_PATH),
        (b"large", GapReason.OVERSIZE),
    ],
)
def test_what_is_no_plain_file_of_the_worktree_is_a_gap(
    repo: RepoBuilder, path: bytes, reason: GapReason
) -> None:
    (repo.root / "link").symlink_to("a.py")
    (repo.root / "real").mkdir()
    (repo.root / "folder").symlink_to("real")
    os.mkfifo(repo.root / "pipe")
    (repo.root / "large").write_bytes(b"x" * 101)
    gap = read_worktree_file(repo.root, path, 100)
    assert isinstance(gap, Gap)
    assert gap.reason is reason
