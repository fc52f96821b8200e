"""History becomes rows that equal Git's own, once, whatever is collected again or interrupted."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from codememory import runs
from codememory.collect import follow, request_runs
from codememory.collect_history import history_batches
from codememory.models import (
    ContentChange,
    FileChange,
    GapRecord,
    GitCommit,
    LogicalChange,
    OwnedModel,
    RefSnapshot,
    Run,
    RunState,
    SearchEntry,
)
from codememory.projects import primary_worktree, register_project
from codememory.recall import search
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder, make_tangled_repository, stamp

pytestmark = pytest.mark.django_db(transaction=True)


def fingerprint() -> dict[str, int]:
    """Count the rows of every owned table but runs."""
    return {
        model.__name__: model._default_manager.count()
        for model in OwnedModel.__subclasses__()
        if model is not Run
    }


def test_commits_and_rows_equal_gits_own(tmp_path: Path) -> None:
    repo = make_tangled_repository(tmp_path / "r")
    collect(repo, ("git",))
    assert GitCommit.objects.count() == int(repo.git("rev-list", "--count", "HEAD"))
    assert FileChange.objects.count() == repo.raw_rows()


def test_the_subject_is_not_touched(tmp_path: Path) -> None:
    repo = make_tangled_repository(tmp_path / "r")
    before = stamp(repo.root)
    collect(repo)
    assert stamp(repo.root) == before


def test_collecting_again_adds_no_row(tmp_path: Path) -> None:
    repo = make_tangled_repository(tmp_path / "r")
    project = collect(repo)
    before = fingerprint()
    collect_source(project, "git")
    collect_source(project, "documents")
    assert fingerprint() == before


def test_a_new_commit_adds_only_itself(tmp_path: Path) -> None:
    repo = make_tangled_repository(tmp_path / "r")
    project = collect(repo, ("git",))
    commits = GitCommit.objects.count()
    repo.write("src/new.py", "x = 1\n")
    head = repo.commit()
    run = collect_source(project, "git")
    assert (run.done, run.total) == (1, 1)
    assert GitCommit.objects.count() == commits + 1
    assert RefSnapshot.objects.filter(head_oid=head).exists()


def test_an_excluded_file_keeps_its_row_and_ids_and_nothing_else(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("node_modules/x.js", "let needle = 1\n")
    repo.commit()
    collect(repo, ("git",))
    row = FileChange.objects.get()
    assert row.path_class == "EXCLUDED"
    assert row.content_change is None
    assert row.unread_new_oid == repo.blob("node_modules/x.js")


def test_hunks_hold_ranges_and_digests_of_the_original_bytes(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("a.py", "one\ntwo\nthree\n")
    repo.commit()
    repo.write("a.py", "one\nTWO and\nthree\n")
    repo.commit()
    collect(repo, ("git",))
    (hunk,) = ContentChange.objects.exclude(old_oid=None).get().hunks()
    assert (hunk.old_line, hunk.old_lines, hunk.new_line, hunk.new_lines) == (2, 1, 2, 1)
    assert (hunk.new_start, hunk.new_end) == (4, 12)
    assert hunk.new_sha256 == hashlib.sha256(b"TWO and\n").digest()


def test_a_merge_of_one_commit_adds_no_logical_change(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("a.py", "one\n")
    repo.commit()
    repo.branch("side")
    repo.write("b.py", "two\n")
    side = repo.commit()
    repo.checkout("main")
    repo.write("c.py", "three\n")
    repo.commit()
    merge = repo.merge("side")
    collect(repo, ("git",))
    assert LogicalChange.objects.count() == 3
    shown = FileChange.objects.filter(new_path__raw=b"b.py").order_by("commit_id")
    assert {row.logical_change_id for row in shown} == {shown[0].logical_change_id}
    assert [row.commit.oid for row in shown] == [side, merge]


def test_a_cut_off_run_continues_where_it_was_and_ends_with_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codememory.collect_history.PAGE_COMMITS", 2)
    repo = make_tangled_repository(tmp_path / "r")
    project, _ = register_project(repo.root)
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    batches = history_batches(claim)
    for _ in range(2):  # the beginning and one page
        next(batches)
    batches.close()
    runs.yield_run(claim)
    assert 0 < GitCommit.objects.count() < 7
    finished = collect_source(project, "git")
    assert finished.pk == run.pk
    assert FileChange.objects.count() == repo.raw_rows()
    assert SearchEntry.objects.count() == LogicalChange.objects.count()


def test_a_rewritten_history_keeps_the_old_rows_and_says_which_are_unreachable(
    tmp_path: Path,
) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("a.py", "one\n")
    first = repo.commit()
    repo.write("a.py", "two\n")
    lost = repo.commit()
    project = collect(repo, ("git",))
    repo.git("reset", "-q", "--hard", first)
    repo.write("a.py", "three\n")
    head = repo.commit()
    collect_source(project, "git")
    snapshot = RefSnapshot.objects.get(head_oid=head)
    assert snapshot.reachable == 2
    assert snapshot.unreachable == [GitCommit.objects.get(oid=lost).pk]


def test_an_unborn_head_is_a_gap_not_a_failure(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    collect(repo, ("git",))
    assert [gap.reason for gap in GapRecord.objects.all()] == ["UNBORN_HEAD"]


def test_a_missing_blob_is_a_gap_and_the_rest_is_read(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("a.py", "one\n")
    repo.write("b.py", "two\n")
    repo.commit()
    repo.drop(repo.blob("a.py"))
    collect(repo, ("git",))
    assert [gap.reason for gap in GapRecord.objects.all()] == ["MISSING_OBJECT"]
    classes = ContentChange.objects.values_list("content_class", flat=True).order_by(
        "content_class"
    )
    assert list(classes) == ["TEXT", "UNREAD"]


def test_an_object_that_comes_back_is_read_and_its_gap_is_withdrawn(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("a.py", "zebra = 1\n")
    repo.commit()
    place = repo.loose(repo.blob("a.py"))
    kept = place.read_bytes()
    place.unlink()
    project = collect(repo, ("git",))
    row_id = ContentChange.objects.get().pk
    place.write_bytes(kept)
    collect_source(project, "git")
    change = ContentChange.objects.get()
    assert (change.pk, change.content_class, change.added_lines) == (row_id, "TEXT", 1)
    assert not GapRecord.objects.exists()
    assert search(project, "zebra")["results"][0]["title"] == "a.py added (+1 -0)"


def test_a_deepened_clone_is_read_further_and_loses_its_gap(tmp_path: Path) -> None:
    origin = RepoBuilder(tmp_path / "origin")
    for number in range(6):
        origin.write("a.py", f"n = {number}\n")
        origin.commit()
    origin.git("clone", "-q", "--depth", "2", f"file://{origin.root}", str(tmp_path / "r"))
    clone = RepoBuilder(tmp_path / "r")
    project = collect(clone, ("git",))
    assert GitCommit.objects.count() == 2
    clone.git("fetch", "-q", "--unshallow")
    collect_source(project, "git")
    assert GitCommit.objects.count() == 6
    assert FileChange.objects.count() == 6
    assert not GapRecord.objects.exists()


def test_a_first_commit_withdraws_the_gap_of_an_unborn_head(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    project = collect(repo, ("git",))
    repo.write("a.py", "one\n")
    repo.commit()
    collect_source(project, "git")
    assert not GapRecord.objects.exists()


def test_an_evil_merge_counts_only_its_own_lines(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("a.py", "".join(f"{number}\n" for number in range(30)))
    repo.commit()
    repo.branch("side")
    repo.write("a.py", (repo.root / "a.py").read_text().replace("3\n", "three\n", 1))
    repo.commit()
    repo.checkout("main")
    repo.write("a.py", (repo.root / "a.py").read_text().replace("25\n", "twentyfive\n"))
    repo.commit()
    repo.git("merge", "-q", "--no-ff", "--no-commit", "side")
    repo.write("a.py", (repo.root / "a.py").read_text().replace("14\n", "evil\n"))
    merge = repo.commit()
    collect(repo, ("git",))
    row = FileChange.objects.get(commit__oid=merge, logical_change__isnull=False)
    assert row.logical_change is not None
    assert (row.logical_change.added_lines, row.logical_change.removed_lines) == (1, 1)
    assert len(row.hunk_numbers or []) == 1


def test_what_is_asked_while_collecting_does_not_linger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codememory.collect_history.PAGE_COMMITS", 1)
    repo = RepoBuilder(tmp_path / "r")
    repo.write("old.py", "def walrus():\n    return 'tusk and whiskers'\n")
    repo.commit()
    repo.rename("old.py", "new.py")
    repo.commit()
    project, _ = register_project(repo.root)
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    batches = history_batches(claim)
    next(batches)
    next(batches)  # the first commit is stored, the rename is not
    assert search(project, "walrus")["results"]
    for _ in batches:
        pass
    assert search(project, "walrus")["results"][0]["verdict"] == "CURRENT_SUPPORTED"


def test_what_is_asked_for_while_history_is_read_is_read_afterwards(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    repo.write("old.py", "def walrus():\n    return 'tusk and whiskers'\n")
    repo.commit()
    project, _ = register_project(repo.root)
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    batches = history_batches(claim)
    next(batches)  # HEAD is captured
    repo.write("new.py", "def narwhal():\n    return 'one tusk'\n")
    oid = repo.commit()
    [joined] = request_runs(project, ["git"])
    assert joined.pk == run.pk
    for _ in batches:
        pass
    assert not GitCommit.objects.filter(oid=oid).exists()
    first, second = follow([joined.pk])
    assert (first.pk, first.state, second.state) == (run.pk, RunState.DONE, RunState.DONE)
    assert GitCommit.objects.filter(oid=oid).exists()
    assert search(project, "narwhal")["results"]
