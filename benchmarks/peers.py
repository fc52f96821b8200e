"""What peers take for the same work, in the same run: PyDriller, and `git log -G`.

    python benchmarks/peers.py REPO [--pydriller PYTHON] [--commits N] [--questions N] [--seed N]

Collects REPO into a throw-away database. PYTHON is an interpreter that has PyDriller; it walks the
newest N commits of the first parents and asks each changed file for its changed methods, as
PyDriller does without more being said. Then N names of functions that were changed at some time
are asked of our search and of `git log -G`. Prints tables and one JSON line.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import throwaway
from benchmarks.processes import load

WALK = """
import sys
from itertools import islice
from pydriller import Repository
files = methods = commits = 0
walk = Repository(sys.argv[1], order="reverse", only_no_merge=False).traverse_commits()
for commit in islice(walk, int(sys.argv[2])):
    commits += 1
    for changed in commit.modified_files:
        files += 1
        methods += len(changed.changed_methods)
print(commits, files, methods)
"""
NAME = re.compile(r"[a-z_]{2,}[A-Za-z0-9_]{6,}")
TOP = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--pydriller", type=Path, metavar="PYTHON")
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    root, dice = options.repository.resolve(), random.Random(options.seed)
    figures: dict[str, Any] = {"repository": root.name, "load": {"before": load()}}
    with throwaway.throwaway_database():
        throwaway.set_up()
        project = throwaway.register(root)
        run, seconds = throwaway.collect(project, "git")
        figures["ours"] = speed(run.done, seconds)
        if options.pydriller:
            figures["pydriller"] = walk(options.pydriller, root, options.commits)
        names = sorted(set(filter(NAME.fullmatch, names_of(project.scope_id))))
        chosen = dice.sample(names, min(len(names), options.questions))
        figures["questions"] = ask_both(root, project.scope_id, chosen)
    figures["load"]["after"] = load()
    print_table(figures)
    print(json.dumps(figures))
    return 0


def speed(commits: int, seconds: float) -> dict[str, float]:
    return {
        "commits": commits,
        "seconds": round(seconds, 1),
        "seconds_per_1000": round(1000 * seconds / max(1, commits), 2),
    }


def walk(python: Path, root: Path, commits: int) -> dict[str, float]:
    started = time.monotonic()
    command = [str(python), "-c", WALK, str(root), str(commits)]
    told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    done, files, methods = map(int, told)
    return {
        **speed(done, time.monotonic() - started),
        "files": files,
        "changed_methods": methods,
    }


def names_of(scope_id: int) -> list[str]:
    """The last part of each symbol's name that a change was stored of."""
    from codememory.models import SymbolName  # noqa: PLC0415 -- needs Django

    rows = SymbolName.objects.filter(scope_id=scope_id)
    return list(rows.values_list("leaf", flat=True))


def ask_both(root: Path, scope_id: int, names: list[str]) -> dict[str, float]:
    """Seconds of each way, and how much of what we list first is in git's list.

    As many are looked at as git has changes, ten at most.
    """
    from codememory.search.query import search  # noqa: PLC0415 -- needs Django

    search([scope_id], "warm up")
    ours, gits, agreed, missed = [], [], [], 0
    for name in names:
        started = time.monotonic()
        page = search([scope_id], name, kinds=["change"], limit=TOP)
        ours.append(time.monotonic() - started)
        started = time.monotonic()
        listed = throwaway.git(root, "log", "-m", "--format=%H", f"-G\\b{name}\\b", "HEAD")
        gits.append(time.monotonic() - started)
        wanted = changes_of(scope_id, listed.decode().split())
        shown = [hit.target_id for hit in page.hits]
        if most := min(TOP, len(wanted)):
            agreed.append(len(wanted.intersection(shown[:most])) / most)
            missed += wanted.isdisjoint(shown)
    return {
        "asked": len(names),
        "ours_median_ms": round(1000 * median(ours), 1),
        "git_log_G_median_ms": round(1000 * median(gits), 1),
        "first_ones_in_gits_list": round(sum(agreed) / max(1, len(agreed)), 3),
        "none_of_gits_in_first_ten": missed,
    }


def changes_of(scope_id: int, commits: list[str]) -> set[int]:
    """The logical changes that these commits show."""
    from codememory.models import FileChange  # noqa: PLC0415 -- needs Django

    rows = FileChange.objects.filter(
        scope_id=scope_id, commit__oid__in=commits, logical_change__isnull=False
    )
    return set(rows.values_list("logical_change_id", flat=True))


def print_table(figures: dict[str, Any]) -> None:
    print(f"{figures['repository']}, load {figures['load']['before']}")
    for name in ("ours", "pydriller"):
        if one := figures.get(name):
            print(f"  {name:<12}{one['commits']:>8,} commits {one['seconds']:>9,.1f} s", end="")
            print(f" {one['seconds_per_1000']:>9,.2f} s per 1,000")
    for name, value in figures["questions"].items():
        print(f"  {name.replace('_', ' '):<28}{value:>10}")


if __name__ == "__main__":
    raise SystemExit(main())
