"""Failpoints do what a plan says, in homes of tests and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codememory import failpoints
from tests.commands import ROOT

HOME = "/nowhere/codememory-test-x"
PASS = (
    "from codememory import failpoints as f\n"
    "for _ in range(3): f.reach('read', 7)\n"
    "print('alive', f.FOLDER is not None)"
)


def passing(home: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PASS],
        env={"CODEMEMORY_HOME": home, "CODEMEMORY_FAILPOINTS": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_plan_kills_at_the_passing_it_names(tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("read 3 1 kill")
    assert passing(HOME, tmp_path).returncode == -9
    assert (tmp_path / "hit.3").read_text().endswith(" 7")
    assert passing(HOME, tmp_path).returncode == 0


def test_a_plan_for_another_run_or_point_is_not_followed(tmp_path: Path) -> None:
    for plan in ("read 1 1 kill 8", "written 1 1 kill"):
        (tmp_path / "plan").write_text(plan)
        assert passing(HOME, tmp_path).stdout == "alive True\n"


@pytest.mark.parametrize("home", ["/nowhere/somebodys", "/var/lib/codememory"])
def test_a_home_that_no_test_made_hears_nothing(tmp_path: Path, home: str) -> None:
    (tmp_path / "plan").write_text("read 1 1 kill")
    assert passing(home, tmp_path).stdout == "alive False\n"


def test_nothing_is_planned_for_these_tests() -> None:
    assert failpoints.FOLDER is None
