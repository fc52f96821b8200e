"""Who owns rows: scopes, the projects and worktrees registered in them, and collection policy."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class ScopeKind(models.TextChoices):
    PROJECT = "PROJECT"
    PERSON = "PERSON"
    TEAM = "TEAM"


class SourceKind(models.TextChoices):
    """The sources a project's owner can opt in to; more arrive with their collectors."""

    GIT = "git"
    DOCUMENTS = "documents"


class Scope(models.Model):
    """Canonical. The owner of rows; every owned row leads its keys with it."""

    kind = models.CharField(max_length=8, choices=ScopeKind.choices)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Project(models.Model):
    """Canonical. One registered canonical root; owns one PROJECT scope."""

    scope = models.OneToOneField(Scope, on_delete=models.PROTECT, related_name="project")
    slug = models.SlugField(max_length=80, unique=True)
    root = models.TextField()  # canonical absolute path, surrogate-escaped as os.fsdecode gives it
    root_digest = models.BinaryField(max_length=32, unique=True)
    # Fairness between projects: the one served longest ago goes first.
    served_at = models.DateTimeField(null=True)
    # Whether a memory takes two people: one endorses, another promotes. A lead switches it.
    second_reviewer = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    # The worktree that a question is asked from, not stored; None: that of the root.
    asked_from: Worktree | None = None

    def __str__(self) -> str:
        return self.slug


class Worktree(models.Model):
    """Canonical. A checkout inside a project: owner of refs, working bytes and "now"."""

    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="worktrees")
    root = models.TextField()
    root_digest = models.BinaryField(max_length=32)
    git_dir = models.TextField(null=True)  # null: not a Git repository (documents only)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "id"], name="worktree_scope_id"),
            models.UniqueConstraint(fields=["scope", "root_digest"], name="worktree_root"),
        ]

    def __str__(self) -> str:
        return self.root


class Policy(models.Model):
    """Canonical, append-only. What a project's owner allowed to be read; a change is a new row.

    A run keeps the generation it started with. A source in neither `sources` nor `archived` is
    disabled: not read further, while what is stored of it stays served. Null limits: none.
    """

    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="policies")
    generation = models.PositiveIntegerField()
    sources = ArrayField(models.CharField(max_length=16, choices=SourceKind.choices))
    archived = ArrayField(models.CharField(max_length=16, choices=SourceKind.choices), default=list)
    include = ArrayField(models.TextField(), default=list)
    exclude = ArrayField(models.TextField(), default=list)
    untracked = models.BooleanField(default=False)
    max_blob_bytes = models.PositiveIntegerField(default=2 * 1024 * 1024)
    max_patch_bytes = models.PositiveIntegerField(default=256 * 1024)
    max_document_bytes = models.PositiveIntegerField(default=2 * 1024 * 1024)
    excerpt_bytes = models.PositiveIntegerField(default=48 * 1024)
    disk_bytes = models.BigIntegerField(null=True)
    transcript_days = models.PositiveIntegerField(null=True)
    audit_days = models.PositiveIntegerField(null=True)
    # Whether evidence may be sent to a model provider: nothing sends any, so it is refused.
    provider = models.BooleanField(default=False)
    actor = models.ForeignKey(
        "codememory.Actor", on_delete=models.PROTECT, null=True, related_name="+"
    )  # null: by registering, or from the command line
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "generation"], name="policy_generation"),
            models.CheckConstraint(
                condition=~models.Q(sources__overlap=models.F("archived")),
                name="policy_source_state",
            ),
            models.CheckConstraint(condition=models.Q(provider=False), name="policy_no_provider"),
        ]

    def __str__(self) -> str:
        return f"generation {self.generation}"
