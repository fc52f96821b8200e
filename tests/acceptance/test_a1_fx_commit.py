"""A1: a commit named `fx` changes a refund function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.evidence import find_evidence
from codememory.models import Project
from codememory.recall import engineering_context, search
from tests.collected import collect
from tests.repos import RepoBuilder

PATH = "shop/refunds.py"
HEAD = "def refund_amount(order, lines):\n"
OLD = "    return round_up(sum(line.price for line in lines))\n"
NEW = "    return min(round_down(sum(line.price for line in lines)), order.left)\n"
TASK = "change how the amount of a refund is computed"


@pytest.fixture
def fx(tmp_path: Path) -> RepoBuilder:
    """Every message says `fx`; beside the refund, other files of the shop change as well."""
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop/orders.py", "def place(order):\n    order.placed = True\n")
    repo.write(PATH, HEAD + OLD)
    repo.commit()
    repo.write("shop/orders.py", "def place(order):\n    order.placed = order.is_paid\n")
    repo.commit()
    repo.write(PATH, HEAD + NEW)
    repo.commit()
    for number in range(5):
        repo.write("shop/stock.py", f"SHELVES = {number}\n")
        repo.commit()
    return repo


@pytest.fixture
def project(db: None, fx: RepoBuilder) -> Project:
    return collect(fx)


@pytest.fixture
def oid(fx: RepoBuilder, project: Project) -> str:
    """The commit in question, which five others followed."""
    return fx.git("rev-parse", "HEAD~5")


def the_change(oid: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    return next(result for result in results if result["commit"] == oid)


def texts(project: Project, result: dict[str, Any]) -> dict[str, str]:
    """The exact text of each side that the result cites."""
    found = [find_evidence(project, evidence_id) for evidence_id in result["evidence_ids"]]
    return {answer["side"]: answer["text"] for answer in found if answer}


def test_by_task_it_comes_first_with_its_path(project: Project, oid: str) -> None:
    """`asked by task` the change is found."""
    changes = engineering_context(project, TASK)["relevant_changes"]
    assert changes[0] == the_change(oid, changes)
    assert changes[0]["new_path"] == PATH


def test_by_path_it_is_found(project: Project, oid: str) -> None:
    """`asked by path` the change is found, whatever the words."""
    context = engineering_context(project, "tidy up", paths=[PATH])
    assert the_change(oid, context["relevant_changes"])["new_path"] == PATH


def test_search_finds_it_by_task_and_by_path(project: Project, oid: str) -> None:
    assert the_change(oid, search(project, TASK, kinds=["change"])["results"])
    assert the_change(oid, search(project, "refund", path=PATH)["results"])


def test_the_exact_old_and_new_code_are_cited(project: Project, oid: str) -> None:
    """`exact old and new code`, byte for byte."""
    result = the_change(oid, engineering_context(project, TASK)["relevant_changes"])
    assert texts(project, result) == {"BEFORE": OLD, "AFTER": NEW}


def test_it_is_current_where_the_code_still_stands(project: Project, oid: str) -> None:
    result = the_change(oid, engineering_context(project, TASK)["relevant_changes"])
    assert result["verdict"] == "CURRENT_SUPPORTED"


def test_no_rationale_is_invented(project: Project, oid: str) -> None:
    """`rationale UNKNOWN`: neither the message nor anything else is given as a reason."""
    context = engineering_context(project, TASK)
    result = the_change(oid, context["relevant_changes"])
    assert result["rationale"] == "UNKNOWN"
    assert "fx" not in result["title"].split()
    assert context["applicable_rules"] == context["documented_intent"] == []


def test_without_the_new_code_it_is_no_longer_current(
    project: Project, fx: RepoBuilder, oid: str
) -> None:
    fx.write(PATH, HEAD + OLD)
    fx.commit()
    collect(fx)
    changes = engineering_context(project, TASK)["relevant_changes"]
    assert the_change(oid, changes)["verdict"] == "HISTORICAL"
