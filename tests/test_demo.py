"""The demo goes the whole way for real, keeps to its own database, and ends with its server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection

from codememory import database
from codememory.demo import DemoError, FormFields, make_reviewer
from codememory.demo_repository import build_repository
from codememory.models import Actor, ActorKind, ReviewDecision
from tests.builders import make_candidate, make_project
from tests.commands import ROOT, Said, manage, temporary_home
from tests.repos import RepoBuilder

OTHER = "How often are calls of the payment gateway tried again?"


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with temporary_home("demo") as folder:
        yield folder
        database.discard(folder / "demo")


@pytest.fixture(scope="module")
def other(home: Path) -> Said:
    """A demo with another question, before the one whose database stays."""
    return manage(home, "demo", OTHER, "--json")


@pytest.fixture(scope="module")
def demo(home: Path, other: Said) -> Said:
    return manage(home, "demo", "--json")


def ids(said: Said) -> set[str]:
    return {line["evidence_id"] for line in said.document["answer"]["provenance"]}


def test_it_answers_with_the_rule_it_promoted(demo: Said) -> None:
    assert demo.status == 0, demo.err
    promoted, answer = demo.document["promoted"], demo.document["answer"]
    assert promoted["memory"] in [rule["id"] for rule in answer["applicable_rules"]]
    assert promoted["decided_by"] == "DEMO"


def test_another_question_has_other_evidence(demo: Said, other: Said) -> None:
    assert other.status == 0, other.err
    assert ids(other)
    assert ids(other) != ids(demo)
    first = [said.document["answer"]["relevant_changes"][0] for said in (demo, other)]
    assert first[0]["new_path"] != first[1]["new_path"]


def test_its_evidence_can_be_opened_afterwards(home: Path, demo: Said) -> None:
    evidence_id = min(ids(demo))
    found = manage(home, "evidence", evidence_id, "--demo", "--json")
    assert found.status == 0, found.err
    assert found.document["id"] == evidence_id
    assert found.document["text"]


def test_it_stops_its_server(home: Path, demo: Said) -> None:
    assert not (home / "demo/postgres/data/postmaster.pid").exists()


def test_it_leaves_the_projects_of_the_home_alone(home: Path, demo: Said) -> None:
    assert manage(home, "projects", "--json").document == {"projects": []}


def test_it_ends_soon(demo: Said) -> None:
    """About a minute is promised; this is what the demo itself measured, without starting."""
    assert demo.document["seconds"]["all"] < 45


def test_without_a_demo_its_evidence_says_what_to_do(tmp_path: Path) -> None:
    found = manage(tmp_path / "empty", "evidence", "A1.1", "--demo")
    assert found.status == 1
    assert "run demo first" in found.err


def test_every_commit_says_fx(tmp_path: Path) -> None:
    commits = build_repository(tmp_path / "shop")
    repo = RepoBuilder(tmp_path / "shop")
    assert repo.git("log", "--all", "--format=%s").split() == ["fx"] * commits


def test_the_repository_has_a_rename_a_merge_and_a_revert(tmp_path: Path) -> None:
    build_repository(tmp_path / "shop")
    repo = RepoBuilder(tmp_path / "shop")
    trees = repo.git("log", "--first-parent", "--format=%T").split()
    assert repo.git("log", "--format=", "--name-status", "-M").count("R100") == 1
    assert len(repo.git("log", "--merges", "--format=%H").split()) == 1
    assert len(set(trees)) == len(trees) - 1


def test_the_statement_that_lets_the_demo_decide_stands_in_one_file() -> None:
    found = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if ".venv" not in path.parts
        and re.search(r"(DROP|ADD) CONSTRAINT decision_by_a_person", path.read_text())
    ]
    own = Path(__file__).relative_to(ROOT).as_posix()
    assert [name for name in found if name != own] == ["codememory/demo.py"]


def test_every_other_database_refuses_its_decision(db: None) -> None:
    candidate = make_candidate(make_project())
    actor = Actor.objects.create(
        kind=ActorKind.DEMO, user=User.objects.create_user("demo"), name="demo"
    )
    with pytest.raises(IntegrityError, match="decision_by_a_person"):
        ReviewDecision.objects.create(
            scope=candidate.scope,
            candidate=candidate,
            action="PROMOTE",
            actor=actor,
            actor_kind=ActorKind.DEMO,
            candidate_version=1,
            shown_digest=b"\0" * 32,
        )


def test_it_widens_the_constraint_of_no_other_database(db: None) -> None:
    with pytest.raises(DemoError, match="its own new database only"):
        make_reviewer()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s",
            ["decision_by_a_person"],
        )
        assert "DEMO" not in cursor.fetchone()[0]


def test_only_the_fields_of_the_asked_form_are_sent() -> None:
    form = FormFields("/a")
    form.feed(
        '<form action="/b"><input name="x" value="1"></form>'
        '<form action="/a?q=1"><input name="y" value="2"></form><input name="z">'
    )
    assert form.fields == {"y": "2"}
