"""A project of a million search rows out of real repositories: `big.py --keep FOLDER REPO...`.

The histories of the repositories are joined in one repository, which is collected by the product.
Then that project's rows are multiplied by SQL (`multiplied.py`) until its index holds ROWS rows:

* *changes*: every real change is repeated in its order in the folders `part1/` ... `partN/`,
  each in a commit and logical change of its own, with the real change's files, contents and hunks
  (what Git has of them is shared, so snippets are cut from real blobs). HEAD has the first
  PARTS_AT_HEAD of the folders. Of the search entry, shape and neighbours are the real change's;
  its terms and impacts are its own up to a random one of them, in the order in which the project
  met them, and a random other change's after it. The frequency of each term grows as the number
  of changes does.
* *sections*: real documents are repeated in `part1/` ... with their segments; entries as above.
* *candidates*: the first half of the words of one real statement and the second half of another,
  with the type, modality and flags of one of them, 82 in 100 open, the others deferred or rejected
  by a decision with its audit row; each cites a segment of a part. Entries as above.
* *memories*: MEMORIES candidates are promoted by the product.

Frequencies and totals are counted again, so they are exact. Symbols, reversals, runs and gaps stay
those of the real history. A folder that is given again is opened as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its names hide modules of Python
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.throwaway import collect, git, register, set_up
from codememory import database

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from codememory.models import Project

ROWS, CANDIDATES, SECTIONS, MEMORIES = 1_000_000, 100_000, 100_000, 400
PARTS_AT_HEAD = 7
REVIEWER = "bench"
DOCUMENTS = (".md", ".markdown", ".mdx", ".rst", ".txt")
WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repos", nargs="*", type=Path, help="real repositories, once a folder")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="build it here once; leave it")
    parser.add_argument("--rows", type=int, default=ROWS)


@contextlib.contextmanager
def big_project(options: argparse.Namespace) -> Iterator[Project]:
    """Open the project of a folder, which is built first where it is not whole."""
    with contextlib.ExitStack() as stack:
        folder = options.keep
        if folder is None:
            folder = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="codememory-big-"))
            )
            stack.callback(database.discard, folder / "home")
        stack.enter_context(kept_database(folder))
        if not (folder / "whole").exists():
            build(folder, options.repos, options.rows)
        from codememory.models import Project  # noqa: PLC0415 -- needs Django

        yield Project.objects.get()


@contextlib.contextmanager
def kept_database(folder: Path) -> Iterator[None]:
    """Run the embedded server of a home that stays; the settings are read from here."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.pop("DATABASE_URL", None)
    os.environ["CODEMEMORY_HOME"] = str(folder / "home")
    os.environ["DJANGO_SETTINGS_MODULE"] = "codememory.settings"
    lease = database.ensure_running(folder / "home")
    try:
        set_up()
        from codememory.entry import bring_up_to_date  # noqa: PLC0415 -- needs the settings

        bring_up_to_date()
        yield
    finally:
        from django.db import connections  # noqa: PLC0415

        connections.close_all()
        lease.close()


def build(folder: Path, repos: Sequence[Path], rows: int) -> None:
    """Collect what is not collected yet, then multiply it; minutes."""
    from benchmarks.multiplied import multiply  # noqa: PLC0415 -- needs Django
    from codememory.models import Candidate, Project  # noqa: PLC0415
    from codememory.people import actor_of  # noqa: PLC0415

    started = time.monotonic()
    clone = folder / "repo"
    project = Project.objects.first()
    if project is None:
        if not repos:
            raise SystemExit("big.py: which repositories? There is nothing in the folder yet")
        shutil.rmtree(clone, ignore_errors=True)
        join(repos, clone)
        project = register(clone)
    for step in ("joined", "repeated"):
        if step == "repeated":
            repeat(clone)
        for source in ("git", "documents"):
            _, seconds = collect(project, source)
            print(f"{seconds:7.1f} s  collecting {source}, {step}", flush=True)
    user = reviewer(project)
    promote(project, user)
    claims = Candidate.objects.filter(scope_id=project.scope_id).count()
    share = rows / ROWS
    wanted = max(claims, int(CANDIDATES * share))
    multiply(project.scope_id, actor_of(user).pk, rows, wanted, int(SECTIONS * share))
    (folder / "whole").touch()
    print(f"{time.monotonic() - started:7.1f} s  in all", flush=True)


