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
MOMENTS = (0.7, 0.5, 0.35, 0.2)  # of the time that a calm collection takes


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
    for moment in MOMENTS:
        running = collect(home, subject.root)
        time.sleep(SystemRandom().uniform(0.8, 1.2) * moment * longest)
        running.send_signal(signal.SIGKILL)
        if running.wait() == -signal.SIGKILL:
            killed += 1
        else:  # it was faster than the calm one: once more from the start
            manage(home, "projects", "remove", "subject", "--yes")
    assert killed
    assert collect(home, subject.root).wait() == 0
    assert rows(home) == expected
