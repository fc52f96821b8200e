"""Reading a repository that is armed runs nothing of it, changes nothing, and still reads it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import pytest

from tests.hostile.attacks import ARMED, RULE, evil, ordinary
from tests.hostile.watching import read_all
from tests.repos import RepoBuilder, stamp


@dataclass
class Campaign:
    """All armed repositories, read by one watched program whose environment is hostile too."""

    folder: Path
    seen: dict[str, Any]
    started: set[str] | None
    connections: int
    before: dict[str, Any]
    after: dict[str, Any]

    def mark(self, name: str) -> Path:
        return place_of(self.folder, name) / "MARK"


def place_of(folder: Path, name: str) -> Path:
    return folder / name.replace(" ", "-")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("armed")
    roots = {}
    for name, arm in ARMED.items():
        place = place_of(folder, name)
        place.mkdir()
        repo = ordinary(place / "repo")
        program = evil(place)
        arm(repo, program)
        (place / "MARK").unlink(missing_ok=True)  # what building it left
        roots[name] = repo.root
    environment = {
        "GIT_EXTERNAL_DIFF": str(folder / "environment.sh"),
        "GIT_TRACE": str(folder / "TRACE"),
        "GIT_TRACE2": str(folder / "TRACE"),
        "GIT_INDEX_FILE": "/etc/passwd",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"touch {folder}/TRACE",
        "GIT_DIR": "/nonexistent",
        "GIT_EXEC_PATH": "/nonexistent",
    }
    before = {name: stamp(root) for name, root in roots.items()}
    seen, started, connections = read_all(roots, folder, environment)
    after = {name: stamp(root) for name, root in roots.items()}
    return Campaign(folder, seen, started, connections, before, after)


@pytest.mark.parametrize("name", ARMED)
def test_an_armed_repository_is_read_and_runs_nothing(name: str, campaign: Campaign) -> None:
    seen = campaign.seen[name]
    assert len(seen["commits"]) >= 2
    assert RULE in seen["documents"]["README.md"]
    assert not campaign.mark(name).exists()


@pytest.mark.parametrize("name", ARMED)
def test_an_armed_repository_is_the_same_afterwards(name: str, campaign: Campaign) -> None:
    assert campaign.before[name] == campaign.after[name]


@pytest.mark.parametrize("name", [name for name in ARMED if not name.startswith("12")])
def test_the_added_line_of_an_armed_repository_is_read(name: str, campaign: Campaign) -> None:
    assert "two\n" in campaign.seen[name]["added"]


def test_reading_starts_git_and_our_own_parser_and_nothing_else(campaign: Campaign) -> None:
    if campaign.started is None:
        pytest.skip("there is no strace, or it may not trace here")
    python = {name for name in campaign.started if name.startswith("python")}
    assert campaign.started - python == {"env", "git"}


def test_reading_connects_to_nobody(campaign: Campaign) -> None:
    if campaign.started is None:
        pytest.skip("there is no strace, or it may not trace here")
    assert campaign.connections == 0


def test_a_hostile_environment_reaches_no_git_that_reads(campaign: Campaign) -> None:
    """Only GitPython, while it is imported, asks `git version` in the environment of our own."""
    trace = campaign.folder / "TRACE"
    lines = trace.read_text().splitlines() if trace.exists() else []
    named = [line for line in lines if "git" in line and "exit elapsed" not in line]
    assert [line for line in named if "version" not in line] == []


@pytest.mark.parametrize("name", [name for name in ARMED if name.startswith("12")])
def test_a_blob_that_would_be_fetched_is_a_gap(name: str, campaign: Campaign) -> None:
    seen = campaign.seen[name]
    (missing,) = {oid for reason, _, oid in seen["gaps"] if reason == "MISSING_OBJECT"}
    assert missing is not None
    assert ("A", "README.md") in {(kind, path) for _, kind, path in seen["rows"]}


def test_a_submodule_is_an_id_and_nothing_of_it_is_read(campaign: Campaign) -> None:
    seen = campaign.seen["22 submodule"]
    assert ["SUBMODULE_NOT_READ", "sub", None] in seen["gaps"]
    assert "SECRET-OF-A-SUBMODULE" not in str(seen)


def test_what_is_nested_is_read_as_files_of_the_project_only(campaign: Campaign) -> None:
    seen = campaign.seen["20 embedded bare repository"]
    assert "docs/guide.md" in seen["documents"]
    assert "SECRET-OF-A-NESTED-CHECKOUT" not in str(seen)


def test_names_like_options_are_names(campaign: Campaign) -> None:
    seen = campaign.seen["24 names like options"]
    assert seen["branch"] == "--output=MARK"
    paths = {path for _, _, path in seen["rows"]}
    assert {"--output=MARK", ":(top,glob)**", ":!a.txt", "line\nbreak.md", "-p"} <= paths


def test_such_repositories_are_really_armed(tmp_path: Path) -> None:
    """Plain git runs the program: otherwise these tests would prove nothing."""
    plain = {
        "1 fsmonitor": ("status",),
        "2 hooks": ("update-index", "--refresh"),
        "5 external diff": ("diff", "HEAD~1"),
        "6 text conversion": ("log", "-p"),
        "7 clean filter": ("diff-files", "--raw"),
        "8 included settings": ("status",),
        "9 signature programs": ("log",),
        "12 promisor by program": ("log", "-p"),
    }
    silent = []
    for name, words in plain.items():
        place = place_of(tmp_path, name)
        place.mkdir()
        repo = ordinary(place / "repo")
        ARMED[name](repo, evil(place))
        (place / "MARK").unlink(missing_ok=True)
        run_plainly(repo, *words)
        silent += [] if (place / "MARK").exists() else [name]
    assert silent == []


def run_plainly(repo: RepoBuilder, *words: str) -> None:
    with suppress(CalledProcessError):  # after it ran what it should not
        repo.git(*words)
