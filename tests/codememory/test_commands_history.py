"""`history` tells people and programs the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collected import collect
from tests.commands import said
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db
CODE = "def refund(order):\n    return order.total_amount_to_refund\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    for text in (CODE, CODE.replace("total", "left"), CODE):
        repo.write("refund.py", text)
        repo.commit()
    collect(repo, ("git",))
    return repo


def test_people_read_what_was_taken_back(repo: RepoBuilder) -> None:
    told = said("history", "refund", "--project", "shop").out
    assert told.startswith("refund in refund.py: 3 commits")
    assert f"taken back by {repo.head()[:12]} (all of it)" in told


def test_programs_get_one_document(repo: RepoBuilder) -> None:
    found = said("history", "refund.py:refund", "--project", "shop", "--json").document
    assert [event["kind"] for event in found["events"]] == ["M", "M", "A"]
    assert found["authors"] == [{"name": "Alice", "changes": 3}]


def test_pages_follow_each_other(repo: RepoBuilder) -> None:
    one = said("history", "refund", "--project", "shop", "--limit", "2", "--json").document
    two = said("history", "refund", "--project", "shop", "--cursor", one["next"], "--json").document
    assert [len(one["events"]), len(two["events"]), two["next"]] == [2, 1, None]


def test_what_nobody_stored_is_said_to_be_unknown(repo: RepoBuilder) -> None:
    assert "No stored file" in said("history", "nowhere", "--project", "shop").out