def join(repos: Sequence[Path], clone: Path) -> None:
    """One repository that holds the histories of all, joined by a commit with all their files."""
    clone.parent.mkdir(parents=True, exist_ok=True)
    git(clone.parent, "init", "-q", "-b", "main", str(clone))
    tips, rows = [], dict[str, str]()
    for repo in repos:
        git(clone, "fetch", "-q", "--no-tags", str(repo), "HEAD")
        tips.append(git(clone, "rev-parse", "FETCH_HEAD").decode().strip())
        for row in _tree(clone, tips[-1]):
            rows.setdefault(row.partition("\t")[2], row)
    _commit(clone, rows.values(), tips, "Join")


def repeat(clone: Path) -> None:
    """Commit the files that are no documents again in the first parts' folders."""
    head = git(clone, "rev-parse", "HEAD").decode().strip()
    rows = [row for row in _tree(clone, head) if "\tpart" not in row]
    code = [row for row in rows if not row.lower().endswith(DOCUMENTS)]
    parts = [
        row.replace("\t", f"\tpart{part}/", 1)
        for part in range(1, PARTS_AT_HEAD + 1)
        for row in code
    ]
    _commit(clone, [*rows, *parts], [head], "Repeat")


def _tree(clone: Path, oid: str) -> list[str]:
    text = git(clone, "ls-tree", "-r", "-z", oid).decode("utf-8", "surrogateescape")
    return [row for row in text.split("\0") if row]


def _commit(clone: Path, rows: Sequence[str] | object, parents: Sequence[str], title: str) -> None:
    text = "\0".join(rows) + "\0"  # type: ignore[arg-type]
    git(clone, "read-tree", "--empty")
    git(clone, "update-index", "-z", "--index-info", text=text.encode("utf-8", "surrogateescape"))
    tree = git(clone, "write-tree").decode().strip()
    named = [part for parent in parents for part in ("-p", parent)]
    made = git(clone, *WHO, "commit-tree", tree, *named, "-m", title).decode().strip()
    git(clone, "update-ref", "refs/heads/main", made)
    git(clone, "reset", "-q", "--hard", "main")


def reviewer(project: Project) -> User:
    """Who decides here: a lead of the project and an administrator."""
    from django.contrib.auth.models import User  # noqa: PLC0415 -- needs Django

    from codememory.models import Membership, Role  # noqa: PLC0415

    user, is_new = User.objects.get_or_create(username=REVIEWER)
    if is_new:
        user.is_staff = True
        user.save()
        Membership.objects.create(scope_id=project.scope_id, user=user, role=Role.LEAD)
    return user


def promote(project: Project, user: User) -> None:
    """Promote some candidates as a reviewer does, plans as plans."""
    from codememory.candidates import shown_digest  # noqa: PLC0415 -- needs Django
    from codememory.models import Candidate, Memory  # noqa: PLC0415
    from codememory.people import actor_of  # noqa: PLC0415
    from review.actions import is_plan, promote_as_plan, promote_candidate  # noqa: PLC0415
    from review.outcomes import Shown  # noqa: PLC0415

    left = MEMORIES - Memory.objects.filter(scope_id=project.scope_id).count()
    pending = Candidate.objects.filter(scope_id=project.scope_id, state="PENDING").order_by("pk")
    for candidate in pending[: max(0, left)]:
        act = promote_as_plan if is_plan(candidate) else promote_candidate
        act(candidate, Shown(candidate.version, shown_digest(candidate)), actor=actor_of(user))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    options = parser.parse_args()
    with big_project(options) as project:
        print(f"{project.slug} in {options.keep}")


if __name__ == "__main__":
    main()
