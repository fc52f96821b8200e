"""Evidence: immutable revisions of sources, exact segments of them, and document structure."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from codememory.models.owned import OwnedModel, owned_link
from codememory.models.scopes import SourceKind


class Availability(models.TextChoices):
    AVAILABLE = "AVAILABLE"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"


class Path(OwnedModel):
    """Derived. A distinct path of a project, as the bytes that Git gives."""

    raw = models.BinaryField()
    digest = models.BinaryField(max_length=32)  # SHA-256: a path may outgrow a b-tree key

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "digest"], name="path_digest"),
        ]

    def __str__(self) -> str:
        return repr(bytes(self.raw))


class SourceRevision(OwnedModel):
    """Canonical. One immutable content of a source: a document, or a blob that a claim cites.

    The bytes stay where they are (Git); what was cut into segments is kept there, redacted.
    `sha256` and `size` (bytes) are those of the original.
    """

    kind = models.CharField(max_length=16, choices=SourceKind.choices)
    schema_revision = models.PositiveSmallIntegerField(default=1)
    worktree = owned_link("codememory.Worktree", null=True)
    path = owned_link("codememory.Path")
    object_oid = models.CharField(max_length=64, null=True)
    object_algorithm = models.CharField(max_length=6, default="sha1")
    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    encoding = models.CharField(max_length=32, null=True)
    head_oid = models.CharField(max_length=64, null=True)  # HEAD at capture
    branch_label = models.TextField(null=True)
    policy_generation = models.PositiveIntegerField()
    extractor_revision = models.PositiveSmallIntegerField(default=1)
    is_instruction_file = models.BooleanField(default=False)
    captured_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "kind", "path", "sha256"], name="revision_identity"
            ),
        ]

    def __str__(self) -> str:
        return f"D{self.pk}"


class EvidenceSegment(OwnedModel):
    """Canonical. An exact range of a revision: bytes [byte_start, byte_end), lines, its digest.

    `content` holds the verbatim bytes but for redactions; `sha256` is over the original range.
    """

    revision = owned_link("codememory.SourceRevision", related_name="segments")
    kind = models.CharField(max_length=16)
    byte_start = models.BigIntegerField()
    byte_end = models.BigIntegerField()
    first_line = models.IntegerField()
    last_line = models.IntegerField()
    sha256 = models.BinaryField(max_length=32)
    content = models.BinaryField()
    heading_path = ArrayField(models.TextField(), default=list)
    redactions = models.JSONField(default=list)  # [{kind, start, end}] in bytes of the revision
    is_truncated = models.BooleanField(default=False)
    # Set for segments cut from a content change's side when a claim cites code.
    commit = owned_link("codememory.GitCommit", null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "revision", "byte_start", "byte_end"], name="segment_range"
            ),
        ]

    def __str__(self) -> str:
        return f"S{self.pk}"


class DocumentSection(OwnedModel):
    """Derived. A heading of a document revision with everything below it."""

    revision = owned_link("codememory.SourceRevision", related_name="sections")
    heading_path = ArrayField(models.TextField(), default=list)
    level = models.PositiveSmallIntegerField()
    ordinal = models.PositiveIntegerField()
    byte_start = models.BigIntegerField()
    byte_end = models.BigIntegerField()
    first_line = models.IntegerField()
    last_line = models.IntegerField()
    sha256 = models.BinaryField(max_length=32)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "revision", "byte_start", "level"], name="section_start"
            ),
        ]

    def __str__(self) -> str:
        return " > ".join(self.heading_path)


class WorktreeDocument(OwnedModel):
    """Derived. Which revision of a document a worktree's HEAD had when it was last collected."""

    worktree = owned_link("codememory.Worktree")
    path = owned_link("codememory.Path")
    revision = owned_link("codememory.SourceRevision")

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "worktree", "path"], name="worktree_document_path"
            ),
        ]
        # Is this revision still some worktree's document? (asked for each search result)
        indexes = [models.Index(fields=["scope", "revision"], name="worktree_document_rev")]

    def __str__(self) -> str:
        return f"{self.worktree_id}:{self.path_id}"
