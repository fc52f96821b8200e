"""Pages of history: all rows of git, each distinct content once, and nothing excluded is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from collectors.git import Repository, Shadow, open_repository
from collectors.history import HistoryPage, read_commits, read_page
from collectors.objects import ObjectReader
from collectors.pair_work import Pair
from collectors.policy import Policy
from collectors.values import ContentClass, GapReason, PathClass
from tests.repos import RepoBuilder, make_tangled_repository

POLICY = Policy(redaction_key=b"k" * 32)


@contextmanager
def reading(repo: RepoBuilder, scratch: Path) -> Iterator[tuple[Shadow, ObjectReader]]:
    repository = open_repository(repo.root)
    assert isinstance(repository, Repository)
    with Shadow(repository, scratch) as shadow, shadow.objects() as reader:
        yield shadow, reader


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "repo")


def nothing_known(pairs: list[Pair]) -> set[Pair]:
    return set()


def pages(repo: RepoBuilder, scratch: Path, size: int = 3) -> Iterator[HistoryPage]:
    seen: set[Pair] = set()
    with reading(repo, scratch) as (shadow, reader):
        oids = list(shadow.reachable(repo.head()))
        for start in range(0, len(oids), size):
            page = read_page(shadow, reader, oids[start : start + size], POLICY, seen.intersection)
            seen |= {(change.old_oid, change.new_oid) for change in page.content_changes}
            yield page


def only_page(repo: RepoBuilder, scratch: Path) -> HistoryPage:
    (page,) = pages(repo, scratch, size=1000)
    return page


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_all_commits_and_rows_of_git_are_there(tmp_path: Path, object_format: str) -> None:
    """processed = rev-list --count; file changes = rows of log --raw -m -M."""
    repo = make_tangled_repository(tmp_path / "r", object_format=object_format)
    found = list(pages(repo, tmp_path / "s"))
    assert sum(len(page.commits) for page in found) == int(repo.git("rev-list", "--count", "HEAD"))
    assert sum(len(page.changes) for page in found) == repo.raw_rows()
    expected = {GapReason.BINARY, GapReason.SUBMODULE_NOT_READ}
    assert {gap.reason for page in found for gap in page.gaps} == expected


def test_every_parent_of_a_merge_is_compared(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("base", "1")
    repo.commit()
    repo.branch("side")
    repo.write("side", "2")
    repo.commit()
    repo.checkout("main")
    repo.write("main", "3")
    repo.commit()
    merge = repo.merge("side")
    rows = [row for row in only_page(repo, tmp_path / "s").changes if row.commit_oid == merge]
    assert [(row.parent_index, row.new_path) for row in rows] == [(0, b"side"), (1, b"main")]


def test_each_distinct_pair_is_compared_once(tmp_path: Path) -> None:
    repo = make_tangled_repository(tmp_path / "r")
    found = [change for page in pages(repo, tmp_path / "s") for change in page.content_changes]
    pairs = [(change.old_oid, change.new_oid) for change in found]
    assert len(pairs) == len(set(pairs))


def test_classes_follow_from_modes(tmp_path: Path) -> None:
    repo = make_tangled_repository(tmp_path / "r")
    page = only_page(repo, tmp_path / "s")
    classes = {
        (change.old_oid, change.new_oid): change.content_class for change in page.content_changes
    }
    by_path = {
        row.new_path: classes[row.old_oid, row.new_oid]
        for row in page.changes
        if (row.old_oid, row.new_oid) in classes and row.kind in "AM"
    }
    assert by_path[b"sub"] is ContentClass.SUBMODULE
    assert by_path[b"link"] is ContentClass.SYMLINK
    assert by_path[b"data.bin"] is ContentClass.BINARY
    assert ContentClass.MODE_ONLY in classes.values()


def test_an_excluded_path_keeps_its_row_and_is_not_read(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("node_modules/x.js", "let x = 1\n")
    repo.write(".env", "PASSWORD=hunter2\n")
    repo.commit()
    page = only_page(repo, tmp_path / "s")
    assert {page.path_class(row) for row in page.changes} == {
        PathClass.EXCLUDED, PathClass.PROTECTED,
    }  # fmt: skip
    assert page.content_changes == []
    assert page._reader is not None
    assert page._reader.objects_read == 3  # the commit and its two trees
    assert page.metrics["skipped_PROTECTED"] == 1


def test_a_move_out_of_an_excluded_folder_is_not_read(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("secret/.env", "PASSWORD=hunter2\n" * 9)
    repo.commit()
    repo.rename("secret/.env", "notes.txt")
    repo.commit()
    page = only_page(repo, tmp_path / "s")
    assert [page.path_class(row) for row in page.changes] == [PathClass.PROTECTED] * 2
    assert page.content_changes == []


def test_both_sides_of_a_change_are_served_redacted(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("a.py", "x = 1\npassword = 'hunter2!'\n")
    repo.commit()
    repo.write("a.py", "x = 2\npassword = 'hunter2!'\n")
    repo.commit()
    with reading(repo, tmp_path / "s") as (shadow, reader):
        page = read_page(shadow, reader, list(shadow.reachable(repo.head())), POLICY, nothing_known)
        change = page.content_changes[1]
        old, new = page.sides((change.old_oid, change.new_oid))
        hunks = list(page.hunk_sides(change))
    assert old is not None
    assert new is not None
    assert (old, new) == (b"x = 1\npassword = '********'\n", b"x = 2\npassword = '********'\n")
    assert hunks == [(b"x = 1\n", b"x = 2\n")]


def test_a_large_side_is_a_gap_with_what_is_known(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("big.txt", "x" * (POLICY.max_blob_bytes + 1))
    repo.commit()
    page = only_page(repo, tmp_path / "s")
    (change,) = page.content_changes
    assert (change.content_class, change.new_size) == (
        ContentClass.OVERSIZE, POLICY.max_blob_bytes + 1,
    )  # fmt: skip
    assert [gap.reason for gap in page.gaps] == [GapReason.OVERSIZE]


def test_a_missing_blob_leaves_the_rest_of_the_page(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.write("b", "2")
    repo.commit()
    repo.drop(repo.blob("a"))
    page = only_page(repo, tmp_path / "s")
    assert {change.content_class for change in page.content_changes} == {
        ContentClass.UNREAD, ContentClass.TEXT,
    }  # fmt: skip
    assert [gap.reason for gap in page.gaps] == [GapReason.MISSING_OBJECT]


def test_a_lying_blob_is_a_gap(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit()
    repo.forge(repo.blob("a"), b"2")
    page = only_page(repo, tmp_path / "s")
    assert [gap.reason for gap in page.gaps] == [GapReason.OBJECT_CORRUPT]


def test_a_lying_commit_is_a_gap_and_no_commit(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("a", "1")
    oid = repo.commit()
    content = repo.git_bytes("cat-file", "commit", oid)
    repo.forge(oid, content.replace(b"Alice", b"Mallory"), b"commit")
    page = only_page(repo, tmp_path / "s")
    assert page.commits == []
    assert [gap.reason for gap in page.gaps] == [GapReason.OBJECT_CORRUPT]


def test_a_commit_says_who_and_when(repo: RepoBuilder, tmp_path: Path) -> None:
    oid = repo.commit()
    with reading(repo, tmp_path / "s") as (_, reader):
        (commit,) = read_commits(reader, [oid], POLICY)
    assert (commit.author.name, commit.author.email) == (b"Alice", b"alice@example.org")
    assert (commit.author.offset, commit.committer.offset) == (120, 0)
    assert (commit.message, commit.parents, commit.message_truncated) == (b"fx\n", (), False)


def test_a_message_is_redacted_before_it_is_cut(repo: RepoBuilder, tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dE4fG6"
    oid = repo.commit("x" * (POLICY.max_message_bytes - 50) + f" {secret} " + "y" * 100)
    with reading(repo, tmp_path / "s") as (_, reader):
        (commit,) = read_commits(reader, [oid], POLICY)
    assert commit.message_truncated
    assert len(commit.message) == POLICY.max_message_bytes
    assert b"ghp_" not in commit.message


def test_a_broken_signature_does_not_stop_the_page(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.write("a", "1")
    content = repo.git_bytes("cat-file", "commit", repo.commit())
    content = content.replace(b"Alice <alice@example.org>", b"Al\xffice").replace(b"fx\n", b"\xfe")
    oid = repo.git("hash-object", "-w", "--literally", "-t", "commit", "--stdin", text=content)
    with reading(repo, tmp_path / "s") as (_, reader):
        (commit,) = read_commits(reader, [oid], POLICY)
    assert commit.author.name.startswith(b"Al\xffice")
    assert (commit.author.time, commit.message) == (0, b"\xfe")


def test_a_page_measures_itself(tmp_path: Path) -> None:
    page = only_page(make_tangled_repository(tmp_path / "r"), tmp_path / "s")
    assert page.metrics["commits"] == len(page.commits)
    assert page.metrics["file_changes"] == len(page.changes)
    assert page.metrics["skipped_EXCLUDED"] == 1
    assert page.metrics["bytes_read"] > 0
    assert page.metrics["contents_us"] > 0
