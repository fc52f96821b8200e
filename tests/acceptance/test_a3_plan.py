"""A3: a plan of which nothing was built is never called implemented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from codememory.candidates import shown_digest
from codememory.models import Candidate, Memory, Project, Role
from codememory.recall import engineering_context
from tests.builders import make_person, signed_in
from tests.collected import collect
from tests.repos import RepoBuilder

SAID = "We will issue partial refunds through a refund gateway."
TEXT = f"# Refunds\n\n## Roadmap\n\n{SAID}\n"
TASK = "issue partial refunds through the refund gateway"


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("docs/roadmap.md", TEXT)
    repo.write("shop/refunds.py", "def issue_refund(order):\n    return order.key\n")
    repo.commit()
    return collect(repo)


@pytest.fixture
def alice(project: Project) -> User:
    return make_person(project, Role.REVIEWER, "alice")


@pytest.fixture
def plan(project: Project) -> Candidate:
    return Candidate.objects.get(statement=SAID)


def send(user: User, candidate: Candidate, action: str) -> int:
    form = {"version": str(candidate.version), "shown": shown_digest(candidate).hex()}
    place = f"/projects/shop/candidates/{candidate.pk}/{action}"
    return signed_in(user).post(place, form).status_code


def mentions(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Every claim of an answer that says it."""
    items = [*answer["applicable_rules"], *answer["documented_intent"]]
    return [item for item in items if item["kind"] in {"candidate", "memory"}]


def test_a_plan_is_proposed_as_a_plan(plan: Candidate) -> None:
    assert plan.modality == "PLAN"


def test_it_cannot_be_promoted_as_a_rule(plan: Candidate, alice: User) -> None:
    assert send(alice, plan, "promote") == 422
    assert not Memory.objects.exists()


def test_what_is_kept_of_it_is_a_plan(plan: Candidate, alice: User) -> None:
    assert send(alice, plan, "promote-as-plan") == 302
    memory = Memory.objects.get()
    assert (memory.modality, memory.decision_action) == ("PLAN", "PROMOTE_AS_PLAN")


@pytest.mark.parametrize("is_kept", [False, True])
def test_every_answer_that_says_it_says_that_it_is_a_plan(
    project: Project, plan: Candidate, alice: User, is_kept: bool
) -> None:
    """`a plan whose feature is absent is not called implemented`"""
    if is_kept:
        send(alice, plan, "promote-as-plan")
    answer = engineering_context(project, TASK)
    assert {item["modality"] for item in mentions(answer)} == {"PLAN"}
    assert "shop/refunds.py" not in {link["path"] for link in answer["current_code_links"]}


def test_its_page_says_that_nothing_says_it_was_built(plan: Candidate, alice: User) -> None:
    for decided in (False, True):
        if decided:
            send(alice, plan, "promote-as-plan")
        page = signed_in(alice).get(f"/projects/shop/candidates/{plan.pk}/").content.decode()
        assert "Nothing here says that it was built." in page
        assert "implemented" not in page


def test_its_preview_says_that_it_stays_a_plan(plan: Candidate, alice: User) -> None:
    place = f"/projects/shop/review/bulk/?action=promote&c={plan.pk}"
    page = signed_in(alice).get(place).content.decode()
    assert "1 is a plan and stays one" in page
    assert "is kept as a plan, never as implemented" in page
