"""A new generation: what it includes is read, what it excludes is served to nobody any more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codememory import runs
from codememory.disk_budget import disk_budget_exceeded, disk_bytes_of
from codememory.evidence import find_evidence
from codememory.items import find_item
from codememory.listing import list_rows
from codememory.models import (
    AuditEvent,
    Candidate,
    ContentChange,
    EvidenceLink,
    EvidenceSegment,
    FileChange,
    GapRecord,
    LogicalChange,
    Memory,
    Project,
    Run,
    SearchEntry,
)
from codememory.policies import newest_policy, read_policy, set_policy, values_of
from codememory.policy_keys import changed
from codememory.policy_runs import request_reading
from codememory.projects import primary_worktree, register_project
from codememory.recall import engineering_context, search
from codememory.slices import BATCHES, work_slice
from codememory.status import project_status
from tests.builders import make_memory, make_person
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder

CODE = "def zanzibar_discount(price):\n    return price * 7 // 9\n"
RULE = "# Rules\n\nThe quetzal service must answer within two seconds.\n"
WORDS = ("zanzibar", "quetzal")


@pytest.fixture
def repo(db: None, tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("private/price.py", CODE)
    repo.write("private/rules.md", RULE)
    repo.write("public/other.py", "x = 1\n")
    repo.commit()
    repo.write("private/price.py", CODE.replace("7", "8"))
    repo.write("public/other.py", "x = 2\n")
    repo.commit()
    return repo


def change(project: Project, key: str, *words: str) -> None:
    row = newest_policy(project)
    values = changed(values_of(row), key, words)
    assert set_policy(project, values, opened=row.generation, actor=None) is not None


def answers(project: Project) -> str:
    """Every answer there is about the words of the private files, as one text."""
    found: list[Any] = []
    for question in ("zanzibar_discount price", "quetzal service must answer seconds"):
        found.append(search(project, question, limit=50)["results"])
        found.append(search(project, question, path="private", limit=50)["results"])
        found.append(engineering_context(project, question, paths=["private/price.py"]))
    kinds = ("documents", "changes", "segments", "candidates", "memories")
    found += [list_rows(project, kind)["rows"] for kind in kinds]
    found += [find_evidence(project, evidence_id) for evidence_id in all_evidence(project)]
    items = [("changes", f"L{pk}") for pk in keys(LogicalChange, project)]
    items += [("candidates", f"C{pk}") for pk in keys(Candidate, project)]
    items += [("memories", f"M{pk}") for pk in keys(Memory, project)]
    found += [find_item(project, kind, item_id) for kind, item_id in items]
    return json.dumps(found)


def keys(model: Any, project: Project) -> list[int]:
    return list(model.objects.filter(scope_id=project.scope_id).values_list("pk", flat=True))


def all_evidence(project: Project) -> list[str]:
    sides = [f"{s}{pk}.1" for pk in keys(ContentChange, project) for s in "AB"]
    return sides + [f"S{pk}" for pk in keys(EvidenceSegment, project)]


def classes(project: Project, path: bytes) -> set[tuple[str, bool]]:
    rows = FileChange.objects.filter(scope_id=project.scope_id, new_path__raw=path)
    return {(row.path_class, row.content_change_id is not None) for row in rows}


def test_before_a_change_the_answers_hold_the_words(repo: RepoBuilder) -> None:
    found = answers(collect(repo))
    assert all(word in found for word in WORDS)


@pytest.mark.parametrize("is_collected_again", [False, True])
def test_an_excluded_path_is_served_by_no_answer(
    repo: RepoBuilder, *, is_collected_again: bool
) -> None:
    project = collect(repo)
    make_memory(Candidate.objects.get(scope_id=project.scope_id), make_person(project))
    change(project, "exclude", "private/")
    if is_collected_again:
        collect(repo)
    found = answers(project)
    assert not [word for word in WORDS if word in found]
    assert "public/other.py" in found


def test_what_an_include_leaves_out_is_not_served(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "include", "public/")
    assert not [word for word in WORDS if word in answers(project)]


def test_an_excluded_path_leaves_the_index_with_the_next_run(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "exclude", "private/")
    collect(repo)
    assert classes(project, b"private/price.py") == {("EXCLUDED", False)}
    assert classes(project, b"public/other.py") == {("NORMAL", True)}
    shown = LogicalChange.objects.filter(scope_id=project.scope_id)
    entries = SearchEntry.objects.filter(scope_id=project.scope_id, kind="change")
    assert entries.count() == shown.count() == 2


def test_it_ends_as_if_it_had_been_excluded_from_the_start(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    repo.git("clone", "-q", str(repo.root), str(tmp_path / "twin"))
    late = collect(repo)
    change(late, "exclude", "private/")
    collect(repo)
    early, _ = register_project(tmp_path / "twin")
    change(early, "exclude", "private/")
    for source in ("git", "documents"):
        collect_source(early, source)
    assert facts_of(late) == facts_of(early)


def facts_of(project: Project) -> list[tuple[Any, ...]]:
    rows = FileChange.objects.filter(scope_id=project.scope_id)
    return sorted(
        rows.values_list(
            "commit__oid", "new_path__raw", "path_class", "content_change__new_oid",
            "unread_new_oid", "logical_change__identity", "logical_change__added_lines",
        )
    )  # fmt: skip


def test_what_is_included_again_is_read(repo: RepoBuilder) -> None:
    project, _ = register_project(repo.root)
    change(project, "exclude", "private/")
    collect(repo)
    assert "zanzibar" not in answers(project)
    change(project, "exclude", "private/", "!private/")
    assert request_reading(project) == [
        f"R{run.pk} ({run.source}) is queued to read under it"
        for run in Run.objects.filter(state="QUEUED").order_by("pk")
    ]
    collect(repo)
    found = answers(project)
    assert all(word in found for word in WORDS)


def test_a_memory_is_kept_and_comes_back(repo: RepoBuilder) -> None:
    project = collect(repo)
    memory = make_memory(Candidate.objects.get(scope_id=project.scope_id), make_person(project))
    change(project, "exclude", "private/")
    assert find_item(project, "memories", f"M{memory.pk}") is None
    change(project, "exclude", "nothing/")
    found = find_item(project, "memories", f"M{memory.pk}")
    assert found is not None
    assert (found["state"], "quetzal" in found["statement"]) == ("ACTIVE", True)


def test_a_disabled_source_is_served_and_not_read_further(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "sources", "documents=disabled")
    assert "quetzal" in answers(project)
    assert newest_policy(project).sources == ["git"]


def test_an_archived_source_is_kept_and_not_served(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "sources", "documents=archived")
    found = search(project, "quetzal service", kinds=["section", "candidate", "memory"])
    assert found["results"] == []
    assert list_rows(project, "segments")["rows"] == []
    assert EvidenceLink.objects.filter(scope_id=project.scope_id).exists()


def test_archived_history_is_not_served(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "sources", "git=archived")
    found = answers(project)
    assert "zanzibar" not in found
    assert "quetzal" in found


def test_an_enabled_source_is_served_again(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "sources", "git=archived", "documents=archived")
    change(project, "sources", "git=enabled", "documents=enabled")
    assert all(word in answers(project) for word in WORDS)


def test_a_run_keeps_the_generation_that_it_started_with(db: None, tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "long")
    repo.import_commits("more.py", [f"{number}\n" for number in range(250)])
    project, _ = register_project(repo.root)
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    batches = BATCHES["git"](claim)
    next(batches), next(batches)
    change(project, "exclude", "more.py")
    for _ in batches:
        pass
    run.refresh_from_db()
    assert (run.state, run.policy_generation) == ("DONE", 1)
    assert classes(project, b"more.py") == {("NORMAL", True)}
    assert "more.py" not in json.dumps(search(project, "249", limit=50))


def test_after_a_change_in_mid_run_the_new_generation_is_still_to_be_read(
    repo: RepoBuilder,
) -> None:
    project, _ = register_project(repo.root)
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    next(iter(BATCHES["git"](claim)))
    change(project, "exclude", "private/")
    assert request_reading(project)[0].startswith(f"R{run.pk} (git) goes on under generation 1")
    work_slice(claim)
    assert project_status(project)["sources"]["git"]["state"] == "BEHIND"


def test_a_change_that_reads_nothing_new_leaves_all_of_it_read(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "audit_days", "30")
    sources = project_status(project)["sources"]
    assert [sources[name]["state"] for name in ("git", "documents")] == ["COMPLETE", "COMPLETE"]
    assert request_reading(project) == []


def test_a_larger_limit_lets_a_large_file_be_read(repo: RepoBuilder) -> None:
    repo.write("big.py", "".join(f"line_{number} = {number}\n" for number in range(400)))
    repo.commit()
    project, _ = register_project(repo.root)
    change(project, "max_blob_bytes", "2KiB")
    collect(repo)
    assert {c for c, _ in unread(project)} == {"OVERSIZE"}
    change(project, "max_blob_bytes", "1MiB")
    collect(repo)
    assert not unread(project)
    assert search(project, "line_399")["results"][0]["new_path"] == "big.py"


def unread(project: Project) -> list[tuple[str, int]]:
    rows = ContentChange.objects.filter(scope_id=project.scope_id, content_class="OVERSIZE")
    return list(rows.values_list("content_class", "pk"))


def test_a_larger_patch_limit_reads_the_hunks_that_were_cut(repo: RepoBuilder) -> None:
    repo.write("big.py", "".join(f"line_{number} = {number}\n" for number in range(400)))
    repo.commit()
    project, _ = register_project(repo.root)
    change(project, "max_patch_bytes", "2KiB")
    collect(repo)
    cut = ContentChange.objects.filter(scope_id=project.scope_id, hunks_cut__gt=0)
    assert cut.exists()
    change(project, "max_patch_bytes", "1MiB")
    collect(repo)
    assert not cut.exists()


def test_a_smaller_document_limit_stops_serving_a_larger_document(repo: RepoBuilder) -> None:
    repo.write("docs/long.md", "# Long\n\nThe axolotl must stay.\n" + "word " * 1000)
    repo.commit()
    project = collect(repo)
    assert "axolotl" in json.dumps(search(project, "axolotl must stay"))
    change(project, "max_document_bytes", "2KiB")
    assert "axolotl" not in json.dumps(search(project, "axolotl must stay", kinds=["section"]))


def test_evidence_is_cut_at_the_excerpt_budget(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "excerpt_bytes", "256")
    repo.write("long.py", "".join(f"line_{number} = {number}\n" for number in range(400)))
    repo.commit()
    collect(repo)
    newest = ContentChange.objects.filter(scope_id=project.scope_id).latest("pk")
    found = find_evidence(project, f"A{newest.pk}.1")
    assert found is not None
    assert found["truncation"].startswith("first 256 of ")


def test_a_run_over_the_disk_budget_ends_and_says_so(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "disk_bytes", "1MiB")
    repo.write("more.py", "x\n")
    repo.commit()
    run = collect_source(project, "git")
    assert run.state == "FAILED"
    assert run.error_text is not None
    assert run.error_text.startswith("BUDGET: the project's rows take about")
    assert GapRecord.objects.get(reason="BUDGET").detail.startswith("disk: ")


def test_with_a_larger_budget_the_run_goes_on_and_the_gap_is_gone(repo: RepoBuilder) -> None:
    project = collect(repo)
    change(project, "disk_bytes", "1MiB")
    collect_source(project, "git")
    change(project, "disk_bytes", "5GB")
    assert collect_source(project, "git").state == "DONE"
    assert not GapRecord.objects.filter(reason="BUDGET").exists()


def test_a_project_pays_for_its_own_rows_alone(repo: RepoBuilder, tmp_path: Path) -> None:
    mine = collect(repo)
    empty, _ = register_project(RepoBuilder(tmp_path / "empty").root)
    assert disk_bytes_of(empty.scope_id) == 0
    assert disk_bytes_of(mine.scope_id) > 1 << 20
    assert not disk_budget_exceeded(mine.scope_id, read_policy(mine.scope_id))


def test_every_generation_is_in_the_audit_trail(repo: RepoBuilder) -> None:
    project, _ = register_project(repo.root)
    change(project, "exclude", "a/")
    change(project, "exclude", "b/")
    events = AuditEvent.objects.filter(scope=project.scope, action="policy.set").order_by("pk")
    assert [event.subject for event in events] == ["generation 2", "generation 3"]
