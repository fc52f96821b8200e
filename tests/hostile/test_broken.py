"""What is broken, forged or missing costs itself and nothing else, and is told by its reason."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from collectors.git import Refused, Repository, Shadow, ignored_overlays, open_repository
from collectors.parse_pool import ParsePool
from tests.hostile.attacks import RULE, ordinary
from tests.hostile.reading import Seen, read
from tests.repos import RepoBuilder, stamp


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return ordinary(tmp_path / "repo")


def seen(repo: RepoBuilder, tmp_path: Path) -> Seen:
    """Read it, and hold that nothing of it was touched."""
    before = stamp(repo.root)
    with ParsePool() as pool:
        found = read(repo.root, tmp_path / "scratch", pool)
    assert stamp(repo.root) == before
    return found


def opened(root: Path) -> Repository:
    found = open_repository(root)
    assert isinstance(found, Repository)
    return found


def tree(repo: RepoBuilder, *entries: tuple[bytes, bytes, str]) -> str:
    """A tree of these (mode, name, id), whatever git would say of it."""
    content = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(o) for mode, name, o in entries)
    return literal(repo, "tree", content)


def literal(repo: RepoBuilder, kind: str, content: bytes) -> str:
    return repo.git("hash-object", "-w", "--literally", "-t", kind, "--stdin", text=content)


def commit(repo: RepoBuilder, root: str) -> str:
    oid = repo.git("commit-tree", "-p", repo.head(), "-m", "fx", root)
    repo.git("update-ref", "refs/heads/main", oid)
    return oid


def reasons(found: Seen) -> set[str]:
    return {reason for reason, _, _ in found.gaps}


def test_a_lost_commit_cuts_the_history_off_and_is_a_gap(repo: RepoBuilder, tmp_path: Path) -> None:
    lost = repo.head()
    repo.write("b.txt", "b\n")
    repo.commit()
    tip = repo.head()
    repo.drop(lost)
    found = seen(repo, tmp_path)
    assert found.commits == [tip]
    assert ("MISSING_OBJECT", None, lost) in found.gaps
    assert RULE in found.documents["README.md"]


def test_a_merge_with_a_lost_parent_keeps_its_other_side(repo: RepoBuilder, tmp_path: Path) -> None:
    base = repo.head()
    repo.branch("side")
    repo.write("side.txt", "s\n")
    side = repo.commit()
    repo.checkout("main")
    repo.write("main.txt", "m\n")
    lost = repo.commit()
    repo.merge("side")
    repo.drop(lost)
    found = seen(repo, tmp_path)
    assert set(found.commits) >= {repo.head(), side, base}
    assert ("MISSING_OBJECT", None, lost) in found.gaps


@pytest.mark.parametrize("break_it", ["drop", "forge", "damage"])
def test_a_tree_that_cannot_be_used_costs_its_folder_only(
    break_it: str, repo: RepoBuilder, tmp_path: Path
) -> None:
    repo.write("far/x.txt", "x\n")
    repo.write("near/y.txt", "y\n")
    repo.commit()
    far = repo.git("rev-parse", "HEAD:far")
    if break_it == "drop":
        repo.drop(far)
    elif break_it == "forge":
        other = repo.git_bytes("cat-file", "tree", "HEAD:near")
        repo.forge(far, other, b"tree")
    else:
        repo.loose(far).chmod(0o644)
        repo.loose(far).write_bytes(b"nothing that was ever compressed")
    found = seen(repo, tmp_path)
    told = {(reason, path) for reason, path, oid in found.gaps if oid == far}
    assert told & {("MISSING_OBJECT", "far"), ("OBJECT_CORRUPT", "far")}
    assert (repo.head(), "A", "near/y.txt") in found.rows
    assert not any(path.startswith("far") for _, _, path in found.rows)


def test_a_forged_blob_is_never_taken_for_evidence(repo: RepoBuilder, tmp_path: Path) -> None:
    oid = repo.blob("README.md")
    repo.forge(oid, b"# Forged\n")
    found = seen(repo, tmp_path)
    assert "OBJECT_CORRUPT" in reasons(found)
    assert "Forged" not in str(found.documents) + str(found.added)
    assert "two\n" in found.added


HOSTILE_NAMES = (b"..", b".git", b".GIT", b"git~1")


def test_hostile_entries_of_a_tree_are_told_and_the_others_read(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    evil = literal(repo, "blob", b"# evil\n")
    good = literal(repo, "blob", b"# Good\n\nA rule.\n")
    inner = tree(repo, (b"100644", b"escape.md", evil))
    folders = [(b"40000", name, inner) for name in HOSTILE_NAMES]
    files = [
        (b"100644", b"a/b.md", evil),
        (b"100644", b"/etc/passwd", evil),
        (b"100644", b"", evil),
    ]
    more = [
        (b"100644", b"dup.md", evil), (b"100644", b"dup.md", good), (b"777777", b"mode.md", evil),
        (b"0", b"zero.md", evil), (b"100644", b"ok.md", good),
        (b"120000", b"link.md", literal(repo, "blob", b"/etc/passwd")),
    ]  # fmt: skip
    commit(repo, tree(repo, *folders, *files, *more))
    found = seen(repo, tmp_path)
    assert {"UNSAFE_PATH", "INVALID_TREE"} <= reasons(found)
    assert found.documents["ok.md"].startswith("# Good")
    assert not any(".." in path or "git" in path.lower() for path in found.documents)
    paths = [path for _, _, path in found.rows]
    assert "a/b.md" not in paths
    assert paths.count("dup.md") == 1


def test_a_tree_that_is_no_tree_is_a_gap(repo: RepoBuilder, tmp_path: Path) -> None:
    commit(repo, literal(repo, "tree", b"100644 half"))
    found = seen(repo, tmp_path)
    assert "INVALID_TREE" in reasons(found)
    assert len(found.commits) == 3


def overlay_replace(repo: RepoBuilder) -> None:
    ids = repo.git("rev-list", "HEAD").split()
    repo.git("replace", ids[0], ids[-1])


def overlay_grafts(repo: RepoBuilder) -> None:
    (repo.root / ".git/info/grafts").write_text(repo.git("rev-list", "HEAD").split()[1] + "\n")


def overlay_commit_graph(repo: RepoBuilder) -> None:
    """A commit-graph in which the newest commit has no parent."""
    repo.git("commit-graph", "write", "--reachable")
    place = repo.root / ".git/objects/info/commit-graph"
    place.chmod(0o644)
    content = bytearray(place.read_bytes())
    at = content.index(b"CDAT")
    (offset,) = struct.unpack(">Q", content[at + 4 : at + 12])
    row = sorted(repo.git("rev-list", "--all").split()).index(repo.head())
    content[offset + row * 36 + 20 : offset + row * 36 + 24] = struct.pack(">I", 0x7000_0000)
    place.write_bytes(content)


OVERLAYS: dict[str, tuple[Callable[[RepoBuilder], None], dict[str, int]]] = {
    "replace": (overlay_replace, {"replace_refs": 1}),
    "grafts": (overlay_grafts, {"grafts": 1}),
    "commit-graph": (overlay_commit_graph, {}),
}


@pytest.mark.parametrize("name", OVERLAYS)
def test_nothing_hides_history(name: str, repo: RepoBuilder, tmp_path: Path) -> None:
    for number in range(3):
        repo.write("a.txt", f"{number}\n")
        repo.commit()
    true = repo.git("rev-list", "--topo-order", "--reverse", "HEAD").split()
    arm, told = OVERLAYS[name]
    arm(repo)
    assert seen(repo, tmp_path).commits == true
    assert ignored_overlays(opened(repo.root)) == told


def test_an_overlay_would_hide_history_from_plain_git(repo: RepoBuilder) -> None:
    repo.write("a.txt", "3\n")
    repo.commit()
    overlay_grafts(repo)
    assert repo.git("rev-list", "--count", "HEAD") == "2"


def test_a_forged_shallow_file_is_a_boundary_that_is_told(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    repo.write("a.txt", "3\n")
    repo.commit()
    (repo.root / ".git/shallow").write_text(repo.head() + "\n")
    found = seen(repo, tmp_path)
    assert found.commits == [repo.head()]
    assert "SHALLOW_BOUNDARY" in reasons(found)


def test_another_project_s_objects_are_never_read(repo: RepoBuilder, tmp_path: Path) -> None:
    victim = ordinary(tmp_path / "victim")
    victim.write("secret.md", "# SECRET-OF-ANOTHER\n")
    victim.commit()
    stolen = victim.blob("secret.md")
    (repo.root / ".git/objects/info/alternates").write_text(f"{victim.root}/.git/objects\n")
    commit(repo, tree(repo, (b"100644", b"stolen.md", stolen)))
    found = seen(repo, tmp_path)
    assert found.refused == "ALTERNATE_NOT_ALLOWED"
    (repo.root / ".git/objects/info/alternates").unlink()
    found = seen(repo, tmp_path)
    assert "SECRET-OF-ANOTHER" not in str(found)
    assert "MISSING_OBJECT" in reasons(found)


@pytest.mark.parametrize("name", ["config", "HEAD", "packed-refs", "shallow", "refs/heads/main"])
def test_a_pipe_in_the_git_folder_never_blocks(
    name: str, repo: RepoBuilder, tmp_path: Path
) -> None:
    place = repo.root / ".git" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with ParsePool() as pool:
        found = read(repo.root, tmp_path / "scratch", pool)
    assert found.refused == "NOT_REGULAR" or found.head is None or found.commits


@pytest.mark.parametrize("name", ["index", "info/exclude"])
def test_pipes_that_only_git_status_reads_change_nothing(
    name: str, repo: RepoBuilder, tmp_path: Path
) -> None:
    place = repo.root / ".git" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    assert len(seen(repo, tmp_path).commits) == 2


def test_words_of_another_encoding_stay_bytes(repo: RepoBuilder, tmp_path: Path) -> None:
    """Row 27: what git would recode is taken as it stands in the object."""
    repo.git("config", "i18n.logOutputEncoding", "UTF-16")
    text = repo.git_bytes("cat-file", "commit", "HEAD").replace(b"Alice", b"\xc7i\xf0dem")
    head, _, message = text.partition(b"\n\n")
    literal_oid = literal(repo, "commit", head + b"\nencoding ISO-8859-9\n\n" + message)
    repo.git("update-ref", "refs/heads/main", literal_oid)
    assert seen(repo, tmp_path).commits[-1] == literal_oid


def test_reading_an_overlay_leaves_the_listing_as_it_is_twice(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    lost = repo.head()
    repo.write("b.txt", "b\n")
    repo.commit()
    repo.drop(lost)
    with Shadow(opened(repo.root), tmp_path / "s") as shadow:
        first = list(shadow.rev_list(repo.head()))
        assert shadow.count(repo.head()) == len(first) == 1
        assert list(shadow.rev_list(repo.head())) == first


def test_a_worktree_that_was_removed_is_told(repo: RepoBuilder, tmp_path: Path) -> None:
    place = tmp_path / "linked"
    repo.git("worktree", "add", "-q", str(place), "-b", "other")
    assert isinstance(open_repository(place), Repository)
    repo.git("worktree", "remove", "--force", str(place))
    found = open_repository(place)
    assert isinstance(found, Refused)
    assert found.reason == "NOT_A_REPOSITORY"


def test_a_worktree_whose_main_checkout_forgot_it_is_refused(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    place = tmp_path / "linked"
    repo.git("worktree", "add", "-q", str(place), "-b", "other")
    kept = (place / ".git").read_text()
    repo.git("worktree", "remove", "--force", str(place))
    place.mkdir()
    (place / ".git").write_text(kept)
    found = open_repository(place)
    assert isinstance(found, Refused)
    assert found.reason == "GITDIR_OUTSIDE_PROJECT"


def test_a_file_in_the_place_of_a_folder_of_objects_is_nothing(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    free = next(n for n in range(256) if not (repo.root / f".git/objects/{n:02x}").exists())
    (repo.root / f".git/objects/{free:02x}").write_text("stray\n")
    assert len(seen(repo, tmp_path).commits) == 2


def test_what_looks_bare_inside_a_checkout_is_no_repository(repo: RepoBuilder) -> None:
    from collectors.git import find_root  # noqa: PLC0415

    docs = repo.root / "docs"
    for name in ("objects", "refs"):
        (docs / name).mkdir(parents=True)
    (docs / "HEAD").write_text("ref: refs/heads/main\n")
    assert find_root(docs) == repo.root
