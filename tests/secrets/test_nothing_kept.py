"""After a real scan of a repository full of secrets none of them is anywhere."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from api.access import ProcessAccess
from api.server import stdio_server
from codememory import tokens
from codememory.evidence import find_evidence
from codememory.listing import list_rows
from codememory.models import EvidenceSegment, Project, Role
from codememory.policies import default_policy
from codememory.preview import preview_project
from tests.api.agents import calling, in_memory
from tests.api.builders import ids_of
from tests.builders import make_person, signed_in
from tests.collected import collect
from tests.secrets.planted import RULE, SECRET, Needles, one_of_each, plant_repository

pytestmark = pytest.mark.django_db
SEED = 20_261_130
PLACES = {
    "C": "candidates",
    "D": "documents",
    "F": "changes",
    "L": "changes",
    "M": "memories",
    "R": "runs",
}
API = "/api/v1/projects/shop"


@pytest.fixture(scope="module")
def corpus() -> list[Any]:
    return one_of_each(SEED)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, corpus: list[Any]) -> Path:
    return plant_repository(tmp_path_factory.mktemp("planted") / "shop", corpus).root


@pytest.fixture
def project(root: Path) -> Project:
    from tests.repos import RepoBuilder  # noqa: PLC0415

    return collect(RepoBuilder(root))


@pytest.fixture
def needles(corpus: list[Any]) -> Needles:
    return Needles(corpus)


def dump() -> Iterator[tuple[str, str]]:
    """Every table of the database with all its rows, bytes as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            rows = cursor.fetchall()
            yield table, "\n".join(_text(value) for row in rows for value in row)


def _text(value: object) -> str:
    if isinstance(value, memoryview | bytes):
        return bytes(value).decode("utf-8", "backslashreplace")
    return str(value)


def test_the_needles_are_found_where_they_are(root: Path, needles: Needles) -> None:
    texts = [p.read_text(encoding="utf-8") for p in root.rglob("*.md") if ".git" not in p.parts]
    assert len(needles.found_in("\n".join(texts))) > 500


def test_no_table_holds_any_of_them(
    project: Project, needles: Needles, caplog: pytest.LogCaptureFixture
) -> None:
    found = {table: shown for table, text in dump() if (shown := needles.found_in(text))}
    assert found == {}
    assert needles.found_in(caplog.text) == set()


@pytest.mark.usefixtures("project")
def test_the_hash_and_the_range_of_the_original_are_kept(root: Path) -> None:
    import hashlib  # noqa: PLC0415

    segment = EvidenceSegment.objects.get(revision__path__raw=b"docs/said.md", kind="paragraph")
    original = (root / "docs/said.md").read_bytes()[segment.byte_start : segment.byte_end]
    (span,) = segment.redactions
    assert bytes(segment.sha256) == hashlib.sha256(original).digest()
    assert (root / "docs/said.md").read_bytes()[span["start"] : span["end"]].decode() == SECRET


def test_no_answer_over_rest_shows_any_of_them(project: Project, needles: Needles) -> None:
    client = APIClient()
    _, plain = tokens.create_token("agent", [project], ["read"])
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {plain}")
    addresses = [API, f"{API}/status", f"{API}/runs", "/api/v1/projects"]
    addresses += [f"{API}/search?q=password+token", f"{API}/context?task=refund+signature"]
    for kind in ("changes", "documents", "candidates"):
        addresses.append(f"{API}/{kind}?limit=100")
    folders = {"C": "candidates", "D": "documents", "F": "changes", "L": "changes", "M": "memories"}
    for each in ids_of(project)[::3]:
        addresses.append(f"{API}/{folders.get(each[0], 'evidence')}/{each}")
    for address in addresses:
        text = client.get(address).content.decode()
        assert needles.found_in(text) == set(), address


def test_no_answer_over_mcp_shows_any_of_them(project: Project, needles: Needles) -> None:
    server = stdio_server(ProcessAccess(None))
    for name, arguments in (
        ("project_status", {}),
        ("list_candidates", {}),
        ("search_history", {"query": "password"}),
        ("engineering_context", {"task": "refund signature"}),
    ):
        answer = in_memory(server, calling(name, **arguments))
        assert needles.found_in(answer.model_dump_json()) == set(), name


def test_no_page_of_the_console_shows_any_of_them(project: Project, needles: Needles) -> None:
    client = signed_in(make_person(project, Role.LEAD))
    pages = ["/projects/", "/projects/shop/review/", "/projects/shop/audit/"]
    candidates = list_rows(project, "candidates", limit=100)["rows"]
    pages += [f"/projects/shop/candidates/{row['id'][1:]}/" for row in candidates[:15]]
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200
        assert needles.found_in(answer.content.decode()) == set(), page


def test_the_preview_shows_none_of_them(root: Path, needles: Needles) -> None:
    shown = json.dumps(preview_project(root, default_policy()).as_json(), default=str)
    assert needles.found_in(shown) == set()


def test_a_document_whose_path_is_secret_is_found_by_its_mark(project: Project) -> None:
    rows = list_rows(project, "candidates", limit=500)["rows"]
    candidate = next(row for row in rows if row["statement"] == RULE)
    path = next(
        row["path"]
        for row in list_rows(project, "documents", limit=500)["rows"]
        if row["path"].startswith("docs/[REDACTED:github_token:")
    )
    assert candidate is not None
    assert list_rows(project, "documents", path=f"docs/{SECRET}.md")["rows"][0]["path"] == path
    (found,) = list_rows(project, "documents", path=path)["rows"]
    segments = EvidenceSegment.objects.filter(revision_id=int(found["id"][1:]), kind="paragraph")
    evidence = find_evidence(project, f"S{segments.get().pk}")
    assert evidence is not None
    assert (evidence["text"].strip(), evidence["new_path"]) == (RULE, path)
    assert evidence["verdict_method"] == "SEGMENT_MATCH"


def test_logs_name_no_path(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "codememory"):
        list_rows(project, "documents", path=f"docs/{SECRET}.md")
    assert SECRET not in caplog.text
