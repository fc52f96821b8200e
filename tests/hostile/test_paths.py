"""Every path is listed once, and what is listed fetches its own content by each door."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codememory.paths import raw_path, shown_path
from tests.api.agents import calling, in_memory
from tests.commands import said
from tests.hostile.attacks import ordinary
from tests.hostile.test_broken import commit, literal, tree
from tests.repos import RepoBuilder

if TYPE_CHECKING:
    from rest_framework.test import APIClient

    from codememory.models import Project

COMPOSED = unicodedata.normalize("NFC", "çeşme.md")
ODD = {
    "newline": b"a\nb.md",
    "tab": b"a\tb.md",
    "quote": b"a\"b'c.md",
    "backslash": b"a\\x41.md",
    "leading dash": b"--path=x.md",
    "invalid utf-8": b"a\xff\xfe.md",
    "composed": COMPOSED.encode(),
    "decomposed": unicodedata.normalize("NFD", COMPOSED).encode(),
    "lower case": b"case.md",
    "upper case": b"CASE.md",
    "turned around": "a\u202edm.exe".encode() + b".md",
    "zero width": "a\u200bb.md".encode(),
    "one of the second control set": "a\u009bb.md".encode(),
    "255 bytes": b"n" * 252 + b".md",
    "255 bytes that are no text": b"\xe7" * 252 + b".md",
    "spaces": b" a .md",
    "glob": b"a*?[b].md",
    "percent": b"a%2fb%00.md",
}


def rule_of(name: str) -> str:
    return f"Field {name.replace('-', ' ')} must be sent as text."


def write_odd(root: Path) -> RepoBuilder:
    """One document for each odd path; made as a tree, since not every file system could hold it."""
    repo = ordinary(root)
    entries = []
    for name, path in sorted(ODD.items(), key=lambda item: item[1]):
        blob = literal(repo, "blob", f"# Rules\n\n{rule_of(name)}\n".encode())
        entries.append((b"100644", path, blob))
    commit(repo, tree(repo, *entries))
    return repo


@pytest.mark.parametrize("name", ODD)
def test_an_escape_is_lossless_and_seen(name: str) -> None:
    shown = shown_path(ODD[name])
    assert shown is not None
    assert raw_path(shown) == ODD[name]
    assert shown.isprintable()


def test_no_two_paths_look_alike_in_their_escape() -> None:
    assert len({shown_path(path) for path in ODD.values()}) == len(ODD)


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    from tests.collected import collect  # noqa: PLC0415

    return collect(write_odd(tmp_path / "odd"))


def by_command(project: Project, shown: str) -> dict[str, Any]:
    listed = said("list", "documents", f"--path={shown}", f"--project={project.slug}", "--json")
    (row,) = listed.document["rows"]
    found = said("list", "segments", f"--path={shown}", f"--project={project.slug}", "--json")
    segment = found.document["rows"][-1]["id"]
    opened = said("evidence", segment, f"--project={project.slug}", "--json")
    return {"path": row["path"], "text": opened.document["text"]}


def by_rest(client: APIClient, project: Project, shown: str) -> dict[str, Any]:
    place = f"/api/v1/projects/{project.slug}"
    (row,) = client.get(f"{place}/documents", {"path": shown}).json()["rows"]
    asked = {"q": "must be sent", "path": shown, "kind": "section"}
    found = client.get(f"{place}/search", asked).json()["results"]
    opened = client.get(f"{place}/evidence/{found[0]['evidence_ids'][0]}").json()
    return {"path": row["path"], "text": opened["text"]}


def by_mcp(server: Any, shown: str) -> dict[str, Any]:
    asked = calling("search_history", query="must be sent", path=shown, kinds=["section"])
    found = in_memory(server, asked).structured_content
    assert found is not None
    path = found["results"][0]["new_path"]
    evidence = found["results"][0]["evidence_ids"][0]
    opened = in_memory(server, calling("get_evidence", evidence_id=evidence)).structured_content
    assert opened is not None
    return {"path": path, "text": opened["text"]}


def test_every_odd_path_is_listed_once(project: Project) -> None:
    listed = said("list", "documents", f"--project={project.slug}", "--limit=100", "--json")
    paths = [raw_path(row["path"]) for row in listed.document["rows"]]
    assert sorted(paths) == sorted(ODD.values())


def test_every_odd_path_fetches_its_own_content_by_command(project: Project) -> None:
    wrong = {}
    for name, path in ODD.items():
        shown = shown_path(path) or ""
        found = by_command(project, shown)
        if rule_of(name) not in found["text"] or found["path"] != shown:
            wrong[name] = found
    assert wrong == {}


def test_every_odd_path_fetches_its_own_content_by_rest(project: Project) -> None:
    from rest_framework.test import APIClient  # noqa: PLC0415

    from codememory import tokens  # noqa: PLC0415

    client = APIClient()
    token = tokens.create_token("agent", [project], ["read"])[1]
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    wrong = {}
    for name, path in ODD.items():
        shown = shown_path(path) or ""
        found = by_rest(client, project, shown)
        if rule_of(name) not in found["text"] or found["path"] != shown:
            wrong[name] = found
    assert wrong == {}


@pytest.mark.django_db(transaction=True)
def test_every_odd_path_fetches_its_own_content_by_mcp(tmp_path: Path) -> None:
    from api.access import ProcessAccess  # noqa: PLC0415
    from api.server import stdio_server  # noqa: PLC0415
    from tests.collected import collect  # noqa: PLC0415

    project = collect(write_odd(tmp_path / "odd"))
    server = stdio_server(ProcessAccess(frozenset({project.pk})))
    wrong = {}
    for name, path in ODD.items():
        shown = shown_path(path) or ""
        found = by_mcp(server, shown)
        if rule_of(name) not in found["text"] or found["path"] != shown:
            wrong[name] = found
    assert wrong == {}


def test_an_odd_path_among_those_a_task_names_is_found(project: Project) -> None:
    shown = shown_path(ODD["invalid utf-8"]) or ""
    asked = ("context", "send fields", f"--path={shown}", f"--project={project.slug}", "--json")
    links = said(*asked).document["current_code_links"]
    assert [link["path"] for link in links] == [shown]
    assert json.dumps(links).isascii() or shown in json.dumps(links, ensure_ascii=False)
