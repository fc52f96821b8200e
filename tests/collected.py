"""Collects a real repository in a test, through the very slices that workers run."""

from __future__ import annotations

from codememory import runs
from codememory.models import Project, Run
from codememory.policies import newest_policy
from codememory.projects import primary_worktree, register_project
from codememory.slices import work_slice
from tests.lent import lent_processes
from tests.repos import RepoBuilder

SOURCES = ("git", "documents")


def collect(repo: RepoBuilder, sources: tuple[str, ...] = SOURCES) -> Project:
    """Register the repository (once) and collect it to the end."""
    project, _ = register_project(repo.root)
    for source in sources:
        finished = collect_source(project, source)
        assert finished.state == "DONE", (finished.error_class, finished.error_text)
    return project


def collect_source(project: Project, source: str, most_slices: int = 50) -> Run:
    """Work off one run of a source; returns it as it ended."""
    generation = newest_policy(project).generation
    run = runs.request_run(primary_worktree(project), source, generation, None)
    with lent_processes():
        for _ in range(most_slices):
            claim = runs.claim_run(run.pk)
            if claim is None:
                break
            work_slice(claim)
    run.refresh_from_db()
    return run
