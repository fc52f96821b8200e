"""Moves a project along with its checkout, and adds linked worktrees of the same clone to it.

Another clone is another project, whatever it holds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from codememory import audit
from codememory.collect_history import scratch_folder
from codememory.errors import RefusedProjectError
from codememory.models import GitCommit, Project, RefSnapshot, Worktree
from codememory.projects import (
    canonical_root,
    find_exact_project,
    linked_worktrees,
    open_root,
    project_of_clone,
    root_digest,
)
from collectors.git import Refused, Repository, Shadow, open_repository

HEADS_KNOWN = 20  # of the newest collected HEADs: one of them must be there
ROOTS_KNOWN = 20


@dataclass(frozen=True, slots=True)
class Move:
    """A checkout that was found again elsewhere: where, and by which commits it was known."""

    project: Project
    repository: Repository
    head_oid: str | None  # the newest collected HEAD that is there
    root_oids: tuple[str, ...]  # commits without parents, all of which are there


def plan_move(project: Project, path: str) -> Move:
    """Recognise the project's own clone at another path. Raises RefusedProjectError."""
    root = canonical_root(path)
    if str(root) == project.root:
        raise RefusedProjectError("SAME_PLACE", f"{project.slug} is registered at {root}")
    _require_free(root)
    if not isinstance(open_repository(Path(project.root)), Refused):
        raise RefusedProjectError(
            "NOT_MOVED",
            f"{project.root} is still a repository, so {root} is another clone: `projects add`",
        )
    repository = open_root(root)
    head, roots = _recognised(project, repository)
    return Move(project, repository, head, roots)


def _require_free(root: Path) -> None:
    digest = root_digest(root)
    owner = Project.objects.filter(root_digest=digest).first()
    if owner is not None:
        raise RefusedProjectError("REGISTERED", f"{root} is the project {owner.slug} already")
    worktree = Worktree.objects.filter(root_digest=digest).select_related("scope__project").first()
    if worktree is not None:
        slug = worktree.scope.project.slug
        raise RefusedProjectError("REGISTERED", f"{root} is a worktree of {slug} already")


def _recognised(project: Project, repository: Repository) -> tuple[str | None, tuple[str, ...]]:
    """What proves that this is the clone that was collected. Raises RefusedProjectError."""
    snapshots = RefSnapshot.objects.filter(scope_id=project.scope_id).order_by("-captured_at")
    heads = list(snapshots.values_list("head_oid", flat=True)[:HEADS_KNOWN])
    commits = GitCommit.objects.filter(scope_id=project.scope_id, parent_oids=[])
    roots = tuple(commits.order_by("pk").values_list("oid", flat=True)[:ROOTS_KNOWN])
    if not heads and not roots:
        raise RefusedProjectError(
            "NOTHING_KNOWN",
            f"nothing of {project.slug} was read yet, so that its clone cannot be told from"
            f" another: `projects remove {project.slug}`, then `projects add {repository.root}`",
        )
    with Shadow(repository, scratch_folder()) as shadow, shadow.objects() as reader:
        sizes = reader.sizes([*heads, *roots])
    head = next((oid for oid in heads if sizes.get(oid) is not None), None)
    absent = [oid for oid in roots if sizes.get(oid) is None]
    if absent or (heads and head is None):
        missing = f"the root commit {absent[0][:12]}" if absent else "any HEAD that was collected"
        raise RefusedProjectError(
            "ANOTHER_CLONE",
            f"{repository.root} does not hold {missing}: it is no copy of {project.slug},"
            " but a project of its own",
        )
    return head, roots


@transaction.atomic
def move_project(move: Move) -> list[Worktree]:
    """Register the project at its new place; returns linked worktrees that do not open there.

    Everything that is stored stays as it is.
    """
    project, repository = move.project, move.repository
    old = project.root
    digest = root_digest(repository.root)
    Worktree.objects.filter(scope_id=project.scope_id, root_digest=project.root_digest).update(
        root=str(repository.root), root_digest=digest, git_dir=str(repository.git_dir)
    )
    Project.objects.filter(pk=project.pk).update(root=str(repository.root), root_digest=digest)
    project.refresh_from_db()
    broken = []
    for worktree in linked_worktrees(project):
        opened = open_repository(Path(worktree.root))
        if isinstance(opened, Refused):
            broken.append(worktree)
            continue
        Worktree.objects.filter(pk=worktree.pk).update(git_dir=str(opened.git_dir))
    audit.record(
        "project.move",
        scope=project.scope,
        subject=project.slug,
        old_root=old,
        new_root=project.root,
        head=move.head_oid,
    )
    return broken


def plan_worktree(path: str) -> tuple[Project, Repository]:
    """Find the project whose clone a checkout belongs to. Raises RefusedProjectError."""
    root = canonical_root(path)
    _require_free(root)
    repository = open_root(root)
    if project := project_of_clone(repository):
        return project, repository
    clone = repository.common_dir
    if repository.git_dir == clone:
        raise RefusedProjectError(
            "ANOTHER_CLONE",
            f"{root} is a clone of its own, and another clone is another project:"
            f" `projects add {root}`",
        )
    raise RefusedProjectError(
        "ANOTHER_CLONE", f"{root} belongs to the clone {clone}, of which no project is registered"
    )


@transaction.atomic
def add_worktree(project: Project, repository: Repository) -> Worktree:
    """Add a checkout of the project's own clone to it."""
    worktree = Worktree.objects.create(
        scope=project.scope,
        root=str(repository.root),
        root_digest=root_digest(repository.root),
        git_dir=str(repository.git_dir),
    )
    audit.record(
        "project.add-worktree", scope=project.scope, subject=project.slug, root=worktree.root
    )
    return worktree


def move_lines(move: Move) -> list[str]:
    """What a move keeps and by what the clone was known, for people."""
    by = [f"HEAD {move.head_oid[:12]}"] if move.head_oid else []
    by += [f"root commit {oid[:12]}" for oid in move.root_oids[:3]]
    more = len(move.root_oids) - 3
    by += [f"{more} more root commits"] if more > 0 else []
    return [
        f"Moving {move.project.slug}",
        f"  from  {move.project.root}  (no repository any more)",
        f"  to    {move.repository.root}",
        f"  known by {', '.join(by)}",
        "All that is stored, its ids, people, tokens and policy stay. Nothing is read or changed.",
    ]


def find_movable(name: str) -> Project:
    """The project of a name or of the very root that it was registered with."""
    project = find_exact_project(name)
    if project is None:
        hint = f"no project is registered as {name!r} or at {os.path.realpath(name)}"
        raise RefusedProjectError("UNKNOWN_PROJECT", hint)
    return project
