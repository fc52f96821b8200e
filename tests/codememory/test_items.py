"""Each kind of item by its id, with what belongs to it; lists in it stay bounded."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from codememory.evidence import find_evidence
from codememory.items import LETTERS, find_item
from codememory.listing import list_rows
from codememory.models import Candidate, LogicalChange, Memory, Project, ReviewDecision
from tests.api.builders import make_rule
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db
DOCUMENT = "# Cache\n\nThe session cache must be cleared on every write.\n"
OLD = "def read(key):\n    return CACHE[key]\n\n\nLIMIT = 10\n"
NEW = "def read(key):\n    return CACHE.get(key)\n\n\nLIMIT = 20\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("cache.py", OLD)
    repo.write("cache.md", DOCUMENT)
    repo.commit("Because of reasons")
    repo.write("cache.py", NEW)
    repo.commit()
    return repo


@pytest.fixture
def project(repo: RepoBuilder) -> Project:
    return collect(repo)


def item(project: Project, kind: str, item_id: str, **more: Any) -> dict[str, Any]:
    found = find_item(project, kind, item_id, **more)
    assert found is not None
    return found


def newest(project: Project, kind: str) -> str:
    found: str = list_rows(project, kind, limit=500)["rows"][-1]["id"]
    return found


def candidate(project: Project) -> str:
    return f"C{Candidate.objects.get(scope_id=project.scope_id).pk}"


def test_a_file_change_has_its_hunks_and_its_verdict(project: Project) -> None:
    found = item(project, "changes", newest(project, "changes"))
    assert (found["verdict"], found["hunks_judged"]) == ("CURRENT_SUPPORTED", 2)
    assert [hunk["new_lines"] for hunk in found["hunks"]] == [[2, 1], [5, 1]]
    texts = [find_evidence(project, i) for hunk in found["hunks"] for i in hunk["evidence_ids"]]
    assert [each and each["text"] for each in texts] == [
        "    return CACHE.get(key)\n",
        "    return CACHE[key]\n",
        "LIMIT = 20\n",
        "LIMIT = 10\n",
    ]


def test_a_logical_change_has_its_files(repo: RepoBuilder, project: Project) -> None:
    change = LogicalChange.objects.filter(scope_id=project.scope_id).earliest("pk")
    found = item(project, "changes", f"L{change.pk}")
    assert sorted(row["new_path"] for row in found["files"]) == ["cache.md", "cache.py"]
    assert found["commits"] == [repo.git("rev-parse", "HEAD~1")]
    assert found["file_count"] == 2


def test_a_message_is_said_by_the_commit_and_is_no_reason(project: Project) -> None:
    change = LogicalChange.objects.filter(scope_id=project.scope_id).earliest("pk")
    found = item(project, "changes", f"L{change.pk}")
    assert found["commit_facts"]["message"].startswith("Because of reasons")
    assert found["rationale"] == "UNKNOWN"


def test_a_document_has_its_sections_and_segments(project: Project) -> None:
    found = item(project, "documents", newest(project, "documents"))
    assert found["sha256"] == hashlib.sha256(DOCUMENT.encode()).hexdigest()
    assert (found["is_current"], found["availability"]) == (True, "AVAILABLE")
    assert [section["heading_path"] for section in found["sections"]] == [["Cache"]]
    [*_, paragraph] = found["segments"]
    start, end = paragraph["byte_range"]
    assert hashlib.sha256(DOCUMENT.encode()[start:end]).hexdigest() == paragraph["sha256"]


def test_an_earlier_version_of_a_document_stays_open(repo: RepoBuilder, project: Project) -> None:
    before = newest(project, "documents")
    repo.write("cache.md", DOCUMENT + "\nMore of it.\n")
    repo.commit()
    collect(repo)
    found = item(project, "documents", before)
    assert found["is_current"] is False
    assert found["availability"] == "AVAILABLE"
    assert {each["kind"] for each in found["section_changes"]} == {"ADDED", "CHANGED"}


def test_a_candidate_has_its_evidence(project: Project) -> None:
    found = item(project, "candidates", candidate(project))
    assert (found["state"], found["standing"]) == ("PENDING", "provisional")
    [cited] = found["evidence"]
    start, end = cited["byte_range"]
    assert DOCUMENT.encode()[start:end].decode() == found["statement"]
    assert (found["verdict"], found["decisions"]) == ("CURRENT_SUPPORTED", [])


def test_a_memory_has_its_candidate_and_the_decision(project: Project) -> None:
    memory = make_rule(project)
    found = item(project, "memories", f"M{memory.pk}")
    assert (found["candidate"], found["standing"]) == (candidate(project), "reviewed")
    assert [each["action"] for each in found["decisions"]] == ["PROMOTE"]
    assert item(project, "candidates", candidate(project))["memories"] == [f"M{memory.pk}"]


def test_nobody_is_named_who_decided(project: Project) -> None:
    make_rule(project)
    assert ReviewDecision.objects.get().actor.name == "alice"
    assert "alice" not in str(item(project, "candidates", candidate(project)))


def test_a_memory_and_the_verdict_of_its_evidence_are_apart(
    repo: RepoBuilder, project: Project
) -> None:
    memory = make_rule(project)
    (repo.root / "cache.md").write_text("# Cache\n\nNothing.\n")
    found = item(project, "memories", f"M{memory.pk}")
    assert (found["state"], found["verdict"]) == ("ACTIVE", "HISTORICAL")


def test_long_lists_are_cut_and_counted(project: Project) -> None:
    found = item(project, "changes", newest(project, "changes"), most=1)
    assert len(found["hunks"]) == len(found["evidence_ids"]) == 1
    assert found["omitted"] == {"evidence_ids": 1, "hunks": 1}


@pytest.mark.parametrize("kind", LETTERS)
@pytest.mark.parametrize("strange", ["", "L", "L0", "D-1", "F01", "C9" * 15, "M1.1", "L1\n", "Lé"])
def test_a_strange_id_is_nothing(project: Project, kind: str, strange: str) -> None:
    assert find_item(project, kind, strange) is None


def test_an_id_of_another_kind_is_nothing(project: Project) -> None:
    assert find_item(project, "documents", newest(project, "changes")) is None
    assert find_item(project, "memories", candidate(project)) is None


def test_every_listed_row_can_be_opened(project: Project) -> None:
    make_rule(project)
    for kind in LETTERS:
        rows = list_rows(project, kind)["rows"]
        assert rows
        for row in rows:
            found = item(project, kind, row["id"])
            assert {name: found[name] for name in row} == row


@pytest.mark.parametrize(
    ("kept", "count"),
    [
        ({"state": ["PENDING"]}, 1),
        ({"state": ["REJECTED", "PENDING"]}, 1),
        ({"state": ["REJECTED"]}, 0),
        ({"type": ["decision"]}, 0),
        ({"modality": ["REQUIREMENT"], "type": []}, 1),
        ({"modality": ["PLAN"]}, 0),
    ],
)
def test_claims_are_kept_by_state_type_and_modality(
    project: Project, kept: dict[str, list[str]], count: int
) -> None:
    assert len(list_rows(project, "candidates", kept=kept)["rows"]) == count


def test_memories_are_kept_alike(project: Project) -> None:
    make_rule(project)
    assert Memory.objects.count() == 1
    assert len(list_rows(project, "memories", kept={"state": ["ACTIVE"]})["rows"]) == 1
    assert list_rows(project, "memories", kept={"state": ["ARCHIVED"]})["rows"] == []


@pytest.mark.parametrize("kind", LETTERS)
def test_pages_of_a_list_hold_every_row_once(project: Project, kind: str) -> None:
    make_rule(project)
    whole = [row["id"] for row in list_rows(project, kind)["rows"]]
    found, cursor = [], None
    while True:
        page = list_rows(project, kind, limit=1, cursor=cursor)
        found += [row["id"] for row in page["rows"]]
        if (cursor := page["next"]) is None:
            break
    assert found == whole != []
