"""Named people: Alice reviews a project, Rita only reads it, Bob leads another one.

Django is not set up yet when this file is read: the builders are imported when a fixture runs.
"""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from codememory.models import Candidate, Project

LEAD = "# Refund keys\n\nWe decided this in March.\n"
SAID = "A retried refund keeps its first key."
REST = "\nKeys live for 400 days.\n"


def _builders() -> Any:
    return importlib.import_module("tests.builders")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A real repository whose HEAD holds the document that the candidate cites."""
    document = tmp_path / "docs/adr/0017-refund-idempotency.md"
    document.parent.mkdir(parents=True)
    document.write_text(LEAD + SAID + REST, encoding="utf-8")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "fx"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def project(db: None, repository: Path) -> Project:
    made: Project = _builders().make_project("payments-api", repository)
    return made


@pytest.fixture
def candidate(project: Project) -> Candidate:
    made: Candidate = _builders().make_candidate(project, SAID, before=LEAD, after=REST)
    return made


@pytest.fixture
def alice(project: Project) -> User:
    made: User = _builders().make_person(project, "REVIEWER", "alice")
    return made


@pytest.fixture
def rita(project: Project) -> User:
    made: User = _builders().make_person(project, "READER", "rita")
    return made


@pytest.fixture
def bob(db: None) -> User:
    builders = _builders()
    made: User = builders.make_person(builders.make_project("other"), "LEAD", "bob")
    return made
