"""status, search, context, list and evidence: one answer on stdout, for programs or for people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codememory.models import Project
from tests.collected import collect
from tests.commands import said
from tests.repos import RepoBuilder

RED = "\x1b[31mred\x1b[0m"
RULE = "A refund must never exceed the captured amount."


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("refunds.py", "def refund_amount(order):\n    return order.total\n")
    repo.write("docs/refunds.md", f"# Refunds\n\n## Rules\n\n{RULE}\n")
    repo.commit()
    repo.write("refunds.py", f'def refund_amount(order):\n    return "{RED}"\n')
    repo.commit()
    return collect(repo)


def test_status_counts_what_is_read(project: Project) -> None:
    found = said("status", "--project", "shop", "--json").document
    assert found["sources"]["git"]["processed"] == 2
    assert found["totals"]["file_changes"] == 3


def test_status_says_in_words_that_all_is_read(project: Project) -> None:
    text = said("status", "--project", "shop").out
    assert "COMPLETE: all of HEAD is read" in text
    assert "2 of 2 commits" in text


def test_the_project_is_that_of_the_current_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(project.root) / "docs")
    assert said("status", "--json").document["project"] == "shop"


def test_outside_of_projects_it_says_which_there_are(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = said("status")
    assert answer.status == 1
    assert "say --project NAME (shop)" in answer.err
    assert answer.out == ""


def test_without_any_project_it_says_how_to_get_one(
    db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = said("search", "refund")
    assert answer.status == 1
    assert "up --project PATH" in answer.err


def test_search_finds_the_change_with_its_evidence(project: Project) -> None:
    found = said("search", "refund_amount", "--project", "shop", "--kind", "change", "--json")
    best = found.document["results"][0]
    assert best["kind"] == "change"
    assert best["evidence_ids"]
    assert best["new_path"] == "refunds.py"


def test_search_shows_people_verdict_and_evidence(project: Project) -> None:
    text = said("search", "refund_amount", "--project", "shop").out
    assert "CURRENT_SUPPORTED" in text
    assert "evidence A" in text


def test_a_search_without_results_says_so(project: Project) -> None:
    answer = said("search", "zzzqqq", "--project", "shop")
    assert answer.status == 0
    assert "Nothing here fits" in answer.out


def test_search_goes_on_by_its_cursor(project: Project) -> None:
    words = ("search", "refund amount", "--project", "shop", "--limit", "1", "--json")
    first = said(*words).document
    second = said(*words, "--cursor", first["next"]).document
    assert first["results"][0]["id"] != second["results"][0]["id"]


def test_a_foreign_cursor_is_refused(project: Project) -> None:
    answer = said("search", "refund", "--project", "shop", "--cursor", "made-up")
    assert answer.status == 1
    assert "cursor" in answer.err


def test_context_answers_with_all_of_its_sections(project: Project) -> None:
    found = said("context", "change the refund amount", "--project", "shop", "--json").document
    assert found["relevant_changes"]
    assert found["documented_intent"]
    assert found["verification_gaps"]


def test_context_shows_people_what_is_not_known(project: Project) -> None:
    text = said("context", "change the refund amount", "--project", "shop").out
    assert "What changed" in text
    assert "NO_EXECUTION_RECORD" in text
    assert "2 of 2 commits" in text


@pytest.mark.parametrize("kind", ["documents", "changes", "segments", "candidates", "memories"])
def test_every_kind_can_be_listed(project: Project, kind: str) -> None:
    rows = said("list", kind, "--project", "shop", "--json").document["rows"]
    lines = said("list", kind, "--project", "shop").out.splitlines()
    assert len(lines) == max(1, len(rows))


def test_a_list_of_a_path_holds_only_that_path(project: Project) -> None:
    words = ("list", "changes", "--project", "shop", "--path", "refunds.py", "--json")
    assert [row["new_path"] for row in said(*words).document["rows"]] == ["refunds.py"] * 2


def test_evidence_is_the_exact_text(project: Project) -> None:
    rows = said("list", "segments", "--project", "shop", "--json").document["rows"]
    found = said("evidence", rows[-1]["id"], "--project", "shop", "--json").document
    assert found["text"] == RULE + "\n" or found["text"] == RULE
    assert found["sha256"] == rows[-1]["sha256"]


def test_evidence_that_is_not_there_is_refused(project: Project) -> None:
    answer = said("evidence", "A999.1", "--project", "shop")
    assert answer.status == 1
    assert answer.err == "there is no evidence A999.1 in shop"


def code_evidence(project: Project) -> str:
    rows = said("list", "changes", "--project", project.slug, "--json").document["rows"]
    return str(rows[-1]["evidence_ids"][0])


def test_people_never_get_raw_control_characters(project: Project) -> None:
    answer = said("evidence", code_evidence(project), "--project", "shop")
    assert "\x1b" not in answer.out
    assert "\\x1b[31mred" in answer.out


def test_json_keeps_them_escaped_and_exact(project: Project) -> None:
    answer = said("evidence", code_evidence(project), "--project", "shop", "--json")
    assert "\x1b" not in answer.out
    assert RED in json.loads(answer.out)["text"]
