"""Are odd repositories read as stock git reads them? `odd_repositories.py CLONE_OF_LIBGIT2`.

Makes real repositories of the test resources of libgit2 in a temporary folder and collects each
with its documents. Fails where a run crashes, or has other commits than stock git where both read.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.throwaway import git, plain_environment, throwaway_database

RESOURCES = "tests/resources"
RENAMED = {"gitmodules": ".gitmodules", "gitattributes": ".gitattributes"}


@dataclass
class Scan:
    """What came of one repository; `stock` is None where git itself cannot read it."""

    name: str
    state: str = ""
    commits: int = 0
    stock: int | None = None
    documents: int = 0
    gaps: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    is_crashed: bool = False

    @property
    def is_right(self) -> bool:
        if self.is_crashed:
            return False
        is_read = self.state in {"COMPLETE", "PARTIAL"}
        return self.stock is None or not is_read or self.commits == self.stock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    options = parser.parse_args()
    head = git(options.clone, "rev-parse", "HEAD").decode().strip()
    with tempfile.TemporaryDirectory(prefix="codememory-odd-") as folder:
        roots = make_repositories(options.clone, Path(folder))
        with throwaway_database():
            scans = []
            for root in roots:
                scans.append(scan(root, Path(folder)))
                print(f"{len(scans)}/{len(roots)} {scans[-1].name}", file=sys.stderr, flush=True)
    show(scans, head)
    sys.exit(any(not one.is_right for one in scans))


def make_repositories(clone: Path, folder: Path) -> list[Path]:
    """Unpack the resources, give their git folders their true names, and list the roots."""
    archive = git(clone, "archive", "--format=tar", "HEAD", RESOURCES)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="tar")
    top = folder / RESOURCES
    for place in sorted(top.rglob("*"), key=lambda each: -len(each.parts)):
        if place.name == ".gitted":
            place.rename(place.with_name(".git"))
        elif place.name in RENAMED and not place.is_dir():
            shutil.copy(place, place.with_name(RENAMED[place.name]))
    roots = []
    for place in sorted(top.rglob("*")):
        if place.name == ".git":
            roots.append(place.parent)
        elif place.name.endswith(".git") and (place / "HEAD").is_file():
            roots.append(place)
    for root in roots:
        git_dir = root / ".git" if (root / ".git").is_dir() else root
        if (git_dir / "HEAD").is_file():
            for name in ("objects", "refs"):  # empty folders, which git does not store
                (git_dir / name).mkdir(exist_ok=True)
    return roots


def scan(root: Path, folder: Path) -> Scan:
    from codememory.errors import RefusedProjectError  # noqa: PLC0415 -- needs Django
    from codememory.projects import register_project  # noqa: PLC0415
    from codememory.status import project_status  # noqa: PLC0415

    found = Scan(str(root.relative_to(folder / RESOURCES)), stock=stock_count(root))
    started = time.monotonic()
    try:
        project, _ = register_project(root)
    except RefusedProjectError as error:
        found.state = error.reason
        return found
    states = [run(project, source) for source in ("git", "documents")]
    status = project_status(project)
    found.state = status["sources"]["git"]["state"]
    found.commits = status["totals"]["commits"]
    found.documents = status["sources"]["documents"]["processed"]
    gaps: Counter[str] = Counter()
    for source in status["sources"].values():
        gaps.update({gap["reason"]: gap["count"] for gap in source["gaps"]})
    found.gaps = dict(sorted(gaps.items()))
    failed = [state for state in states if state not in {"", "SourceUnreadableError"}]
    if states[0] == "SourceUnreadableError":
        found.state = "UNREADABLE"
    if failed:
        found.state, found.is_crashed = failed[0], True
    found.seconds = time.monotonic() - started
    return found


def run(project: object, source: str) -> str:
    """Collect a source to its end; what it failed of, or nothing."""
    from codememory import runs  # noqa: PLC0415 -- needs Django
    from codememory.models import Project  # noqa: PLC0415
    from codememory.projects import primary_worktree  # noqa: PLC0415
    from codememory.slices import work_slice  # noqa: PLC0415

    assert isinstance(project, Project)
    row = runs.request_run(primary_worktree(project), source, 1, None)
    while claim := runs.claim_run(row.pk):
        work_slice(claim)
    row.refresh_from_db()
    return "" if row.state == "DONE" else str(row.error_class)


def stock_count(root: Path) -> int | None:
    """How many commits git itself finds below HEAD, without grafts and replace refs."""
    ended = subprocess.run(
        ["git", "-C", str(root), "rev-list", "--count", "HEAD", "--"],
        env={**plain_environment(), "GIT_GRAFT_FILE": "/dev/null"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return int(ended.stdout) if ended.returncode == 0 else None


def show(scans: list[Scan], head: str) -> None:
    print(f"libgit2 at {head}: {len(scans)} repositories")
    print(f"{'repository':44} {'state':22} {'commits':>7} {'git':>5} {'docs':>4}  gaps")
    for one in scans:
        stock = "-" if one.stock is None else str(one.stock)
        gaps = ", ".join(f"{reason} {count}" for reason, count in one.gaps.items())
        mark = "" if one.is_right else "  <-- WRONG"
        print(
            f"{one.name[:44]:44} {one.state:22} {one.commits:7} {stock:>5} {one.documents:4}"
            f"  {gaps}{mark}"
        )
    print(
        json.dumps(
            {
                "commit": head,
                "repositories": len(scans),
                "crashed": sum(one.is_crashed for one in scans),
                "wrong": sum(not one.is_right for one in scans),
                "readable_by_git": sum(one.stock is not None for one in scans),
                "states": dict(Counter(one.state for one in scans)),
                "scans": [asdict(one) for one in scans],
            }
        )
    )


if __name__ == "__main__":
    main()
