"""Plain builders of rows for tests: a project, a person with a role, a candidate with its evidence.

Everything they write is what collecting a Git repository would have written.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path as FilePath

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.test import Client

from codememory.candidates import shown_digest, statement_digest
from codememory.models import (
    Actor,
    ActorKind,
    Candidate,
    EvidenceLink,
    EvidenceSegment,
    KnowledgeType,
    Membership,
    Memory,
    Modality,
    Path,
    Policy,
    Project,
    Role,
    Scope,
    ScopeKind,
    SourceKind,
    SourceRevision,
    Worktree,
    WorktreeDocument,
)
from codememory.people import actor_of
from review.actions import is_plan, promote_as_plan, promote_candidate
from review.outcomes import Shown

PASSWORD = "correct horse battery"


def make_project(slug: str = "payments-api", root: FilePath | None = None) -> Project:
    """Register a project of its own scope; `root` need not exist unless the test reads it."""
    place = str(root or FilePath("/nowhere") / slug)
    digest = hashlib.sha256(place.encode()).digest()
    scope = Scope.objects.create(kind=ScopeKind.PROJECT)
    project = Project.objects.create(scope=scope, slug=slug, root=place, root_digest=digest)
    Worktree.objects.create(scope=scope, root=place, root_digest=digest, git_dir=f"{place}/.git")
    Policy.objects.create(scope=scope, generation=1, sources=[SourceKind.GIT, SourceKind.DOCUMENTS])
    return project


def make_person(
    project: Project | None = None, role: Role = Role.REVIEWER, name: str = "alice"
) -> User:
    """Make somebody who can sign in with PASSWORD, a member of the project if one is given."""
    user = User.objects.create(username=name, password=_hashed_password())
    if project:
        Membership.objects.create(scope=project.scope, user=user, role=role)
    return user


@cache
def _hashed_password() -> str:
    return make_password(PASSWORD)  # slow by design: once is enough


def make_agent(name: str = "agent") -> Actor:
    return Actor.objects.create(kind=ActorKind.AGENT, name=name)


def make_revision(project: Project, path: bytes, content: bytes) -> SourceRevision:
    """Store a document's revision as the one its worktree has now."""
    row, _ = Path.objects.get_or_create(
        scope=project.scope, raw=path, digest=hashlib.sha256(path).digest()
    )
    worktree = Worktree.objects.get(scope=project.scope)
    blob = b"blob %d\0%b" % (len(content), content)
    revision = SourceRevision.objects.create(
        scope=project.scope,
        kind=SourceKind.DOCUMENTS,
        worktree=worktree,
        path=row,
        object_oid=hashlib.sha1(blob, usedforsecurity=False).hexdigest(),
        sha256=hashlib.sha256(content).digest(),
        size=len(content),
        encoding="utf-8",
        head_oid="4be1f70a" * 5,
        branch_label="main",
        policy_generation=1,
    )
    WorktreeDocument.objects.update_or_create(
        scope=project.scope, worktree=worktree, path=row, defaults={"revision": revision}
    )
    return revision


def make_segment(revision: SourceRevision, content: bytes, start: int, end: int) -> EvidenceSegment:
    """Cut bytes [start, end) out of a revision's content."""
    first = content[:start].count(b"\n") + 1
    exact = content[start:end]
    return EvidenceSegment.objects.create(
        scope=revision.scope,
        revision=revision,
        kind="paragraph",
        byte_start=start,
        byte_end=end,
        first_line=first,
        last_line=first + exact.rstrip(b"\n").count(b"\n"),
        sha256=hashlib.sha256(exact).digest(),
        content=exact,
        heading_path=["Decision", "Refund keys"],
    )


def make_candidate(
    project: Project,
    statement: str = "A retried refund keeps its first key.",
    *,
    type: str = KnowledgeType.DECISION,  # noqa: A002  (the model's word)
    modality: str = Modality.DECISION,
    path: bytes = b"docs/adr/0017-refund-idempotency.md",
    before: str = "# Refund keys\n\nWe decided this in March.\n",
    after: str = "\nKeys live for 400 days.\n",
    subject: str = "",
    flags: list[str] | None = None,
) -> Candidate:
    """Propose a statement that stands in a document, between the words before and after it."""
    said, lead = statement.encode(), before.encode()
    content = lead + said + after.encode()
    revision = make_revision(project, path, content)
    segment = make_segment(revision, content, before.encode().rfind(b"\n\n") + 2, len(content))
    candidate = Candidate.objects.create(
        scope=project.scope,
        type=type,
        modality=modality,
        statement=statement,
        statement_digest=statement_digest(statement),
        subject=subject,
        confidence=0.8,
        rule="decision-section",
        flags=flags or [],
    )
    EvidenceLink.objects.create(
        scope=project.scope,
        candidate=candidate,
        segment=segment,
        byte_start=len(lead),
        byte_end=len(lead) + len(said),
    )
    return candidate


def make_memory(candidate: Candidate, user: User) -> Memory:
    """Let the user promote the candidate, a plan as a plan, through the very actions."""
    candidate.refresh_from_db()
    promote = promote_as_plan if is_plan(candidate) else promote_candidate
    shown = Shown(candidate.version, shown_digest(candidate))
    promote(candidate, shown, actor=actor_of(user))
    return Memory.objects.get(candidate=candidate, state="ACTIVE")


def signed_in(user: User, *, enforce_csrf_checks: bool = False) -> Client:
    """Return a client whose session is the user's."""
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client
