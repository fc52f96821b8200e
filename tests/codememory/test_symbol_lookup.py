"""Evidence names the symbol it stands in; a question about a symbol gets its changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.evidence import find_evidence
from codememory.models import ContentChange, Project
from codememory.recall import engineering_context
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db
CODE = "class Order:\n    def refund(self):\n        return self.total\n\n\nRATE = 1\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop/order.py", CODE)
    repo.write("notes.xyz", "one\n")
    repo.commit()
    repo.write("shop/order.py", CODE.replace("self.total", "min(self.total, self.left)"))
    repo.commit()
    repo.write("shop/order.py", CODE.replace("self.total", "self.left").replace("= 1", "= 2"))
    repo.commit()
    return collect(repo, ("git",))


def evidence(project: Project, content: int, rest: str) -> dict[str, Any]:
    pk = ContentChange.objects.order_by("pk").values_list("pk", flat=True)[content]
    found = find_evidence(project, rest.replace("#", str(pk)))
    assert found is not None
    return found


def test_evidence_names_the_innermost_symbol(project: Project) -> None:
    found = evidence(project, 2, "A#.1")
    symbol = found["symbol"]
    assert (symbol["name"], symbol["kind"], symbol["lines"]) == ("Order.refund", "METHOD", [2, 3])
    assert (found["parser_coverage"], symbol["change"]) == ("FULL", "MODIFIED")


def test_evidence_outside_of_symbols_says_so(project: Project) -> None:
    found = evidence(project, 3, "A#.2")
    assert found["symbol"] is None
    assert "outside" in found["reasons"]["symbol"]


def test_evidence_without_a_grammar_says_so(project: Project) -> None:
    found = next(
        one for n in range(2) if (one := evidence(project, n, "A#.1"))["new_path"] == "notes.xyz"
    )
    assert found["parser_coverage"] == "TEXTUAL_ONLY"
    assert "NO_GRAMMAR" in found["reasons"]["symbol"]


def test_a_question_about_a_symbol_gets_its_changes(project: Project) -> None:
    found = engineering_context(project, "something else", symbols=["Order.refund"])
    assert {one["found_by"] for one in found["relevant_changes"]} == {"symbol"}
    assert len(found["relevant_changes"]) == 3
