"""Starting git: what it is given, what it may do, and how its failures come back."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors import git as collectors_git
from collectors.errors import DeadlineExceededError, GitFailedError
from collectors.git import (
    Repository,
    Shadow,
    git_version,
    open_repository,
    remove_stale,
)
from collectors.objects import ObjectReader
from collectors.values import Gap, GapReason
from tests.repos import RepoBuilder, make_tangled_repository, stamp


def opened(root: Path) -> Repository:
    repository = open_repository(root)
    assert isinstance(repository, Repository), repository
    return repository


@pytest.fixture(scope="module")
def tangled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tangled_repository(tmp_path_factory.mktemp("tangled") / "repo").root


@pytest.fixture
def repo(tangled: Path, tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(shutil.copytree(tangled, tmp_path / "repo", symlinks=True))


@pytest.fixture
def shadow(repo: RepoBuilder, tmp_path: Path) -> Iterator[Shadow]:
    with Shadow(opened(repo.root), tmp_path / "scratch") as found:
        yield found


@pytest.fixture
def reader(shadow: Shadow) -> Iterator[ObjectReader]:
    with shadow.objects() as found:
        yield found


def all_pairs(repo: RepoBuilder) -> list[tuple[str, str | None]]:
    lines = repo.git("rev-list", "--parents", "--topo-order", "--reverse", "HEAD").splitlines()
    pairs: list[tuple[str, str | None]] = []
    for commit, *parents in map(str.split, lines):
        pairs += [(commit, parent) for parent in parents] or [(commit, None)]
    return pairs


def test_git_is_new_enough_to_keep_settings_away() -> None:
    assert git_version() >= collectors_git.OLDEST_GIT


def test_head_is_the_commit_and_branch_git_names(repo: RepoBuilder, shadow: Shadow) -> None:
    head = shadow.head()
    assert (head.oid, head.branch) == (repo.head(), "main")


def test_history_is_listed_parents_first(repo: RepoBuilder, shadow: Shadow) -> None:
    oids = list(shadow.rev_list(repo.head()))
    assert oids == repo.git("rev-list", "--topo-order", "--reverse", "HEAD").splitlines()
    assert shadow.count(repo.head()) == len(oids)


def test_what_was_reachable_before_is_left_out(repo: RepoBuilder, shadow: Shadow) -> None:
    gone = "0" * 39 + "1"
    assert list(shadow.rev_list(repo.head(), [repo.git("rev-parse", "HEAD~1"), gone])) == [
        repo.head()
    ]


def test_a_head_that_is_missing_is_an_error_and_not_an_empty_history(shadow: Shadow) -> None:
    with pytest.raises(GitFailedError) as raised:
        list(shadow.rev_list("0" * 39 + "1"))
    assert not raised.value.retryable


def test_comparisons_come_one_for_each_pair_in_order(repo: RepoBuilder, shadow: Shadow) -> None:
    pairs = all_pairs(repo)
    found = list(shadow.changes(pairs))
    assert [(comparison.commit, comparison.parent) for comparison in found] == pairs
    assert sum(len(comparison.rows) for comparison in found) == repo.raw_rows()


def test_rows_say_exactly_what_git_says(repo: RepoBuilder, shadow: Shadow) -> None:
    printed = repo.git_bytes("log", "--raw", "-m", "-M", "--format=", "-z", "--no-abbrev")
    expected = sorted(row for row in printed.replace(b"\0:", b"\n:").strip(b"\0\n").split(b"\n"))
    rows = []
    for comparison in shadow.changes(all_pairs(repo)):
        for row in comparison.rows:
            status = row.kind + (f"{row.similarity:03}" if row.similarity is not None else "")
            zeros = "0" * 40
            head = (
                f":{row.old_mode:06o} {row.new_mode:06o} {row.old_oid or zeros} "
                f"{row.new_oid or zeros} {status}"
            )
            paths = [row.old_path, row.new_path] if row.kind in "RC" else [
                row.new_path or row.old_path
            ]  # fmt: skip
            rows.append(b"\0".join([head.encode(), *(path or b"" for path in paths)]))
    assert sorted(rows) == expected


def test_a_tree_is_listed_with_sizes(repo: RepoBuilder, shadow: Shadow) -> None:
    entries = {entry.path: entry for entry in shadow.tree(repo.head())}
    assert entries[b"src/b.py"].size == len((repo.root / "src/b.py").read_bytes())
    assert (entries[b"sub"].kind, entries[b"sub"].size) == ("commit", None)


def test_a_tree_path_that_would_escape_is_marked(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    blob = repo.git("hash-object", "-w", "--stdin", text=b"x")
    content = b"100644 ..\0" + bytes.fromhex(blob)
    tree = repo.git("hash-object", "-w", "--literally", "-t", "tree", "--stdin", text=content)
    commit = repo.git("commit-tree", "-m", "fx", tree)
    with Shadow(opened(repo.root), tmp_path / "s") as shadow:
        assert [entry.gap for entry in shadow.tree(commit)] == [GapReason.UNSAFE_PATH]


def test_a_shadow_leaves_nothing_behind(repo: RepoBuilder, tmp_path: Path) -> None:
    with Shadow(opened(repo.root), tmp_path / "s") as shadow:
        assert shadow.count(repo.head()) > 1
        assert remove_stale(tmp_path / "s") == 0
    assert not list((tmp_path / "s").iterdir())


def test_the_shadow_of_a_dead_process_can_be_removed(repo: RepoBuilder, tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        Shadow(opened(repo.root), tmp_path / "s").__enter__()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list((tmp_path / "s").iterdir())) == 1
    assert remove_stale(tmp_path / "s") == 0  # it could just be starting
    for folder in (tmp_path / "s").iterdir():
        os.utime(folder, (0, 0))
    assert remove_stale(tmp_path / "s") == 1
    assert not list((tmp_path / "s").iterdir())


def test_nothing_of_our_environment_reaches_git(
    shadow: Shadow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {trace}")
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "evil.so"))
    monkeypatch.setattr(collectors_git, "LIMITS", {})
    child = shadow._start(["cat-file", "--batch-check"], feed=True)
    child.write(b"HEAD\n")
    assert child.read_until(b"\n") == b"HEAD missing"
    environment = Path(f"/proc/{child.pid}/environ").read_bytes()
    child.kill()
    assert not trace.exists()
    assert not any(name in environment for name in (b"TRACE=", b"EXTERNAL", b"PRELOAD", b"evil"))


def test_the_walls_stand_around_git(shadow: Shadow) -> None:
    with shadow._start(["cat-file", "--batch-check"], feed=True) as child:
        limits = Path(f"/proc/{child.pid}/limits").read_text()
    assert "Max file size             0                    0" in limits


def test_a_killed_git_is_worth_another_try(shadow: Shadow, repo: RepoBuilder) -> None:
    reader = shadow.objects()
    reader.read(repo.blob("src/b.py"))
    assert reader._reader is not None
    os.kill(reader._reader.pid, signal.SIGKILL)
    with pytest.raises(GitFailedError) as raised:
        reader.read(repo.blob("empty"))
    reader.close()
    assert raised.value.retryable


def test_the_reader_goes_on_after_that(shadow: Shadow, repo: RepoBuilder) -> None:
    with shadow.objects() as reader:
        reader.read(repo.blob("src/b.py"))
        assert reader._reader is not None
        os.kill(reader._reader.pid, signal.SIGKILL)
        with pytest.raises(GitFailedError):
            reader.read(repo.blob("empty"))
        assert reader.read(repo.blob("empty")) == b""


def test_a_short_read_is_never_taken_for_the_end(
    shadow: Shadow, repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = shadow.rev_list(repo.head())
    original = shadow._start

    def start_and_kill(arguments: list[str], *, feed: bool = False) -> object:
        child = original(arguments, feed=feed)
        os.kill(child.pid, signal.SIGKILL)
        return child

    monkeypatch.setattr(shadow, "_start", start_and_kill)
    with pytest.raises(GitFailedError) as raised:
        list(walk)
    assert raised.value.retryable


def test_a_silent_git_is_killed_at_its_deadline(
    shadow: Shadow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collectors_git, "SILENCE_SECONDS", 0.05)
    child = shadow._start(["cat-file", "--batch-check"], feed=True)
    with pytest.raises(DeadlineExceededError):
        child.read_until(b"\n")
    assert not Path(f"/proc/{child.pid}").exists()


def test_git_ends_when_its_reader_is_killed(repo: RepoBuilder, tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        with Shadow(opened(repo.root), tmp_path / "s") as shadow:
            git = shadow._start(["cat-file", "--batch-check"], feed=True)
            os.write(theirs, b"%d\n" % git.pid)
            time.sleep(60)
    os.close(theirs)
    git_pid = int(os.read(ours, 20))
    os.close(ours)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert _ends(git_pid)


def _ends(pid: int) -> bool:
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_content_is_what_git_has(repo: RepoBuilder, reader: ObjectReader) -> None:
    content = reader.read(repo.blob("src/b.py"))
    assert content == repo.git_bytes("cat-file", "blob", "HEAD:src/b.py")


def test_a_second_read_comes_from_the_cache(repo: RepoBuilder, reader: ObjectReader) -> None:
    first = reader.read(repo.blob("src/b.py"))
    assert reader.read(repo.blob("src/b.py")) == first
    assert (reader.cache_hits, reader.objects_read) == (1, 1)


def test_the_cache_stays_within_its_bytes(repo: RepoBuilder, tmp_path: Path) -> None:
    for number in range(20):
        repo.write(f"f{number}", f"{number}" * 1000)
    oids = [repo.git("rev-parse", f":f{number}") for number in range(20)]
    with Shadow(opened(repo.root), tmp_path / "t") as shadow, shadow.objects(5000) as reader:
        reader.prefetch(oids)
        contents = [reader.read(oid) for oid in oids]
        assert [len(content) for content in contents if isinstance(content, bytes)] == [
            1000 * len(str(number)) for number in range(20)
        ]
        assert sum(map(len, reader._cache.values())) <= 5000


def test_a_missing_object_is_a_gap(repo: RepoBuilder, reader: ObjectReader) -> None:
    oid = repo.blob("src/b.py")
    repo.drop(oid)
    assert reader.read(oid) == Gap(GapReason.MISSING_OBJECT, oid=oid)
    assert reader.sizes([oid]) == {oid: None}


def test_a_lying_object_is_a_gap(repo: RepoBuilder, reader: ObjectReader) -> None:
    oid = repo.blob("src/b.py")
    repo.forge(oid, b"forged\n")
    assert reader.read(oid) == Gap(GapReason.OBJECT_CORRUPT, oid=oid)


def test_a_broken_object_does_not_stop_the_others(repo: RepoBuilder, reader: ObjectReader) -> None:
    oid, other = repo.blob("src/b.py"), repo.blob("empty")
    place = repo.loose(oid)
    place.chmod(0o644)
    place.write_bytes(place.read_bytes()[:-9])
    reader.prefetch([oid, other])
    gap = reader.read(oid)
    assert isinstance(gap, Gap)
    assert gap.reason in {GapReason.OBJECT_CORRUPT, GapReason.MISSING_OBJECT}
    assert reader.read(other) == b""


def test_too_large_an_object_is_not_read(repo: RepoBuilder, reader: ObjectReader) -> None:
    gap = reader.read(repo.blob("src/b.py"), limit=10)
    assert isinstance(gap, Gap)
    assert (gap.reason, reader.objects_read) == (GapReason.OVERSIZE, 0)


def test_an_object_of_another_kind_is_a_gap(repo: RepoBuilder, reader: ObjectReader) -> None:
    gap = reader.read(repo.git("rev-parse", "HEAD^{tree}"))
    assert isinstance(gap, Gap)
    assert gap.reason is GapReason.INVALID_TREE


@pytest.mark.parametrize("oid", ["HEAD", "--output=x", "main\nHEAD", "abc", ""])
def test_only_full_ids_are_fed_to_git(reader: ObjectReader, shadow: Shadow, oid: str) -> None:
    with pytest.raises(ValueError, match="full object id"):
        reader.read(oid)
    with pytest.raises(ValueError, match="full object id"):
        shadow.count(oid)


def test_a_lost_blob_costs_only_the_renames_of_its_commit(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("a", "".join(f"{number}\n" for number in range(50)))
    repo.commit()
    lost = repo.blob("a")
    repo.rename("a", "b")
    repo.write("b", "".join(f"{number}\n" for number in range(51)))
    repo.commit()
    repo.write("c", "c")
    repo.commit()
    repo.drop(lost)
    with Shadow(opened(repo.root), tmp_path / "s") as shadow:
        found = list(shadow.changes(all_pairs(repo)))
    assert [[row.kind for row in comparison.rows] for comparison in found] == [
        ["A"], ["D", "A"], ["A"],
    ]  # fmt: skip
    assert [gap.reason for gap in found[1].gaps] == [GapReason.MISSING_OBJECT]


def test_a_lost_tree_costs_only_its_own_comparisons(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    for name in "abcd":
        repo.write(f"{name}/f", name)
        repo.commit()
    repo.drop(repo.git("rev-parse", "HEAD~1^{tree}"))
    with Shadow(opened(repo.root), tmp_path / "s") as shadow:
        found = list(shadow.changes(all_pairs(repo)))
    assert [len(comparison.rows) for comparison in found] == [1, 1, 0, 0]
    assert [len(comparison.gaps) for comparison in found] == [0, 0, 1, 1]


def test_a_shallow_boundary_is_a_gap_and_not_a_root(tmp_path: Path) -> None:
    origin = make_tangled_repository(tmp_path / "origin")
    origin.git("clone", "-q", "--depth=2", f"file://{origin.root}", str(tmp_path / "shallow"))
    with Shadow(opened(tmp_path / "shallow"), tmp_path / "s") as shadow:
        boundary = shadow.shallow_boundary()
        oids = list(shadow.rev_list(origin.head()))
        found = list(shadow.changes([(boundary[0], origin.git("rev-parse", f"{boundary[0]}^1"))]))
    assert shadow.is_shallow
    assert set(boundary) < set(oids)
    assert [gap.reason for gap in found[0].gaps] == [GapReason.SHALLOW_BOUNDARY]


CANARIES = {
    "fsmonitor": ("core.fsmonitor", "touch {mark}"),
    "external diff": ("diff.external", "touch {mark}"),
    "text conversion": ("diff.evil.textconv", "touch {mark} #"),
    "clean filter": ("filter.evil.clean", "touch {mark} #"),
    "hooks": ("core.hooksPath", "hooks"),
    "ssh": ("core.sshCommand", "touch {mark} #"),
    "pager": ("core.pager", "touch {mark} #"),
    "alternate refs": ("core.alternateRefsCommand", "touch {mark} #"),
}


@pytest.mark.parametrize("vector", CANARIES)
def test_a_hostile_setting_is_never_carried_out(
    vector: str, repo: RepoBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never touch the subject: no hook, filter or helper; bytes and times stay as they were."""
    monkeypatch.setattr(collectors_git, "LIMITS", {})
    mark = tmp_path / "mark"
    repo.write(".gitattributes", "* diff=evil filter=evil\n")
    repo.commit()
    key, value = CANARIES[vector]
    repo.git("config", key, value.format(mark=mark))
    hook = repo.root / "hooks" / "post-index-change"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    before = stamp(repo.root)
    with Shadow(opened(repo.root), tmp_path / "s") as shadow, shadow.objects() as reader:
        rows = [row for found in shadow.changes(all_pairs_of(shadow)) for row in found.rows]
        assert reader.read(rows[-1].new_oid or "") == b"* diff=evil filter=evil\n"
        assert len(list(shadow.tree(shadow.head().oid or ""))) > 4
    assert not mark.exists()
    assert stamp(repo.root) == before


def test_such_a_setting_would_be_carried_out_by_plain_git(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    repo.git("config", "core.fsmonitor", f"touch {mark}")
    repo.git("status")
    assert mark.exists()


def all_pairs_of(shadow: Shadow) -> list[tuple[str, str | None]]:
    oids = list(shadow.reachable(shadow.head().oid or ""))
    return [(oids[0], None), (oids[-1], oids[-2])]
