"""A14: restart and interruption duplicate nothing and miss nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import SystemRandom

import pytest

from tests.commands import ROOT, environment, manage, temporary_home
from tests.repos import RepoBuilder

pytestmark = pytest.mark.queue
SHOW = (
    "import json; from codememory.models import Project; from tests.fingerprint import fingerprint;"
    "print(json.dumps(fingerprint(Project.objects.get().scope_id)))"
)
KILLS = 3


def collect(home: Path, root: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(ROOT / "manage.py"), "collect", "--wait", "--yes", "--project"]
    return subprocess.Popen(
        [*command, str(root)], env=environment(home), stdin=-3, stdout=-3, stderr=-3
    )


def rows(home: Path) -> dict[str, list[object]]:
    said = manage(home, "shell", "-c", SHOW)
    found: dict[str, list[object]] = json.loads(said.out.splitlines()[-1])
    return found


@pytest.fixture
def subject(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "subject")
    lines = [f"value_{number} = {number}\n" for number in range(40)]
    contents = ("".join(lines[: number % 40]) + f"n = {number}\n" for number in range(1_500))
    repo.import_commits("long.py", contents)
    return repo


def test_a_collection_killed_at_random_moments_ends_with_the_rows_of_a_calm_one(
    home: Path, tmp_path: Path, subject: RepoBuilder
) -> None:
    """Restart, lost lease and interrupted backfill duplicate nothing."""
    with temporary_home("calm") as calm:
        began = time.monotonic()
        assert collect(calm, subject.root).wait() == 0
        longest = time.monotonic() - began
        expected = rows(calm)
    killed = 0
    for _ in range(KILLS):
        running = collect(home, subject.root)
        time.sleep(SystemRandom().uniform(0.4, 0.9) * longest)
        running.send_signal(signal.SIGKILL)
        killed += running.wait() == -signal.SIGKILL
    assert killed
    assert collect(home, subject.root).wait() == 0
    assert rows(home) == expected
