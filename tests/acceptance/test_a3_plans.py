"""A3: a plan says that a feature comes, and the code lacks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.candidates import shown_digest
from codememory.models import Candidate, Memory, Project
from codememory.people import actor_of
from codememory.recall import engineering_context
from review.actions import promote_as_plan, promote_candidate
from review.outcomes import Decided, Refused, Shown
from tests.builders import make_person
from tests.collected import collect
from tests.repos import RepoBuilder

PLAN = "Partial refunds will be supported by the payments service."


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("docs/design.md", f"# Payments\n\nHow it works.\n\n## Roadmap\n\n{PLAN}\n")
    repo.write("payments.py", "def refund(order):\n    return order.total\n")
    repo.commit()
    return collect(repo)


@pytest.fixture
def plan(project: Project) -> Candidate:
    return Candidate.objects.get(statement=PLAN)


def items(project: Project) -> list[dict[str, Any]]:
    found = engineering_context(project, "support partial refunds in the payments service")
    return [*found["applicable_rules"], *found["documented_intent"]]


def test_it_is_proposed_as_a_plan(plan: Candidate) -> None:
    """A plan says a feature is planned."""
    assert plan.modality == "PLAN"


def test_it_is_shown_as_planned_and_never_as_reviewed(project: Project, plan: Candidate) -> None:
    """It is never called implemented: what says so is a document, and the claim is a plan."""
    claims = [item for item in items(project) if item["kind"] in {"candidate", "memory"}]
    assert [(one["modality"], one["standing"]) for one in claims] == [("PLAN", "provisional")]


def test_no_code_is_linked_to_it(project: Project, plan: Candidate) -> None:
    """The code lacks it: nothing of the code is given as its implementation."""
    evidence = {link for item in items(project) for link in item["evidence_ids"]}
    assert evidence
    assert all(link.startswith("S") for link in evidence)  # of documents


def test_it_cannot_be_promoted_as_a_rule(project: Project, plan: Candidate) -> None:
    """It can be kept as a plan, and then says so and that no code carries it out."""
    shown = Shown(plan.version, shown_digest(plan), frozenset())
    actor = actor_of(make_person(project))
    assert isinstance(promote_candidate(plan, shown, actor=actor), Refused)
    assert isinstance(promote_as_plan(plan, shown, actor=actor), Decided)
    found = engineering_context(project, "support partial refunds in the payments service")
    assert found["applicable_rules"] == []
    (rule,) = [item for item in found["documented_intent"] if item["kind"] == "memory"]
    assert (rule["modality"], Memory.objects.get().modality) == ("PLAN", "PLAN")
    reasons = {(gap["reason"], gap.get("claim")) for gap in found["verification_gaps"]}
    assert ("RULE_WITHOUT_IMPLEMENTATION_LINK", rule["id"]) in reasons
