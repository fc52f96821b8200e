"""What unfolds without end is read up to a boundary that is told, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.attacks import RULE, ordinary
from tests.hostile.test_broken import commit, literal, tree
from tests.hostile.watching import read_all
from tests.repos import RepoBuilder

MOST_MIB, MOST_CHILD_MIB = 600, 900
MIB = 1 << 20


def unfolding_tree(repo: RepoBuilder) -> None:
    """Ten folders in ten folders, ten deep: ten thousand million files in eleven objects."""
    inner = literal(repo, "blob", b"x\n")
    mode = b"100644"
    for _ in range(10):
        inner = tree(repo, *((mode, b"%d" % number, inner) for number in range(10)))
        mode = b"40000"
    commit(repo, inner)


def empty_unfolding_tree(repo: RepoBuilder) -> None:
    """The same without a single file: only folders to be opened."""
    inner = tree(repo)
    for _ in range(10):
        inner = tree(repo, *((b"40000", b"%d" % number, inner) for number in range(10)))
    commit(repo, inner)


def deep_tree(repo: RepoBuilder) -> None:
    inner = tree(repo, (b"100644", b"x.md", literal(repo, "blob", b"# Deep\n")))
    for _ in range(300):
        inner = tree(repo, (b"40000", b"folder-of-21-letters", inner))
    commit(repo, inner)


def many_files(repo: RepoBuilder, count: int = 120_000) -> None:
    lines = "".join(f"M 100644 :1 d{number // 1000}/f{number % 1000}\n" for number in range(count))
    who = "Alice <alice@example.org> 1700001000 +0000"
    stream = (
        "blob\nmark :1\ndata 2\nx\n\n"
        f"commit refs/heads/main\ncommitter {who}\ndata 2\nfx\nfrom refs/heads/main^0\n{lines}\n"
    )
    repo.git("fast-import", "--quiet", text=stream.encode())


def huge_blob(repo: RepoBuilder) -> None:
    with (repo.root / "huge.md").open("wb") as file:
        file.truncate(300 * MIB)
    repo.git("-c", "core.compression=1", "add", "huge.md")
    repo.write("exact.md", b"# h\n" + b"b" * (2 * MIB - 4))
    repo.write("over.md", b"# h\n" + b"b" * (2 * MIB - 3))
    repo.commit()
    repo.git("rm", "-q", "--cached", "huge.md")
    (repo.root / "huge.md").rename(repo.root / "again.md")
    repo.git("-c", "core.compression=1", "add", "again.md")  # a rename that git would look into
    repo.commit()


def long_line(repo: RepoBuilder) -> None:
    repo.write("line.md", b"a" * (64 * MIB))
    repo.commit()
    text = repo.git_bytes("cat-file", "commit", "HEAD") + b"m" * (20 * MIB)
    repo.git("update-ref", "refs/heads/main", literal(repo, "commit", text))
    repo.write("after.txt", "after\n")
    repo.commit()


BOMBS: dict[str, tuple[Callable[[RepoBuilder], None], str, str | None]] = {
    "a tree that unfolds": (unfolding_tree, "BUDGET", "0/"),
    "folders that unfold": (empty_unfolding_tree, "BUDGET", None),
    "a deep tree": (deep_tree, "UNSAFE_PATH", "folder-of-21-letters/"),
    "very many files": (many_files, "BUDGET", "d"),
    "a huge blob": (huge_blob, "OVERSIZE", None),
    "a line of 64 MiB": (long_line, "OVERSIZE", None),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_its_boundary_only(name: str, tmp_path: Path) -> None:
    arm, reason, path = BOMBS[name]
    repo = ordinary(tmp_path / "bomb")
    arm(repo)
    other = ordinary(tmp_path / "other")
    roots = {"bomb": repo.root, "other": other.root}
    seen, _, _ = read_all(roots, tmp_path, {}, "walls")
    bomb: dict[str, Any] = seen["bomb"]
    told = [(why, where) for why, where, _ in bomb["gaps"] if why == reason]
    assert told
    assert path is None or any(where and where.startswith(path) for _, where in told)
    assert "two\n" in bomb["added"]
    assert RULE in seen["other"]["documents"]["README.md"]
    assert seen["other"]["peak_mib"] < MOST_MIB
    assert seen["other"]["child_mib"] < MOST_CHILD_MIB


def test_a_document_at_the_limit_is_read_and_one_above_it_is_not(tmp_path: Path) -> None:
    repo = ordinary(tmp_path / "r")
    huge_blob(repo)
    seen, _, _ = read_all({"r": repo.root}, tmp_path, {}, "walls")
    assert len(seen["r"]["documents"]["exact.md"]) > MIB
    assert "over.md" not in seen["r"]["documents"]
