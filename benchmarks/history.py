"""What it takes to collect a whole history, beside `git log -p -m -M` in the same run.

    python benchmarks/history.py REPO

Collects REPO into a throw-away database by the product's own code, and runs `git log` before and
after. Prints one table and one JSON line; fails unless every commit and every row of git's own
`git log --raw -m -M` is stored. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import throwaway
from benchmarks.processes import Peaks, load, processor_seconds

SOURCES = ("git", "documents")
OWN = "python"


@dataclass(frozen=True, slots=True)
class Spent:
    """What one program took."""

    wall: float
    cpu: float
    peak_kib: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--worker", type=int, metavar="POSTMASTER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    root = options.repository.resolve()
    if options.worker:
        print(json.dumps(work(root, options.worker)))
        return 0
    measured = measure(root)
    print_table(measured)
    print(json.dumps(measured))
    return complain(measured)


def measure(root: Path) -> dict[str, Any]:
    load_before = load()
    logs = [git_log(root)]
    with throwaway.throwaway_database() as lease:
        postmaster = int((lease.server.data / "postmaster.pid").read_text().splitlines()[0])
        empty = database_bytes()
        collected = run_worker(root, postmaster)
        stored = {
            "database_bytes": database_bytes() - empty,
            "empty_database_bytes": empty,
            "rows": rows_by_table(),
            "bytes_by_table": bytes_by_table(),
            "file_changes": file_changes(),
        }
    logs.append(git_log(root))
    log = Spent(
        wall=sum(one.wall for one in logs) / 2,
        cpu=sum(one.cpu for one in logs) / 2,
        peak_kib=max(one.peak_kib for one in logs),
    )
    return {
        "repository": root.name,
        "head": throwaway.git(root, "rev-parse", "HEAD").decode().strip(),
        "load": {"before": load_before, "after": load()},
        "git_log": {
            "wall": round(log.wall, 2),
            "walls": [round(one.wall, 2) for one in logs],
            "cpu": round(log.cpu, 2),
            "peak_kib": log.peak_kib,
        },
        "ratio_wall": round(collected["wall"]["git"] / log.wall, 2),
        "ratio_cpu": round(sum(collected["cpu"]["git"].values()) / log.cpu, 2),
        **collected,
        **stored,
        "repository_bytes": packed_bytes(root),
        "expected": {"commits": commit_count(root), "file_changes": raw_rows(root)},
    }


def git_log(root: Path) -> Spent:
    """Run the yardstick to nowhere."""
    started = time.monotonic()
    process = subprocess.Popen(
        ["git", "-C", str(root), "log", "-p", "-m", "-M", "HEAD"],
        stdout=subprocess.DEVNULL,
        env=throwaway.plain_environment(),
    )
    with Peaks(process.pid) as peaks:
        _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"git log ended with {process.returncode}")
    return Spent(wall, used.ru_utime + used.ru_stime, peaks.largest.get("git", 0))


def run_worker(root: Path, postmaster: int) -> dict[str, Any]:
    """Collect in a process of its own: its peak and its children are then those of collecting."""
    command = [sys.executable, str(Path(__file__).resolve()), str(root)]
    command += ["--worker", str(postmaster)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        with Peaks(process.pid) as peaks:
            answer, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"collecting ended with {process.returncode}")
    told: dict[str, Any] = json.loads(answer)
    largest = peaks.largest
    told["peak_kib"] = {
        "ours": max(size for name, size in largest.items() if name.startswith(OWN)),
        "git": largest.get("git", 0),
        "together": peaks.together,
    }
    return told


def work(root: Path, postmaster: int) -> dict[str, Any]:
    """Register and collect; tells seconds by source, and phases as the runs recorded them."""
    throwaway.set_up()
    project = throwaway.register(root)
    told: dict[str, Any] = {"wall": {}, "cpu": {}, "phases": {}}
    for source in SOURCES:
        before = used(postmaster)
        run, seconds = throwaway.collect(project, source)
        after = used(postmaster)
        told["wall"][source] = round(seconds, 2)
        told["cpu"][source] = {name: round(after[name] - before[name], 2) for name in after}
        told["phases"][source] = run.metrics
        if source == "git":
            told["processed"] = run.done
    return told


def used(postmaster: int) -> dict[str, float]:
    """Seconds of processor so far: this process, its git children that ended, the server."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "ours": own.ru_utime + own.ru_stime,
        "git": children.ru_utime + children.ru_stime,
        "database": processor_seconds(postmaster),
    }


def database_bytes() -> int:
    return int(_value("SELECT pg_database_size(current_database())"))


def file_changes() -> int:
    return int(_value("SELECT count(*) FROM codememory_filechange"))


