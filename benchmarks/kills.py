"""Kills collection with -9 at random moments and compares the rows with those of a calm run.

    python benchmarks/kills.py REPO [--times 10] [--kinds collect,git,database,worker]

Each round collects REPO anew, kills once, lets it finish, and compares a digest of every table.
Prints one table and one JSON line; exits 1 if any round ends with other rows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANAGE = [sys.executable, str(ROOT / "manage.py")]
KINDS = ("collect", "git", "database", "worker")
SHOW = (
    "import json; from codememory.models import Project; from tests.fingerprint import fingerprint;"
    "print(json.dumps(fingerprint(Project.objects.get().scope_id)))"
)


def manage(home: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MANAGE, *arguments],
        env={**os.environ, "CODEMEMORY_HOME": str(home)},
        cwd=ROOT,
        check=check,
        text=True,
        capture_output=True,
    )


def start(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*MANAGE, *arguments],
        env={**os.environ, "CODEMEMORY_HOME": str(home)},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=(home.parent / "stderr.log").open("ab"),
        start_new_session=True,
    )


def rows_of(home: Path) -> dict[str, list[object]]:
    found: dict[str, list[object]] = json.loads(
        manage(home, "shell", "-c", SHOW).stdout.splitlines()[-1]
    )
    return found


def processes() -> Iterator[tuple[int, int, str]]:
    """Yield (pid, parent, command line) of every process there is."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
            stat = (folder / "stat").read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield int(folder.name), int(stat[1]), line.decode("utf-8", "replace")


def below(root: int) -> list[tuple[int, int, str]]:
    """All descendants of a process."""
    everything = list(processes())
    family, found = {root}, []
    grown = True
    while grown:
        new = [p for p in everything if p[1] in family and p[0] not in family]
        family |= {pid for pid, _, _ in new}
        found += new
        grown = bool(new)
    return found


def strike(pid: int) -> bool:
    """Kill a process; False if it ended by itself meanwhile."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_collect(home: Path, child: subprocess.Popen[bytes]) -> bool:
    del home
    return strike(child.pid)


def kill_git(home: Path, child: subprocess.Popen[bytes]) -> bool:
    del home
    git = [pid for pid, _, words in below(child.pid) if "/git " in words]
    if git:
        return strike(random.choice(git))
    return False


def kill_database(home: Path, child: subprocess.Popen[bytes]) -> bool:
    del child
    for file in home.rglob("postmaster.pid"):
        return strike(int(file.read_text().splitlines()[0]))
    return False


def kill_worker(home: Path, child: subprocess.Popen[bytes]) -> bool:
    """Kill the worker process that has Git children: the busy one."""
    del home
    family = below(child.pid)
    busy = {parent for _, parent, words in family if "/git " in words}
    workers = [pid for pid, _, words in family if pid in busy and "qcluster" in words]
    if workers:
        return strike(workers[0])
    return False


KILL: dict[str, Callable[[Path, subprocess.Popen[bytes]], bool]] = {
    "collect": kill_collect,
    "git": kill_git,
    "database": kill_database,
    "worker": kill_worker,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_done(home: Path, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        status = json.loads(manage(home, "status", "--json", "--project", "subject").stdout)
        states = {source["state"] for source in status["sources"].values()}
        if states <= {"COMPLETE", "PARTIAL"} and not any(status["runs"].values()):
            return
        time.sleep(1)
    raise SystemExit(f"not done after {seconds:g} s: {json.dumps(status)}")


def round_of(kind: str, home: Path, subject: Path, longest: float) -> tuple[bool, float, float]:
    """Collect, kill once, let it finish. Returns (killed something, moment, seconds to finish)."""
    if kind == "worker":
        manage(home, "projects", "add", str(subject), "--yes")
        child = start(home, "up", "--project", str(subject), "--yes", "--port", str(free_port()))
    else:
        child = start(home, "collect", "--project", str(subject), "--yes", "--wait")
    began = time.monotonic()
    moment = random.uniform(0.3, longest)
    time.sleep(moment)
    hit = False
    while not hit and child.poll() is None and time.monotonic() - began < longest + 60:
        hit = KILL[kind](home, child)
        time.sleep(0.02)
    again = time.monotonic()
    if kind == "worker":
        wait_until_done(home)
        os.kill(child.pid, signal.SIGINT)
        child.wait(timeout=60)
    else:
        child.wait(timeout=300)
        for _ in range(3):
            if not manage(
                home, "collect", "--project", str(subject), "--yes", "--wait", check=False
            ).returncode:
                break
        wait_until_done(home)
    return hit, moment, time.monotonic() - again


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repo", type=Path)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    work = Path(tempfile.mkdtemp(prefix="cm-kills-"))
    work.chmod(0o755)
    subject = work / "subject"
    subprocess.run(["git", "clone", "-q", str(arguments.repo), str(subject)], check=True)
    calm = work / "calm"
    began = time.monotonic()
    manage(calm, "collect", "--project", str(subject), "--yes", "--wait")
    longest = time.monotonic() - began
    expected = rows_of(calm)
    print(f"calm run: {longest:.1f} s, {json.dumps({k: v[0] for k, v in expected.items()})}")
    print(f"{'kind':10} {'round':>5} {'killed at':>9} {'finished in':>11}  rows")
    outcome: dict[str, list[bool]] = {}
    for kind in arguments.kinds.split(","):
        for number in range(1, arguments.times + 1):
            home = work / f"{kind}-{number}"
            hit, moment, seconds = round_of(kind, home, subject, longest * 0.8)
            same = rows_of(home) == expected
            outcome.setdefault(kind, []).append(same and hit)
            word = ("same" if same else "DIFFERENT") + ("" if hit else " (nothing was killed)")
            print(f"{kind:10} {number:5} {moment:8.1f}s {seconds:10.1f}s  {word}", flush=True)
            shutil.rmtree(home, ignore_errors=True)
    print(json.dumps({kind: f"{sum(each)}/{len(each)}" for kind, each in outcome.items()}))
    shutil.rmtree(work, ignore_errors=True)
    return 0 if all(all(each) for each in outcome.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
