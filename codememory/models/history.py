"""Facts of Git history: commits, what each changed against each parent, and as which content."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from codememory.models.owned import OwnedModel, owned_link
from collectors.values import ContentClass, Hunk, PathClass

HUNK_NUMBERS = 8  # integers a hunk takes in ContentChange.hunk_ranges
DIGEST_BYTES = 32


class GitCommit(OwnedModel):
    """Derived. A commit reachable from a captured HEAD; row ids follow a topological order.

    Names and message are attributed metadata, bounded and redacted; they never decide anything.
    Times are seconds since the epoch, offsets minutes east of UTC.
    """

    oid = models.CharField(max_length=64)
    algorithm = models.CharField(max_length=6, default="sha1")
    tree_oid = models.CharField(max_length=64)
    parent_oids = ArrayField(models.CharField(max_length=64), default=list)
    author_name = models.BinaryField()
    author_email = models.BinaryField()
    author_time = models.BigIntegerField()
    author_offset = models.SmallIntegerField()
    committer_time = models.BigIntegerField()
    message = models.BinaryField()
    is_message_truncated = models.BooleanField(default=False)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "oid"], name="commit_oid"),
        ]

    def __str__(self) -> str:
        return self.oid[:12]


class RefSnapshot(OwnedModel):
    """Derived. A worktree's HEAD as a finished run found it, and what it could not reach.

    `unreachable` lists the project's commit rows that this HEAD does not reach (rarely any), as of
    `stored_commits` rows. It speaks for one shallow boundary and one policy only.
    """

    worktree = owned_link("codememory.Worktree", related_name="snapshots")
    head_oid = models.CharField(max_length=64)
    branch_label = models.TextField(null=True)
    reachable = models.PositiveIntegerField()
    unreachable = ArrayField(models.BigIntegerField(), default=list)
    is_shallow = models.BooleanField(default=False)
    boundary_digest = models.BinaryField(max_length=32, default=b"")  # SHA-256 of its commits
    policy_generation = models.PositiveIntegerField(default=1)
    stored_commits = models.PositiveIntegerField(default=0)
    captured_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "worktree", "head_oid"], name="snapshot_head"),
        ]

    def __str__(self) -> str:
        return self.head_oid[:12]


class ContentChange(OwnedModel):
    """Derived. What turned one blob into another: analysed once, however many commits show it.

    `hunk_ranges` holds eight integers a hunk (old line, old lines, new line, new lines, old bytes
    start and end, new bytes start and end); `hunk_digests` two SHA-256 a hunk, old then new side.
    """

    old_oid = models.CharField(max_length=64, null=True)
    new_oid = models.CharField(max_length=64, null=True)
    content_class = models.CharField(
        max_length=20, choices=[(c.value, c.value) for c in ContentClass]
    )
    old_size = models.BigIntegerField(null=True)
    new_size = models.BigIntegerField(null=True)
    added_lines = models.IntegerField(default=0)
    removed_lines = models.IntegerField(default=0)
    hunk_ranges = ArrayField(models.IntegerField(), default=list)
    hunk_digests = models.BinaryField(default=b"")
    hunks_cut = models.IntegerField(default=0)
    policy_generation = models.PositiveIntegerField()
    extractor_revision = models.PositiveSmallIntegerField(default=1)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "old_oid", "new_oid"],
                name="content_change_pair",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{(self.old_oid or '-')[:8]}..{(self.new_oid or '-')[:8]}"

    def hunks(self) -> list[Hunk]:
        """Return the hunks in file order; hunk n of an evidence id is element n - 1."""
        return stored_hunks(self.hunk_ranges, bytes(self.hunk_digests))


def stored_hunks(numbers: Sequence[int], digests: bytes) -> list[Hunk]:
    """The hunks of a content change out of its two columns."""
    found = []
    for index in range(len(numbers) // HUNK_NUMBERS):
        at = index * 2 * DIGEST_BYTES
        old_line, old_lines, new_line, new_lines, old_start, old_end, new_start, new_end = numbers[
            index * HUNK_NUMBERS : (index + 1) * HUNK_NUMBERS
        ]
        found.append(
            Hunk(
                old_line=old_line,
                old_lines=old_lines,
                new_line=new_line,
                new_lines=new_lines,
                old_start=old_start,
                old_end=old_end,
                new_start=new_start,
                new_end=new_end,
                old_sha256=digests[at : at + DIGEST_BYTES],
                new_sha256=digests[at + DIGEST_BYTES : at + 2 * DIGEST_BYTES],
            )
        )
    return found


class LogicalChange(OwnedModel):
    """Derived. What one commit did against its parent, as content; every commit that shows the
    same content is a view of it (see FileChange.logical_change).

    `identity` is SHA-256 over the sorted rows (kind, modes, paths, patch): line numbers and context
    do not count, so a cherry-pick is a view of what it was picked from. Counts are of the whole.
    """

    identity = models.BinaryField(max_length=32)
    files = models.IntegerField()
    added_lines = models.IntegerField()
    removed_lines = models.IntegerField()

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "identity"], name="logical_change_identity"),
        ]

    def __str__(self) -> str:
        return f"L{self.pk}"


class FileChange(OwnedModel):
    """Derived. One row of Git's raw difference of a commit against one parent.

    `parent_index` counts GitCommit.parent_oids from 0; -1 is a root against the empty tree.
    `content_change` is null where the path's class forbids reading (EXCLUDED, PROTECTED): then the
    blob ids stand in `unread_old_oid` and `unread_new_oid`, and no byte of them is read.
    `logical_change` is null where the row only shows content a parent already had.
    """

    commit = owned_link("codememory.GitCommit", related_name="file_changes")
    parent_index = models.SmallIntegerField()
    kind = models.CharField(max_length=1)
    old_mode = models.IntegerField()
    new_mode = models.IntegerField()
    old_path = owned_link("codememory.Path", null=True)
    new_path = owned_link("codememory.Path", null=True)
    similarity = models.SmallIntegerField(null=True)
    path_class = models.CharField(max_length=10, choices=[(c.value, c.value) for c in PathClass])
    content_change = owned_link("codememory.ContentChange", null=True, related_name="file_changes")
    # The hunks (from 1) that belong to the logical change; null: all. A merge owns only some.
    hunk_numbers = ArrayField(models.IntegerField(), null=True)
    unread_old_oid = models.CharField(max_length=64, null=True)
    unread_new_oid = models.CharField(max_length=64, null=True)
    logical_change = owned_link("codememory.LogicalChange", null=True, related_name="file_changes")

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "commit", "parent_index", "old_path", "new_path"],
                name="file_change_row",
                nulls_distinct=False,
            ),
        ]
        indexes = [
            # The history of a path: recall and `list changes --path`.
            models.Index(fields=["scope", "new_path"], name="file_change_new_path"),
            models.Index(
                fields=["scope", "old_path"],
                name="file_change_old_path",
                condition=models.Q(old_path__isnull=False),
            ),
            # Which commits show a logical change, which files belong to it.
            models.Index(fields=["scope", "logical_change"], name="file_change_logical"),
            # Where the hunks of a content change were seen: evidence by id.
            models.Index(fields=["scope", "content_change"], name="file_change_content"),
        ]

    def __str__(self) -> str:
        return f"F{self.pk}"
