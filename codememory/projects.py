"""Registering and finding projects: one canonical root each, its scope and its worktrees."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from django.db import transaction
from django.db.models import Q

from codememory import audit
from codememory.errors import RefusedProjectError, UnknownProjectError
from codememory.models import Policy, Project, Scope, ScopeKind, SourceKind, Worktree
from collectors.git import Refused, Repository, open_repository

MAX_SLUG = 60


def canonical_root(path: str | os.PathLike[str]) -> Path:
    """Return the real, absolute folder of a path. Raises RefusedProjectError."""
    root = Path(os.path.realpath(path))
    if not root.is_dir():
        raise RefusedProjectError("NOT_A_FOLDER", f"there is no folder {root}")
    return root


def open_root(root: Path) -> Repository:
    """Open the repository at exactly this root. Raises RefusedProjectError with its state."""
    opened = open_repository(root)
    if isinstance(opened, Refused):
        raise RefusedProjectError(opened.reason, opened.hint)
    return opened


def root_digest(root: Path) -> bytes:
    """SHA-256 of a canonical root, by which it is found."""
    return hashlib.sha256(os.fsencode(root)).digest()


def _free_slug(root: Path) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-")[:MAX_SLUG] or "project"
    taken = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    numbers = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (base, *numbers) if slug not in taken)


def register_project(path: str | os.PathLike[str]) -> tuple[Project, bool]:
    """Register a root with the default policy; returns it and whether it is new.

    The caller has shown the preview and got a yes. Raises RefusedProjectError.
    """
    root = canonical_root(path)
    if existing := Project.objects.filter(root_digest=root_digest(root)).first():
        return existing, False
    repository = open_root(root)
    if owner := project_of_clone(repository):
        raise RefusedProjectError(
            "SAME_CLONE",
            f"{root} is a checkout of the clone that {owner.slug} has: `projects add-worktree"
            f" {root}` adds it there",
        )
    with transaction.atomic():
        scope = Scope.objects.create(kind=ScopeKind.PROJECT)
        project = Project.objects.create(
            scope=scope, slug=_free_slug(root), root=str(root), root_digest=root_digest(root)
        )
        Worktree.objects.create(
            scope=scope,
            root=str(root),
            root_digest=root_digest(root),
            git_dir=str(repository.git_dir),
        )
        Policy.objects.create(
            scope=scope, generation=1, sources=[SourceKind.GIT, SourceKind.DOCUMENTS]
        )
        audit.record("project.register", scope=scope, subject=project.slug)
    return project, True


def project_of_clone(repository: Repository) -> Project | None:
    """Return the project that has a checkout of the very same clone."""
    common = str(repository.common_dir)
    rows = Worktree.objects.filter(
        Q(git_dir=common) | Q(git_dir__startswith=f"{common}{os.sep}worktrees{os.sep}")
    )
    for worktree in rows.select_related("scope__project").order_by("pk"):
        opened = open_repository(Path(worktree.root))
        if isinstance(opened, Repository) and opened.common_dir == repository.common_dir:
            return worktree.scope.project
    return None


def find_project(name: str) -> Project | None:
    """Find a project by its name or root, or by a path that exists inside its root.

    A mistyped name is no path, although the current directory may lie inside some root.
    """
    found = find_exact_project(name)
    if found is not None or not name or "\0" in name or not Path(name).exists():
        return found
    is_path = os.sep in name or name in {os.curdir, os.pardir} or Path(name).is_dir()
    return project_of_path(name) if is_path else None


def find_exact_project(name: str) -> Project | None:
    """Find a project by its name or its very root, whose folder need not be there any more."""
    if not name or "\0" in name:
        return None
    if os.sep not in name and (project := Project.objects.filter(slug=name).first()):
        return project
    return Project.objects.filter(root_digest=root_digest(Path(os.path.realpath(name)))).first()


def project_of_path(path: str | os.PathLike[str]) -> Project | None:
    """Return the project that has a worktree which contains a path; the innermost one.

    What is asked of it goes by that worktree.
    """
    real = Path(os.path.realpath(path))
    digests = [root_digest(folder) for folder in (real, *real.parents)]
    rows = Worktree.objects.filter(root_digest__in=digests).select_related("scope__project")
    worktree = max(rows, key=lambda row: len(row.root), default=None)
    if worktree is None:
        return None
    project = worktree.scope.project
    project.asked_from = worktree
    return project


def require_project(name: str | None) -> Project:
    """Find a project by name, or that of the current directory. Raises UnknownProjectError."""
    project = find_project(name) if name else project_of_path(Path.cwd())
    if project is None:
        raise UnknownProjectError(name or str(Path.cwd()))
    return project


def require_exact_project(name: str) -> Project:
    """Find a project by its name or its very root, for what cannot be undone, or gives access."""
    project = find_exact_project(name)
    if project is None:
        raise UnknownProjectError(name)
    return project


def primary_worktree(project: Project) -> Worktree:
    """Return the worktree of the registered root."""
    return Worktree.objects.get(scope_id=project.scope_id, root_digest=project.root_digest)


def linked_worktrees(project: Project) -> list[Worktree]:
    """Return the worktrees that were added to the one of the registered root."""
    rows = Worktree.objects.filter(scope_id=project.scope_id).order_by("pk")
    return list(rows.exclude(root_digest=project.root_digest))


def collected_worktrees(project: Project) -> list[Worktree]:
    """Return those that are read: the registered root, and the linked ones that are there."""
    linked = linked_worktrees(project)
    return [primary_worktree(project), *(row for row in linked if Path(row.root).is_dir())]
