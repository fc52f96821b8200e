"""Whom a call comes from, which projects it may read, and which one it is about.

Two kinds of callers: the local user's own stdio process, and the bearer of a token over HTTP.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Protocol

from django.db.models import QuerySet

from api.errors import AbsentError, ProjectRequiredError
from codememory import tokens
from codememory.models import Actor, Project, TokenScope, Worktree


class Access(Protocol):
    """What a caller may read, and what it has attached."""

    def projects(self) -> QuerySet[Project]: ...

    def attached(self) -> set[int]:
        """The scope ids of the attached projects."""

    def attach(self, project: Project) -> None: ...

    def may(self, scope: TokenScope) -> bool: ...

    def actor(self) -> Actor | None:
        """Who acts, for the audit trail; None is the owner of the database."""


@dataclass(slots=True)
class ProcessAccess:
    """A stdio process: the named projects, or all of the user's database (None)."""

    project_ids: frozenset[int] | None
    _attached: set[int] = field(default_factory=set)

    def projects(self) -> QuerySet[Project]:
        every = Project.objects.order_by("slug")
        return every if self.project_ids is None else every.filter(pk__in=self.project_ids)

    def attached(self) -> set[int]:
        return set(self._attached)

    def attach(self, project: Project) -> None:
        self._attached.add(project.scope_id)

    def may(self, scope: TokenScope) -> bool:  # noqa: ARG002 -- whoever starts it may do all
        return True

    def actor(self) -> Actor | None:
        return None


@dataclass(frozen=True, slots=True)
class TokenAccess:
    """The bearer of a token: the token's projects, attachments kept in its rows."""

    token_id: int

    def projects(self) -> QuerySet[Project]:
        return tokens.readable_projects(self.token_id)

    def attached(self) -> set[int]:
        return tokens.attached_scopes(self.token_id)

    def attach(self, project: Project) -> None:
        tokens.attach_project(self.token_id, project)

    def may(self, scope: TokenScope) -> bool:
        return tokens.has_scope(self.token_id, scope)

    def actor(self) -> Actor:
        return tokens.actor_of(self.token_id)


def find_project(access: Access, name: str) -> Project:
    """The caller's project of that slug, or whose root holds that absolute path."""
    readable = list(access.projects())
    for project in readable:
        if project.slug == name:
            return project
    if os.path.isabs(name):  # noqa: PTH117 -- compared as text: a caller's path is never looked up
        for worktree in Worktree.objects.filter(scope_id__in=[p.scope_id for p in readable]):
            if _holds(worktree.root, name):
                return next(p for p in readable if p.scope_id == worktree.scope_id)
    raise AbsentError


def choose_project(access: Access, name: str | None) -> Project:
    """The project a call is about: the named one, the only one, or the only attached one."""
    if name is not None:
        return find_project(access, name)
    readable = list(access.projects())
    if len(readable) == 1:
        return readable[0]
    if not readable:
        raise AbsentError
    attached = access.attached()
    chosen = [project for project in readable if project.scope_id in attached]
    if len(chosen) == 1:
        return chosen[0]
    raise ProjectRequiredError([project.slug for project in readable])


def _holds(root: str, path: str) -> bool:
    normal = os.path.normpath(path)
    return normal == root or normal.startswith(root.rstrip(os.sep) + os.sep)
