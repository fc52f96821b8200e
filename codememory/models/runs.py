"""Runs: bounded collections whose row is the truth, and the gaps they leave."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from codememory.models.access import Actor
from codememory.models.owned import OwnedModel, owned_link
from codememory.models.scopes import SourceKind
from collectors.values import GapReason


class RunState(models.TextChoices):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    POISONED = "POISONED"
    CANCELLED = "CANCELLED"


LIVE_STATES = (RunState.QUEUED, RunState.RUNNING)


class Run(OwnedModel):
    """Canonical. One collection of one source of one worktree, worked off in slices.

    HEAD and policy generation are captured when it starts and kept. Leases use the database's
    clock only; `fence` grows with every claim, and rows are written only under the current one.
    """

    worktree = owned_link("codememory.Worktree")
    source = models.CharField(max_length=16, choices=SourceKind.choices)
    state = models.CharField(max_length=9, choices=RunState.choices, default=RunState.QUEUED)
    policy_generation = models.PositiveIntegerField()
    head_oid = models.CharField(max_length=64, null=True)
    branch_label = models.TextField(null=True)
    cursor = models.JSONField(default=dict)
    phase = models.CharField(max_length=24, default="queued")
    done = models.IntegerField(default=0)  # commits or documents worked off
    total = models.IntegerField(null=True)  # null: not counted yet
    metrics = models.JSONField(default=dict)  # bytes, rows, cache hits, skipped, seconds a phase
    fence = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=80, null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # failed tries since the last progress
    lost_leases = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    is_cancel_requested = models.BooleanField(default=False)
    # Asked for after it had begun.
    is_wanted_again = models.BooleanField(default=False, db_default=False)
    error_class = models.CharField(max_length=60, null=True)
    error_text = models.TextField(null=True)  # our own words: ids and numbers, never content
    requested_by = models.ForeignKey(Actor, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            # One live run a source of a worktree: a second request joins it.
            models.UniqueConstraint(
                fields=["scope", "worktree", "source"],
                condition=Q(state__in=["QUEUED", "RUNNING"]),
                name="run_one_live",
            ),
            models.CheckConstraint(
                condition=Q(state="RUNNING", lease_owner__isnull=False, lease_until__isnull=False)
                | ~Q(state="RUNNING") & Q(lease_owner__isnull=True, lease_until__isnull=True),
                name="run_lease",
            ),
        ]
        # Claiming and sweeping look at live runs only. Every page says whether a run ended badly
        # that no later one made up for.
        indexes = [
            models.Index(
                fields=["scope"],
                condition=Q(state__in=["FAILED", "POISONED"]),
                name="run_ended_badly",
            ),
            models.Index(fields=["scope", "worktree", "source", "-id"], name="run_newest"),
            models.Index(
                fields=["state", "lease_until"],
                condition=Q(state__in=["QUEUED", "RUNNING"]),
                name="run_live",
            ),
        ]

    def __str__(self) -> str:
        return f"R{self.pk}"


class GapRecord(OwnedModel):
    """Derived. Something that exists and was not read, with its reason from the closed list."""

    run = owned_link("codememory.Run")
    source = models.CharField(max_length=16, choices=SourceKind.choices)
    reason = models.CharField(max_length=24, choices=[(r.value, r.value) for r in GapReason])
    path = owned_link("codememory.Path", null=True)
    object_oid = models.CharField(max_length=64, null=True)
    commit_oid = models.CharField(max_length=64, null=True)
    detail = models.CharField(max_length=200, default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            # The same gap found again is the same row.
            models.UniqueConstraint(
                fields=["scope", "source", "reason", "path", "object_oid", "commit_oid"],
                name="gap_identity",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return self.reason