def rows_by_table() -> dict[str, int]:
    """Rows of every table of ours that has any."""
    counted = {name: int(_value(f'SELECT count(*) FROM "{name}"')) for name in _tables()}  # noqa: S608 -- names of our own models
    return {name.removeprefix("codememory_"): count for name, count in counted.items() if count}


def bytes_by_table() -> dict[str, int]:
    """Bytes with indexes, of the tables over 1 MB."""
    sizes = {
        name.removeprefix("codememory_"): int(
            _value(f"SELECT pg_total_relation_size('\"{name}\"')")
        )
        for name in _tables()
    }
    ranked = sorted(sizes.items(), key=lambda pair: -pair[1])
    return {name: size for name, size in ranked if size > 1_000_000}


def _tables() -> list[str]:
    from django.apps import apps  # noqa: PLC0415 -- needs Django

    return [model._meta.db_table for model in apps.get_app_config("codememory").get_models()]


def _value(statement: str) -> Any:
    from django.db import connection  # noqa: PLC0415 -- needs Django

    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def packed_bytes(root: Path) -> int:
    """Packs and loose objects as they lie on disk."""
    lines = throwaway.git(root, "count-objects", "-v").decode().splitlines()
    facts = {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}
    return (facts["size-pack"] + facts["size"]) * 1024


def commit_count(root: Path) -> int:
    return int(throwaway.git(root, "rev-list", "--count", "HEAD"))


def raw_rows(root: Path) -> int:
    """Git's own rows: every commit against every parent."""
    command = ["log", "--raw", "-m", "-M", "-z", "--no-abbrev", "--format=", "HEAD"]
    # With -z a row is `:modes ids kind NUL path NUL [path NUL]`: no path can look like one.
    return sum(token.startswith(b":") for token in _heads(throwaway.git(root, *command)))


def _heads(printed: bytes) -> list[bytes]:
    """The rows without their paths, which may be any bytes."""
    tokens = iter(printed.split(b"\0"))
    heads = []
    for token in tokens:
        head = token.lstrip(b"\n")
        if not head.startswith(b":"):
            continue
        heads.append(head)
        for _ in range(2 if head.split(b" ")[-1][:1] in b"RC" else 1):
            next(tokens)
    return heads


def complain(measured: dict[str, Any]) -> int:
    """Status 1 unless what is stored is what git counts."""
    expected = measured["expected"]
    found = {"commits": measured["processed"], "file_changes": measured["file_changes"]}
    wrong = {name: (found[name], expected[name]) for name in found if found[name] != expected[name]}
    for name, (have, wanted) in wrong.items():
        print(f"WRONG: {have:,} {name} are stored, git has {wanted:,}", file=sys.stderr)
    return 1 if wrong else 0


def print_table(found: dict[str, Any]) -> None:
    log, cpu, peak = found["git_log"], found["cpu"]["git"], found["peak_kib"]
    spent = sum(cpu.values())
    parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in cpu.items())
    size = found["database_bytes"] / max(1, found["repository_bytes"])
    rows = [
        ("repository", f"{found['repository']} at {found['head'][:12]}"),
        ("load before", found["load"]["before"]),
        ("load after", found["load"]["after"]),
        ("commits", f"{found['processed']:,} of {found['expected']['commits']:,}"),
        (
            "file changes",
            f"{found['file_changes']:,} of {found['expected']['file_changes']:,}",
        ),
        ("git log -p -m -M, wall", f"{log['wall']:.1f} s (mean of {log['walls']})"),
        ("history, wall", f"{found['wall']['git']:.1f} s = {found['ratio_wall']:.2f} x git log"),
        ("documents, wall", f"{found['wall']['documents']:.1f} s"),
        ("git log, CPU", f"{log['cpu']:.1f} s"),
        ("history, CPU", f"{spent:.1f} s = {found['ratio_cpu']:.2f} x git log ({parts})"),
        ("peak memory, ours", f"{peak['ours'] / 1024:.0f} MiB"),
        ("peak memory, our git", f"{peak['git'] / 1024:.0f} MiB"),
        ("peak memory, both at once", f"{peak['together'] / 1024:.0f} MiB"),
        ("peak memory, git log", f"{log['peak_kib'] / 1024:.0f} MiB"),
        ("repository, packed", f"{found['repository_bytes'] / 1e6:.1f} MB"),
        (
            "database without an empty one",
            f"{found['database_bytes'] / 1e6:.1f} MB = {size:.2f} x packed",
        ),
        *(("  rows of " + name, f"{count:,}") for name, count in found["rows"].items()),
        *(
            (f"  phase {source} {name}", f"{value:,}")
            for source, phases in found["phases"].items()
            for name, value in sorted(phases.items())
        ),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:{width}}  {value}")


if __name__ == "__main__":
    sys.exit(main())
