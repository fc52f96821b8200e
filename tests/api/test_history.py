"""What happened to a file or a symbol, over REST and MCP alike; another project's is absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from api.access import ProcessAccess
from api.server import stdio_server
from codememory import tokens
from codememory.models import Project
from codememory.policies import newest_policy, set_policy, values_of
from tests.api.agents import calling, in_memory, text_of
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)
FIRST = "def refund(order):\n    return order.total\n"
TRIED = "def refund(order):\n    return order.total - order.fee\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "shop")
    for text in (FIRST, TRIED, FIRST):
        repo.write("src/refunds.py", text)
        repo.commit()
    return collect(repo)


@pytest.fixture
def other(tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "bank")
    repo.write("src/vault.py", "def open_vault():\n    return 1\n")
    repo.commit()
    return collect(repo)


@pytest.fixture
def rest(project: Project) -> APIClient:
    _, plain = tokens.create_token("agent", [project], ["read"])
    return APIClient(headers={"Authorization": f"Bearer {plain}"})


def over_rest(rest: APIClient, subject: str) -> dict[str, Any]:
    answer: dict[str, Any] = rest.get("/api/v1/projects/shop/history", {"subject": subject}).json()
    return answer


def told_over_mcp(**asked: Any) -> Any:
    return in_memory(stdio_server(ProcessAccess(None)), calling("get_history", **asked))


def over_mcp(subject: str) -> dict[str, Any]:
    result = told_over_mcp(project="shop", subject=subject)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    answer: dict[str, Any] = result.structured_content
    return answer


@pytest.mark.parametrize("subject", ["src/refunds.py", "refund", "src/refunds.py:refund"])
def test_what_was_tried_is_shown_with_what_took_it_back(rest: APIClient, subject: str) -> None:
    answer = over_rest(rest, subject)
    back, tried, _ = answer["events"]
    assert {end["change"] for end in tried["reverted_by"]} == {back["change"]}
    assert {end["change"] for end in back["reverts"]} == {tried["change"]}


def test_both_ways_say_the_same(rest: APIClient) -> None:
    assert over_rest(rest, "refund") == over_mcp("refund")


@pytest.mark.usefixtures("other")
@pytest.mark.parametrize("subject", ["src/vault.py", "open_vault", "src/vault.py:open_vault"])
def test_another_projects_subject_is_as_absent(rest: APIClient, subject: str) -> None:
    assert over_rest(rest, subject) == over_rest(rest, "nowhere")
    assert over_rest(rest, subject)["events"] == []


def test_a_history_is_read_page_by_page(rest: APIClient) -> None:
    address = "/api/v1/projects/shop/history?subject=src/refunds.py&limit=2"
    first = rest.get(address).json()
    rest_of_it = rest.get(f"{address}&cursor={first['next']}").json()
    seen = [event["id"] for event in (*first["events"], *rest_of_it["events"])]
    assert len(set(seen)) == 3
    assert rest_of_it["next"] is None


BOTH = ["src/refunds.py", "refund"]


@pytest.mark.parametrize("subject", [*BOTH, "nowhere", "vault.py"])
def test_a_cursor_of_another_subject_is_refused(rest: APIClient, subject: str) -> None:
    for of in (one for one in BOTH if one != subject):
        cursor = rest.get(f"/api/v1/projects/shop/history?subject={of}&limit=1").json()["next"]
        answer = rest.get(f"/api/v1/projects/shop/history?subject={subject}&cursor={cursor}")
        assert answer.status_code == 400
        assert "The cursor is not one of this question" in answer.json()["detail"]


def test_a_cursor_of_another_project_is_refused_over_mcp(project: Project, tmp_path: Path) -> None:
    twin = RepoBuilder(tmp_path / "twin")
    for text in (FIRST, TRIED):
        twin.write("src/refunds.py", text)
        twin.commit()
    collect(twin)
    asked = {"subject": "src/refunds.py", "limit": 1}
    cursor = told_over_mcp(project="shop", **asked).structured_content["next"]
    answer = told_over_mcp(project="twin", cursor=cursor, **asked)
    assert answer.is_error
    assert "The cursor is not one of this question" in text_of(answer)


def test_one_subject_under_two_names_has_one_cursor(rest: APIClient) -> None:
    address = "/api/v1/projects/shop/history"
    cursor = rest.get(address, {"subject": "refund", "limit": "1"}).json()["next"]
    asked: dict[str, str] = {"subject": "src/refunds.py:refund", "cursor": cursor}
    assert len(rest.get(address, asked).json()["events"]) == 2


def test_a_subject_has_to_be_text(rest: APIClient) -> None:
    assert rest.get("/api/v1/projects/shop/history?subject=a%00b").status_code == 400


def test_what_is_excluded_since_has_no_history(rest: APIClient, project: Project) -> None:
    absent = over_rest(rest, "nowhere")
    row = newest_policy(project)
    values = {**values_of(row), "exclude": ["src/*"]}
    set_policy(project, values, opened=row.generation, actor=None)
    for subject in ("src/refunds.py", "refund", "src/refunds.py:refund"):
        assert over_rest(rest, subject) == absent
