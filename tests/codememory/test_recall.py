"""Answers about real collected repositories: found by task and by path, judged, cited, bounded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codememory.errors import BadCursorError
from codememory.evidence import find_evidence
from codememory.listing import list_rows
from codememory.models import Project
from codememory.recall import engineering_context, search
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)

OLD = "def refund(order):\n    total = order.total\n    return total * 0.9\n"
NEW = "def refund(order):\n    total = order.total\n    return max(total - order.fee, 0)\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop/refund.py", OLD)
    repo.write("shop/mail.py", "def send(text):\n    print(text)\n")
    repo.write("README.md", "# Shop\n\nA refund must never be negative.\n")
    repo.commit()
    repo.write("shop/refund.py", NEW)
    repo.commit()
    repo.write("shop/mail.py", "def send(text):\n    print(text.strip())\n")
    repo.commit()
    return repo


@pytest.fixture
def project(repo: RepoBuilder) -> Project:
    return collect(repo)


def best(project: Project, question: str, **options: object) -> dict[str, object]:
    found = search(project, question, kinds=["change"], **options)  # type: ignore[arg-type]
    first: dict[str, object] = found["results"][0]
    return first


def test_a_changed_function_is_found_by_words_with_both_sides(project: Project) -> None:
    result = best(project, "why does a refund subtract the fee")
    texts = [find_evidence(project, i) for i in result["evidence_ids"]]  # type: ignore[attr-defined]
    assert {e["side"]: e["text"] for e in texts if e} == {
        "AFTER": "    return max(total - order.fee, 0)\n",
        "BEFORE": "    return total * 0.9\n",
    }


def test_no_rationale_is_invented(project: Project) -> None:
    changes = engineering_context(project, "why does a refund subtract the fee")["relevant_changes"]
    assert {change["rationale"] for change in changes} == {"UNKNOWN"}


def test_the_title_says_what_changed_and_never_the_message(project: Project) -> None:
    title = str(best(project, "refund fee")["title"])
    assert title == "refund in shop/refund.py changed (+1 -1)"


def test_a_path_narrows_the_search(project: Project) -> None:
    assert best(project, "changed", path="shop/mail.py")["new_path"] == "shop/mail.py"


def test_a_change_that_stands_is_current(project: Project) -> None:
    result = best(project, "refund fee max")
    assert (result["verdict"], result["verdict_method"]) == ("CURRENT_SUPPORTED", "BLOB_MATCH")


def test_an_uncommitted_edit_makes_it_historical(repo: RepoBuilder, project: Project) -> None:
    (repo.root / "shop/refund.py").write_text(OLD)
    assert best(project, "refund fee max")["verdict"] == "HISTORICAL"


def test_a_revert_keeps_the_evidence_and_changes_the_verdict(
    repo: RepoBuilder, project: Project
) -> None:
    repo.write("shop/refund.py", OLD)
    undo = repo.commit()
    collect_source(project, "git")
    result = best(project, "refund subtract order.fee max")
    assert (result["verdict"], result["verdict_method"]) == ("HISTORICAL", "REVERTED")
    changes = engineering_context(project, "refund subtract order.fee max")["relevant_changes"]
    assert {c["verdict_cites"] for c in changes if c["id"] == result["id"]} == {undo}


def test_another_branch_does_not_have_the_change(repo: RepoBuilder, project: Project) -> None:
    repo.branch("other", "HEAD~2")
    result = best(project, "refund fee max")
    assert result["verdict"] == "HISTORICAL"
    gaps = engineering_context(project, "refund fee")["verification_gaps"]
    assert "NOT_YET_PROCESSED" not in {gap["reason"] for gap in gaps}


def test_a_lost_checkout_is_unknown_not_historical(repo: RepoBuilder, project: Project) -> None:
    shutil.rmtree(repo.root)
    result = best(project, "refund fee max")
    assert (result["verdict"], result["verdict_method"]) == ("UNKNOWN", "SOURCE_UNAVAILABLE")
    section = search(project, "refund negative", kinds=["section"])["results"][0]
    assert section["verdict"] == "UNKNOWN"


def test_new_commits_are_said_to_be_not_processed(repo: RepoBuilder, project: Project) -> None:
    repo.write("a", "x")
    repo.commit()
    gaps = search(project, "refund")["gaps"]
    assert [(gap["reason"], gap["count"]) for gap in gaps] == [("NOT_YET_PROCESSED", 1)]


def test_a_document_that_still_says_so_is_current(project: Project) -> None:
    result = search(project, "negative refund", kinds=["section"])["results"][0]
    assert (result["verdict"], result["verdict_method"]) == ("CURRENT_SUPPORTED", "SEGMENT_MATCH")
    assert result["snippet"] == "A refund must never be negative."


def test_a_candidate_is_provisional_and_no_rule(project: Project) -> None:
    result = search(project, "negative refund", kinds=["candidate"])["results"][0]
    assert result["standing"] == "provisional"
    assert engineering_context(project, "make a refund negative")["applicable_rules"] == []


def test_an_asked_path_brings_its_newest_changes_whatever_their_words(project: Project) -> None:
    answer = engineering_context(project, "zebra", paths=["shop/mail.py"])
    assert {c["new_path"] for c in answer["relevant_changes"]} == {"shop/mail.py"}
    assert answer["current_code_links"][0]["is_present"] is True


def test_a_small_budget_leaves_out_and_says_so(project: Project) -> None:
    answer = engineering_context(project, "refund fee order mail", budget=200)
    assert answer["omitted"]
    assert answer["omitted"][0]["reason"] == "BUDGET"


def test_pages_of_a_context_do_not_overlap(project: Project) -> None:
    first = engineering_context(project, "refund order mail text", budget=450)
    assert first["next"]
    second = engineering_context(
        project, "refund order mail text", budget=450, cursor=first["next"]
    )
    ids = [{c["id"] for c in page["relevant_changes"]} for page in (first, second)]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


def test_a_cursor_of_another_question_is_refused(project: Project) -> None:
    cursor = engineering_context(project, "refund order mail text", budget=450)["next"]
    with pytest.raises(BadCursorError):
        engineering_context(project, "mail", cursor=cursor)


@pytest.mark.parametrize("question", ["", '"', "*", "(:-&|!", "\0", "\ud800", "x" * 10_000, "🙂"])
def test_any_question_gets_an_answer(project: Project, question: str) -> None:
    assert search(project, question)["next"] is None
    assert "verification_gaps" in engineering_context(project, question)


def test_a_question_too_long_to_be_read_is_answered_and_said_to_be_cut(project: Project) -> None:
    gaps = search(project, "refund " * 1_000)["gaps"]
    assert [gap["count"] for gap in gaps if gap["reason"] == "BUDGET"] == [3_000]


@pytest.mark.parametrize("folder", ["shop", "shop/"])
def test_a_folder_is_asked_for_like_a_file(project: Project, folder: str) -> None:
    answer = engineering_context(project, "zzz", paths=[folder])
    assert {c["new_path"] for c in answer["relevant_changes"]} == {"shop/mail.py", "shop/refund.py"}
    assert [link["is_present"] for link in answer["current_code_links"][:1]] == [True]


@pytest.mark.parametrize("name", ["sho", "shop/refund.p", "hop"])
def test_the_beginning_of_a_name_is_no_folder(project: Project, name: str) -> None:
    assert list_rows(project, "changes", path=name)["rows"] == []


def test_rows_are_listed_by_folder_as_they_are_found(project: Project) -> None:
    rows = list_rows(project, "changes", path="shop")["rows"]
    assert sorted(row["new_path"] for row in rows) == ["shop/mail.py"] * 2 + ["shop/refund.py"] * 2


def test_words_of_another_project_find_nothing(project: Project, tmp_path: Path) -> None:
    other = RepoBuilder(tmp_path / "other")
    other.write("zanzibar.py", "zanzibar = 1\n")
    other.commit()
    collect(other)
    assert search(project, "zanzibar")["results"] == []


def test_a_busy_path_still_shows_what_changed_there_last(
    repo: RepoBuilder, project: Project
) -> None:
    for number in range(20):
        repo.write("shop/mail.py", f"def send(text):\n    print('zebra', {number}, text)\n")
        repo.commit()
    repo.write("shop/mail.py", "def send(text):\n    return text\n")
    last = repo.commit()
    collect_source(project, "git")
    answer = engineering_context(project, "zebra", paths=["shop/mail.py"], budget=20_000)
    assert last in {change["commit"] for change in answer["relevant_changes"]}


def test_a_change_of_nothing_that_is_read_is_no_result(repo: RepoBuilder) -> None:
    repo.write("node_modules/zebra.js", "zebra = 1\n")
    repo.commit()
    repo.write("node_modules/quokka.js", "quokka = 1\n")
    repo.write("shop/quokka.py", "quokka = 1\n")
    repo.commit()
    project = collect(repo)
    assert search(project, "zebra", kinds=["change"])["results"] == []
    assert best(project, "quokka")["new_path"] == "shop/quokka.py"
