"""Evidence: immutable revisions of sources, exact segments of them, and document structure."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Value
from django.db.models.functions import Now

from codememory.models.owned import OwnedModel, owned_link
from codememory.models.scopes import SourceKind

PATH_HEAD = 200  # bytes of a path that an index holds: a whole one may outgrow its key


def path_head(length: int) -> Func:
    """The first bytes of a path, as an expression."""
    return Func(
        F("raw"), Value(1), Value(length), function="substr", output_field=models.BinaryField()
    )


class Availability(models.TextChoices):
    AVAILABLE = "AVAILABLE"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"


class SectionChangeKind(models.TextChoices):
    ADDED = "ADDED"
    CHANGED = "CHANGED"
    MOVED = "MOVED"
    REMOVED = "REMOVED"
    RENAMED_HEADING = "RENAMED_HEADING"


class Path(OwnedModel):
    """Derived. A distinct path of a project, as the bytes that Git gives."""

    raw = models.BinaryField()
    digest = models.BinaryField(max_length=32)  # SHA-256: a path may outgrow a b-tree key

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "digest"], name="path_digest"),
        ]
        # What lies below a folder.
        indexes = [models.Index(F("scope"), path_head(PATH_HEAD), name="path_head")]

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
        # Which documents say the very same now?
        indexes = [models.Index(fields=["scope", "sha256"], name="segment_text")]

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


class SectionChange(OwnedModel):
    """Derived. What one commit did to one section of a document, apart from its subsections.

    A side that does not exist is null. `sentence_keys` names new sentences that took the place of
    old ones; `replaced_ranges` holds the byte range (start, end) of each old one in its revision.
    """

    commit = owned_link("codememory.GitCommit")
    kind = models.CharField(max_length=16, choices=SectionChangeKind.choices)
    old_revision = owned_link("codememory.SourceRevision", null=True)
    new_revision = owned_link("codememory.SourceRevision", null=True)
    old_heading_path = ArrayField(models.TextField(), null=True)
    new_heading_path = ArrayField(models.TextField(), null=True)
    old_ordinal = models.PositiveIntegerField(null=True)
    new_ordinal = models.PositiveIntegerField(null=True)
    old_start = models.BigIntegerField(null=True)
    old_end = models.BigIntegerField(null=True)
    new_start = models.BigIntegerField(null=True)
    new_end = models.BigIntegerField(null=True)
    old_first_line = models.IntegerField(null=True)
    old_last_line = models.IntegerField(null=True)
    new_first_line = models.IntegerField(null=True)
    new_last_line = models.IntegerField(null=True)
    old_sha256 = models.BinaryField(max_length=32, null=True)
    new_sha256 = models.BinaryField(max_length=32, null=True)
    sentence_keys = ArrayField(models.BigIntegerField(), default=list)
    replaced_ranges = ArrayField(models.IntegerField(), default=list)
    rule_revision = models.PositiveSmallIntegerField(default=1)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            # A revision is a path with a content, so this is the commit, the path and the section.
            models.UniqueConstraint(
                fields=[
                    "scope", "commit", "old_revision", "old_start", "new_revision", "new_start",
                ],
                name="section_change_identity",
                nulls_distinct=False,
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        path = self.new_heading_path if self.new_heading_path is not None else self.old_heading_path
        return f"{self.kind} {' > '.join(path or [])}"


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
