"""Real repositories, and projects collected from them as `collect` would."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from codememory.listing import list_rows
from codememory.models import Project, SourceKind
from codememory.projects import primary_worktree, register_project
from codememory.runs import request_run
from codememory.tasks import run_slice

MUST = "The {} cache must be invalidated on every write."
DOCUMENT = "# Decisions\n\n## Cache\n\n" + MUST + "\n"
BEFORE = "def read_{0}(key):\n    return CACHE[key]\n"
AFTER = "def read_{0}(key):\n    return CACHE.get(key, MISSING_{0})\n"


def write_repository(folder: Path, word: str) -> Path:
    """Two commits named fx: a document and a function, then another behaviour of the function."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "decisions.md").write_text(DOCUMENT.format(word))
    (folder / "cache.py").write_text(BEFORE.format(word))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "fx")
    (folder / "cache.py").write_text(AFTER.format(word))
    git(folder, "commit", "-q", "-a", "-m", "fx")
    return folder


def git(folder: Path, *arguments: str) -> None:
    someone = ["-c", "user.name=Alice", "-c", "user.email=alice@example.org"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *someone, *arguments], cwd=folder, env=environment, check=True)


def collect(root: Path) -> Project:
    """Register a repository and read it, both sources, in this process."""
    project, _ = register_project(root)
    for source in (SourceKind.GIT, SourceKind.DOCUMENTS):
        run_slice(request_run(primary_worktree(project), source, 1, None).pk)
    return project


def evidence_ids(project: Project) -> list[str]:
    """Every evidence id of the project: both sides of its hunks, and its segments."""
    ids = [row["id"] for row in list_rows(project, "segments")["rows"]]
    for change in list_rows(project, "changes")["rows"]:
        ids += change["evidence_ids"]
        ids += [f"B{each[1:]}" for each in change["evidence_ids"]]
    return ids
