"""What was not read is listed by path and reason, for an agent as for anybody."""

from __future__ import annotations

from pathlib import Path

import pytest
from rest_framework.test import APIClient

from codememory import tokens
from codememory.models import Project
from tests.api.builders import write_repository
from tests.collected import collect

OWN = "<!-- codememory:begin -->\n\nAsk first.\n\n<!-- codememory:end -->\n"


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    repo = write_repository(tmp_path / "gamma", "session")
    repo.write("AGENTS.md", "# Agents\n\nOur words.\n\n" + OWN)
    repo.write("docs/manual.rst", "Manual\n======\n")
    repo.commit()
    return collect(repo)


@pytest.fixture
def asked(project: Project) -> APIClient:
    client = APIClient()
    plain = tokens.create_token("agent", [project], ["read"])[1]
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {plain}")
    return client


def test_a_block_of_our_own_is_listed_with_its_lines(asked: APIClient) -> None:
    found = asked.get("/api/v1/projects/gamma/gaps?path=AGENTS.md&reason=EXCLUDED").json()
    (row,) = found["rows"]
    assert row["detail"] == "codememory's own block, lines 5-9"
    assert (row["source"], row["path"], found["next"]) == ("documents", "AGENTS.md", None)


def test_gaps_come_page_by_page(asked: APIClient) -> None:
    page = asked.get("/api/v1/projects/gamma/gaps?limit=1").json()
    rest = asked.get(f"/api/v1/projects/gamma/gaps?cursor={page['next']}").json()
    paths = {row["path"]: row["reason"] for row in [*page["rows"], *rest["rows"]]}
    assert paths["docs/manual.rst"] == "UNSUPPORTED_FORMAT"
    assert len(page["rows"]) == 1
    assert rest["next"] is None


def test_an_unknown_reason_is_an_error(asked: APIClient) -> None:
    answer = asked.get("/api/v1/projects/gamma/gaps?reason=OTHER")
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMETERS")
