"""A shadow stays for the next question, and answers nothing that the repository has no more."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codememory import kept_shadows
from codememory.kept_shadows import KeptShadow, close_idle, give_back, take_shadow
from collectors.git import open_repository
from collectors.repository import Repository
from collectors.values import Gap, GapReason
from tests.repos import RepoBuilder

_taken: list[KeptShadow] = []


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("a.txt", "one\n")
    repo.commit()
    return repo


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    close_idle()
    yield
    close_idle()
    while _taken:
        _taken.pop().close()


def settle(repo: RepoBuilder, seconds: int = 60) -> None:
    """As if the object store had last changed so long ago."""
    then = time.time() - seconds
    for folder in ("objects", "objects/pack"):
        os.utime(repo.root / ".git" / folder, (then, then))


def take(repo: RepoBuilder, key: bytes = b"key") -> KeptShadow:
    repository = open_repository(repo.root)
    assert isinstance(repository, Repository)
    _taken.append(take_shadow(repository, repo.root.parent / "scratch", key))
    return _taken[-1]


def read(kept: KeptShadow, oid: str) -> bytes | Gap:
    return kept.reader.read(oid)


def test_the_next_question_has_the_same_git(repo: RepoBuilder) -> None:
    settle(repo)
    first = take(repo)
    oid = repo.git("rev-parse", "HEAD:a.txt")
    assert read(first, oid) == b"one\n"
    give_back(first)
    second = take(repo)
    assert second is first
    assert read(second, oid) == b"one\n"
    assert second.reader.objects_read == 2, "what was read for one question is read again"
    give_back(second)


def test_two_questions_at_once_have_their_own(repo: RepoBuilder) -> None:
    settle(repo)
    first, second = take(repo), take(repo)
    assert first is not second
    give_back(first)
    give_back(second)


def test_another_key_has_its_own(repo: RepoBuilder) -> None:
    settle(repo)
    first = take(repo)
    give_back(first)
    assert take(repo, b"other key") is not first


def test_what_was_removed_from_the_repository_is_not_read_any_more(repo: RepoBuilder) -> None:
    repo.git("repack", "-adq")
    oid = repo.git("rev-parse", "HEAD:a.txt")
    settle(repo)
    kept = take(repo)
    assert read(kept, oid) == b"one\n"
    give_back(kept)
    for pack in (repo.root / ".git/objects/pack").iterdir():
        pack.unlink()
    again = take(repo)
    assert again is not kept
    gap = read(again, oid)
    assert isinstance(gap, Gap)
    assert gap.reason is GapReason.MISSING_OBJECT
    give_back(again)


def test_what_came_to_the_repository_is_read(repo: RepoBuilder) -> None:
    settle(repo)
    kept = take(repo)
    assert isinstance(read(kept, "0" * 40), Gap)
    give_back(kept)
    for number in range(20):  # in folders of objects that are there and in new ones
        repo.write("a.txt", f"{number}\n")
        oid = repo.git("rev-parse", ":a.txt")
        again = take(repo)
        assert read(again, oid) == b"%d\n" % number
        give_back(again)


def test_a_store_that_just_changed_is_not_kept(repo: RepoBuilder) -> None:
    settle(repo, seconds=0)
    kept = take(repo)
    give_back(kept)
    assert take(repo) is not kept


def test_a_shadow_that_became_shallow_is_not_used(repo: RepoBuilder) -> None:
    settle(repo)
    kept = take(repo)
    give_back(kept)
    (repo.root / ".git/shallow").write_text(repo.git("rev-parse", "HEAD") + "\n")
    assert take(repo) is not kept


def test_one_whose_folder_or_git_is_gone_is_not_used(repo: RepoBuilder) -> None:
    settle(repo)
    kept = take(repo)
    give_back(kept)
    shutil.rmtree(repo.root.parent / "scratch")
    again = take(repo)
    assert again is not kept
    read(again, repo.git("rev-parse", "HEAD:a.txt"))
    assert again.reader._reader is not None
    again.reader._reader.kill()
    give_back(again)
    assert take(repo) is not again


def test_few_are_kept_and_not_for_long(repo: RepoBuilder, tmp_path: Path) -> None:
    settle(repo)
    taken = [take(repo) for _ in range(kept_shadows.MOST_KEPT + 2)]
    for kept in taken:
        give_back(kept)
    folders = tmp_path / "scratch"
    assert len(list(folders.iterdir())) == kept_shadows.MOST_KEPT
    close_idle(longer_than=3600)
    assert len(list(folders.iterdir())) == kept_shadows.MOST_KEPT
    close_idle()
    assert not list(folders.iterdir())


def test_a_forked_process_has_none(repo: RepoBuilder, tmp_path: Path) -> None:
    settle(repo)
    kept = take(repo)
    give_back(kept)
    child = os.fork()
    if child == 0:
        os._exit(len(kept_shadows._idle))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert len(list((tmp_path / "scratch").iterdir())) == 1
    assert take(repo) is kept
    give_back(kept)
