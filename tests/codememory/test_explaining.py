"""Why a result ranked: terms with the fields that hold them, neighbours, shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.models import Project
from codememory.recall import search
from tests.collected import collect
from tests.commands import said
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop/refund.py", "def refund(order):\n    return order.total\n")
    repo.write("docs/fees.md", "# Fees\n\n## Rules\n\nA refund must never exceed the fee.\n")
    repo.commit()
    repo.write("shop/refund.py", "def refund(order):\n    return order.total - order.fee\n")
    repo.commit()
    return collect(repo)


def why(project: Project, question: str, kind: str) -> dict[str, Any]:
    found = search(project, question, kinds=[kind], explain=True)["results"][0]["why"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("kind", ["change", "section", "candidate"])
def test_the_fields_of_a_term_add_up_to_its_impact(project: Project, kind: str) -> None:
    for part in why(project, "refund fee", kind)["terms"]:
        assert sum(part["fields"].values()) == pytest.approx(part["impact"], rel=0.04)


def test_it_says_which_fields_held_a_word(project: Project) -> None:
    terms = {part["term"]: part for part in why(project, "refund fee", "change")["terms"]}
    assert {"base", "fn"} <= terms["refund"]["fields"].keys()
    assert {"acode", "dnew", "delta"} <= terms["fee"]["fields"].keys()


def test_the_parts_add_up_to_the_score(project: Project) -> None:
    found = why(project, "remove refund fee", "change")
    beside = sum(pair["score"] for pair in found["neighbours"]) + sum(found["shape"].values())
    assert found["first"] + beside == pytest.approx(found["second"], abs=0.01)
    assert found["second"] == pytest.approx(found["score"], abs=0.001)
    assert found["verbs"] == {"remove": 1.0}


def test_a_plain_search_says_none_of_it(project: Project) -> None:
    assert "why" not in search(project, "refund fee")["results"][0]


def test_the_command_shows_terms_fields_and_shape(project: Project) -> None:
    text = said("search", "add refund fee", "--explain", "--project", "shop").out
    assert "fee: weight 1, rarity" in text
    assert "acode" in text
    assert "shape (add):" in text
