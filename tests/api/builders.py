"""Makes a project with one piece of evidence, as the agents' tests need it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from codememory.models import (
    EvidenceSegment,
    Path,
    Policy,
    Project,
    Scope,
    ScopeKind,
    SourceKind,
    SourceRevision,
    Worktree,
)


@dataclass(frozen=True)
class Owned:
    """A project and one segment of its only document."""

    project: Project
    segment: EvidenceSegment

    @property
    def evidence_id(self) -> str:
        return f"S{self.segment.pk}"


def make_owned(slug: str, text: str) -> Owned:
    scope = Scope.objects.create(kind=ScopeKind.PROJECT)
    root = f"/srv/{slug}"
    digest = hashlib.sha256(root.encode()).digest()
    project = Project.objects.create(scope=scope, slug=slug, root=root, root_digest=digest)
    worktree = Worktree.objects.create(scope=scope, root=root, root_digest=digest)
    Policy.objects.create(scope=scope, generation=1, sources=[SourceKind.DOCUMENTS])
    content = text.encode()
    sha256 = hashlib.sha256(content).digest()
    path = Path.objects.create(scope=scope, raw=b"a.md", digest=hashlib.sha256(b"a.md").digest())
    revision = SourceRevision.objects.create(
        scope=scope,
        kind=SourceKind.DOCUMENTS,
        worktree=worktree,
        path=path,
        sha256=sha256,
        size=len(content),
        encoding="utf-8",
        policy_generation=1,
    )
    segment = EvidenceSegment.objects.create(
        scope=scope,
        revision=revision,
        kind="paragraph",
        byte_start=0,
        byte_end=len(content),
        first_line=1,
        last_line=1,
        sha256=sha256,
        content=content,
    )
    return Owned(project, segment)

