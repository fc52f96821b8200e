"""collect and runs: nothing is registered without preview and yes, and every ending is said."""

from __future__ import annotations

import logging
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from codememory import collect, slices
from codememory.collect import UpLock, is_up_running
from codememory.collect_history import scratch_folder
from codememory.errors import CodeMemoryError
from codememory.models import GitCommit, Project, Run, RunState
from tests.commands import Said, said
from tests.repos import RepoBuilder, make_tangled_repository, stamp


@pytest.fixture
def repo(db: None, tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop.py", "def open():\n    return 1\n")
    repo.write("README.md", "# Shop\n\nThe shop must stay open.\n")
    repo.write(".env", "KEY=1\n")
    repo.write("notes.rst", "Notes\n")
    repo.commit()
    return repo


def collected(repo: RepoBuilder, *more: str) -> Said:
    return said("collect", "--project", str(repo.root), *more)


def test_without_a_yes_nothing_is_registered(repo: RepoBuilder) -> None:
    answer = collected(repo)
    assert answer.status == 1
    assert "--yes" in answer.err
    assert not Project.objects.exists()


def test_the_preview_is_shown_before_the_yes(repo: RepoBuilder) -> None:
    assert "1 commit reachable" in collected(repo).err


def test_a_preview_alone_registers_nothing(repo: RepoBuilder) -> None:
    found = collected(repo, "--preview", "--json").document
    assert found["sources"]["git"]["commits"] == 1
    assert found["sources"]["documents"] == {"eligible": 1, "other_text_formats_not_read": 1}
    assert not Project.objects.exists()


def rules_of(repo: RepoBuilder) -> dict[str, Any]:
    found = collected(repo, "--preview", "--json").document
    return {f"{rule['class']} {rule['pattern']}": rule for rule in found["rules"]}


def test_the_preview_counts_each_rule_with_examples(repo: RepoBuilder) -> None:
    rules = rules_of(repo)
    assert rules["PROTECTED .env"]["count"] == 1
    assert rules["PROTECTED .env"]["examples"] == [".env"]
    assert rules["EXCLUDED node_modules/"]["count"] == 0


def test_each_tracked_file_is_counted_once(db: None, tmp_path: Path) -> None:
    repo = make_tangled_repository(tmp_path / "tangled")
    git = collected(repo, "--preview", "--json").document["sources"]["git"]
    tracked = len(repo.git("ls-files", "-z").split("\0")) - 1
    assert git["tracked_files"] == tracked == git["read"] + git["recorded_but_not_read"]


def test_a_preview_leaves_the_folder_as_it_was(repo: RepoBuilder) -> None:
    before = stamp(repo.root)
    collected(repo, "--preview")
    assert stamp(repo.root) == before


def test_with_a_yes_it_is_registered_and_read(repo: RepoBuilder) -> None:
    answer = collected(repo, "--yes", "--wait", "--json")
    assert answer.status == 0
    assert [run["state"] for run in answer.document["runs"]] == ["DONE", "DONE"]
    assert GitCommit.objects.count() == 1


def test_one_source_alone_can_be_collected(repo: RepoBuilder) -> None:
    found = collected(repo, "--yes", "--wait", "--source", "documents", "--json").document
    assert [run["source"] for run in found["runs"]] == ["documents"]
    assert not GitCommit.objects.exists()


def test_again_nothing_new_is_read(repo: RepoBuilder) -> None:
    collected(repo, "--yes", "--wait")
    assert "git was up to date" in collected(repo, "--wait").out


def test_a_new_head_tells_how_many_documents_changed(repo: RepoBuilder) -> None:
    collected(repo, "--yes", "--wait")
    repo.write("shop.py", "def open():\n    return 2\n")
    repo.commit()
    assert "documents 0 of 1 changed" in collected(repo, "--wait").out
    repo.remove("README.md")
    repo.write("NEWS.md", "# News\n")
    repo.commit()
    assert "documents 1 document read" in collected(repo, "--wait").out


def test_rules_that_decide_about_nothing_come_last(repo: RepoBuilder) -> None:
    found = collected(repo, "--preview", "--json").document["rules"]
    decides = [rule["count"] > 0 for rule in found]
    assert decides == sorted(decides, reverse=True)


def test_log_lines_stay_off_the_terminal(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings, "CODEMEMORY_HOME", tmp_path)
    shown = logging.StreamHandler(screen := StringIO())
    logging.getLogger().addHandler(shown)
    collected(repo, "--yes")
    (repo.root / ".git").rename(repo.root / "gone")
    collected(repo, "--wait")
    logging.getLogger().removeHandler(shown)
    assert screen.getvalue() == ""
    assert "WARNING codememory.runs" in (tmp_path / "logs/collect.log").read_text()


def test_without_wait_it_says_that_nothing_works_on_it(repo: RepoBuilder) -> None:
    answer = collected(repo, "--yes")
    assert "Nothing works on it until `up` runs" in answer.out
    assert Run.objects.filter(state=RunState.QUEUED).count() == 2


def test_a_folder_inside_a_repository_is_no_project(repo: RepoBuilder) -> None:
    inside = repo.root / "docs"
    inside.mkdir()
    answer = said("collect", "--project", str(inside), "--yes")
    assert answer.status == 1
    assert f"did you mean {repo.root}" in answer.err


def test_the_repository_of_the_current_folder_is_offered(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root)
    assert said("collect", "--yes").status == 0
    assert Project.objects.get().root == str(repo.root)


def test_an_unknown_name_is_no_path(db: None) -> None:
    answer = said("collect", "--project", "nowhere-at-all", "--yes")
    assert answer.status == 1
    assert "no project and no folder" in answer.err


def test_a_failed_run_is_status_1_with_its_reason(repo: RepoBuilder) -> None:
    collected(repo, "--yes")
    (repo.root / ".git").rename(repo.root / "gone")
    answer = said("collect", "--project", "shop", "--wait")
    assert answer.status == 1
    assert "NOT_A_REPOSITORY" in answer.out
    assert "runs retry R" in answer.out


def test_an_interrupted_run_goes_back_to_the_queue(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object, *, is_polite: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(collect, "work_slice", interrupt)
    monkeypatch.setattr(connection, "close", lambda: None)  # the test's own transaction
    assert collected(repo, "--yes", "--wait").status == 130
    assert set(Run.objects.values_list("state", "lease_owner")) == {("QUEUED", None)}


@pytest.mark.django_db(transaction=True)
def test_a_running_up_is_seen_while_it_lives() -> None:
    lock = UpLock()
    assert not is_up_running()
    assert lock.take()
    assert is_up_running()
    lock.release()
    assert not is_up_running()


@pytest.mark.django_db(transaction=True)
def test_asking_for_an_up_never_takes_its_lock() -> None:
    with CaptureQueriesContext(connection) as asked:
        is_up_running()
    assert not any("try_advisory" in query["sql"] for query in asked)


def test_collecting_removes_what_a_killed_process_left(repo: RepoBuilder) -> None:
    left = scratch_folder() / "shadow-left"
    left.mkdir()
    os.utime(left, (0, 0))  # one made just now could be starting
    collected(repo, "--yes")
    assert not left.exists()


def test_collecting_without_an_up_leaves_no_wake_ups(repo: RepoBuilder) -> None:
    collected(repo, "--yes", "--wait")
    collected(repo, "--wait")
    assert not OrmQ.objects.exists()


def test_collecting_without_an_up_goes_on_although_others_wait(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "POLITE_SECONDS", 0.0)
    monkeypatch.setattr(
        "codememory.runs.is_another_project_waiting", lambda _: pytest.fail("asked")
    )
    assert collected(repo, "--yes", "--wait").status == 0


@pytest.mark.django_db(transaction=True)
def test_a_second_up_is_refused() -> None:
    first = UpLock()
    first.take()
    answer = said("up")
    first.release()
    assert answer.status == 1
    assert "works on this database already" in answer.err


@pytest.mark.django_db(transaction=True)
def test_an_up_keeps_its_lock_when_the_database_ends_its_connection() -> None:
    lock = UpLock()
    lock.take()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks"
            " WHERE locktype = 'advisory' AND objid = %s AND granted",
            [collect.UP_LOCK],
        )
    lock.keep()
    assert is_up_running()
    lock.release()


def test_runs_are_listed_and_shown(repo: RepoBuilder) -> None:
    collected(repo, "--yes", "--wait")
    newest = said("runs", "--json").document["runs"][0]
    shown = said("runs", "show", newest["id"], "--json").document
    assert shown == newest
    assert newest["id"] in said("runs").out


def test_a_waiting_run_is_cancelled_and_retried(repo: RepoBuilder) -> None:
    collected(repo, "--yes", "--source", "git")
    run = f"R{Run.objects.get().pk}"
    assert said("runs", "cancel", run, "--json").document["state"] == "CANCELLED"
    assert said("runs", "retry", run, "--json").document["state"] == "QUEUED"


def test_a_finished_run_is_neither_cancelled_nor_retried(repo: RepoBuilder) -> None:
    collected(repo, "--yes", "--wait", "--source", "git")
    run = f"R{Run.objects.get().pk}"
    assert "R" in said("runs", "cancel", run).err
    assert said("runs", "retry", run).status == 1


def test_an_unknown_run_is_refused(db: None) -> None:
    assert said("runs", "show", "R999").status == 1
    assert said("runs", "show").err == "say which run by its id, such as R12; `runs` lists them"


def test_only_allowed_sources_are_collected(repo: RepoBuilder) -> None:
    collected(repo, "--yes")
    project = Project.objects.get()
    with pytest.raises(CodeMemoryError, match="not conversations"):
        collect.request_runs(project, ["conversations"])
