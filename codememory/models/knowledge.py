"""Observations by rule, and claims: candidates, the decisions on them, and promoted memories."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from codememory.models.access import Actor, ActorKind
from codememory.models.owned import OwnedModel, owned_link


class KnowledgeType(models.TextChoices):
    REQUIREMENT = "requirement"
    DECISION = "decision"
    CONVENTION = "convention"
    PREFERENCE = "preference"
    PATTERN = "pattern"
    ERROR_FIX = "error_fix"
    CODE_PATTERN = "code_pattern"
    CONTEXT = "context"
    COMMAND = "command"
    SUMMARY = "summary"
    CONVERSATION = "conversation"


class Modality(models.TextChoices):
    REQUIREMENT = "REQUIREMENT"
    DECISION = "DECISION"
    CONVENTION = "CONVENTION"
    OBSERVATION = "OBSERVATION"
    PROPOSAL = "PROPOSAL"
    PLAN = "PLAN"
    EXPERIMENT = "EXPERIMENT"
    QUESTION = "QUESTION"


class CandidateState(models.TextChoices):
    PENDING = "PENDING"
    PROMOTED = "PROMOTED"
    REJECTED = "REJECTED"
    DEFERRED = "DEFERRED"
    SUPERSEDED = "SUPERSEDED"


class MemoryState(models.TextChoices):
    ACTIVE = "ACTIVE"
    SUPERSEDED = "SUPERSEDED"
    ARCHIVED = "ARCHIVED"


class Layer(models.TextChoices):
    PERSONAL = "personal"
    WORKSPACE = "workspace"
    TEAM = "team"


class DecisionAction(models.TextChoices):
    PROMOTE = "PROMOTE"
    PROMOTE_AS_PLAN = "PROMOTE_AS_PLAN"
    REJECT = "REJECT"
    DEFER = "DEFER"
    SUPERSEDE = "SUPERSEDE"
    MERGE = "MERGE"
    ENDORSE = "ENDORSE"
    UNDO = "UNDO"


class NarrowKind(models.TextChoices):
    """What a memory is narrowed to; blank: it holds in the whole project."""

    PATH = "PATH"
    SYMBOL = "SYMBOL"


class ObservationKind(models.TextChoices):
    FILE_CHANGED = "FILE_CHANGED"


PROMOTABLE_TYPES = (
    "requirement",
    "decision",
    "convention",
    "preference",
    "pattern",
    "error_fix",
    "code_pattern",
)
PLAN_MODALITIES = ("PROPOSAL", "PLAN")  # kept as such, never as implemented
PROMOTABLE_MODALITIES = ("REQUIREMENT", "DECISION", "CONVENTION", *PLAN_MODALITIES)
PROMOTING_ACTIONS = ("PROMOTE", "PROMOTE_AS_PLAN", "SUPERSEDE")
IS_NARROWED_WELL = Q(narrow_kind="", narrow_to="") | (
    Q(narrow_kind__in=["PATH", "SYMBOL"]) & ~Q(narrow_to="")
)


class Observation(OwnedModel):
    """Derived. Something a rule saw. Its reason is UNKNOWN unless evidence states it."""

    kind = models.CharField(max_length=24, choices=ObservationKind.choices)
    logical_change = owned_link("codememory.LogicalChange", null=True)
    rationale = models.CharField(max_length=16, default="UNKNOWN")
    rule_revision = models.PositiveSmallIntegerField(default=1)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "kind", "logical_change"], name="observation_identity"
            ),
        ]

    def __str__(self) -> str:
        return self.kind


class Candidate(OwnedModel):
    """Derived until decided on. Proposed knowledge, provisional, linked to its evidence.

    `version` grows with every change a reviewer could care about (optimistic lock).
    """

    type = models.CharField(max_length=16, choices=KnowledgeType.choices)
    modality = models.CharField(max_length=16, choices=Modality.choices)
    statement = models.TextField()
    statement_digest = models.BinaryField(max_length=32)  # whitespace-normalised, SHA-256
    subject = models.TextField(default="")
    layer = models.CharField(max_length=10, choices=Layer.choices, default=Layer.WORKSPACE)
    state = models.CharField(
        max_length=10, choices=CandidateState.choices, default=CandidateState.PENDING
    )
    confidence = models.FloatField()
    rule = models.CharField(max_length=60)
    rule_revision = models.PositiveSmallIntegerField(default=1)
    flags = ArrayField(models.CharField(max_length=32), default=list)
    # The older text that its statement took the place of, and the commit in which it did.
    replaces = owned_link("codememory.EvidenceSegment", null=True)
    replaced_in_commit = models.CharField(max_length=64, null=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "layer", "statement_digest"], name="candidate_statement"
            ),
        ]
        # The review queue: pending first, oldest first.
        indexes = [models.Index(fields=["scope", "state", "id"], name="candidate_queue")]

    def __str__(self) -> str:
        return f"C{self.pk}"


class ReviewDecision(OwnedModel):
    """Canonical, append-only (a trigger refuses UPDATE and DELETE). What a person decided.

    `actor_kind` is tied to the actor by a composite key and to PERSON by a check: an agent's
    decision cannot be stored. `shown_digest` is SHA-256 of the statement and evidence shown.
    Decisions that were confirmed together share a `batch`. Of a promotion, `wording` are the words
    it was promoted with (null: the candidate's own), `narrow_kind` and `narrow_to` where it holds,
    `context` on what it depends. ENDORSE is the first of two: it keeps all that, and a second
    person's promotion `confirms` it. A trigger refuses one that does not, where two are needed.
    """

    candidate = owned_link("codememory.Candidate", related_name="decisions")
    action = models.CharField(max_length=16, choices=DecisionAction.choices)
    actor = models.ForeignKey(
        Actor, on_delete=models.PROTECT, db_constraint=False, related_name="decisions"
    )
    actor_kind = models.CharField(max_length=8, choices=ActorKind.choices, default=ActorKind.PERSON)
    reason = models.TextField(default="")
    candidate_version = models.PositiveIntegerField()
    # The state it was decided from: what taking the decision back restores.
    candidate_state = models.CharField(
        max_length=10, choices=CandidateState.choices, default=CandidateState.PENDING
    )
    shown_digest = models.BinaryField(max_length=32)
    undoes = owned_link("codememory.ReviewDecision", null=True)
    supersedes = owned_link("codememory.Memory", null=True)
    wording = models.TextField(null=True)
    narrow_kind = models.CharField(max_length=8, choices=NarrowKind.choices, default="", blank=True)
    narrow_to = models.TextField(default="")
    context = models.TextField(default="")
    endorsed_action = models.CharField(max_length=16, default="")
    confirms = owned_link("codememory.ReviewDecision", null=True)
    merged_into = owned_link("codememory.Candidate", null=True)
    merged_into_memory = owned_link("codememory.Memory", null=True)
    batch = models.UUIDField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.CheckConstraint(
                condition=Q(actor_kind=ActorKind.PERSON), name="decision_by_a_person"
            ),
            models.CheckConstraint(
                condition=~Q(action="REJECT") | ~Q(reason=""), name="decision_reject_has_reason"
            ),
            models.CheckConstraint(
                condition=Q(action="UNDO", undoes__isnull=False)
                | (~Q(action="UNDO") & Q(undoes__isnull=True)),
                name="decision_undo_names_decision",
            ),
            models.CheckConstraint(
                condition=Q(action="SUPERSEDE", supersedes__isnull=False)
                | Q(action="ENDORSE", endorsed_action="SUPERSEDE", supersedes__isnull=False)
                | (
                    ~Q(action="SUPERSEDE")
                    & ~Q(endorsed_action="SUPERSEDE")
                    & Q(supersedes__isnull=True)
                ),
                name="decision_supersede_names_memory",
            ),
            models.CheckConstraint(
                condition=Q(action="ENDORSE", endorsed_action__in=PROMOTING_ACTIONS)
                | (~Q(action="ENDORSE") & Q(endorsed_action="")),
                name="decision_endorse_names_promotion",
            ),
            models.CheckConstraint(
                condition=Q(action__in=[*PROMOTING_ACTIONS, "ENDORSE"])
                | Q(wording__isnull=True, narrow_kind="", context=""),
                name="decision_terms_of_a_promotion",
            ),
            models.CheckConstraint(
                condition=~Q(wording=""), name="decision_wording_says_something"
            ),
            models.CheckConstraint(condition=IS_NARROWED_WELL, name="decision_narrowed_to"),
            models.CheckConstraint(
                condition=Q(confirms__isnull=True) | Q(action__in=PROMOTING_ACTIONS),
                name="decision_confirms_by_promoting",
            ),
            models.CheckConstraint(
                condition=Q(
                    action="MERGE", merged_into__isnull=False, merged_into_memory__isnull=True
                )
                | Q(action="MERGE", merged_into__isnull=True, merged_into_memory__isnull=False)
                | (
                    ~Q(action="MERGE")
                    & Q(merged_into__isnull=True, merged_into_memory__isnull=True)
                ),
                name="decision_merge_names_target",
            ),
            models.CheckConstraint(
                condition=~Q(merged_into=F("candidate")), name="decision_merge_into_another"
            ),
            models.UniqueConstraint(
                fields=["scope", "id", "action"], name="decision_scope_id_action"
            ),
            # A decision is taken back once.
            models.UniqueConstraint(fields=["scope", "undoes"], name="decision_undone_once"),
        ]
        indexes = [
            # A candidate's history.
            models.Index(fields=["scope", "candidate"], name="decision_candidate"),
            # What was confirmed together, to take it back together.
            models.Index(
                fields=["scope", "batch"], name="decision_batch", condition=Q(batch__isnull=False)
            ),
            # What superseded a memory.
            models.Index(
                fields=["scope", "supersedes"],
                name="decision_supersedes",
                condition=Q(supersedes__isnull=False),
            ),
            # What was merged into a candidate or a memory.
            models.Index(
                fields=["scope", "merged_into", "merged_into_memory"],
                name="decision_merged",
                condition=Q(action="MERGE"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.pk}"


class Memory(OwnedModel):
    """Canonical. Promoted knowledge: cannot exist without the decision that promoted it.

    Its words and where it holds are those of its decision, and stay them (a trigger compares).
    `statement` differs from the candidate's where it was promoted with edited wording.
    """

    candidate = owned_link("codememory.Candidate", related_name="memories")
    decision = owned_link("codememory.ReviewDecision")
    # With the composite key to (scope, id, action) this makes the decision a promotion.
    decision_action = models.CharField(max_length=16, default=DecisionAction.PROMOTE)
    ended_by = owned_link("codememory.ReviewDecision", null=True)
    type = models.CharField(max_length=16, choices=KnowledgeType.choices)
    modality = models.CharField(max_length=16, choices=Modality.choices)
    statement = models.TextField()
    subject = models.TextField(default="")
    layer = models.CharField(max_length=10, choices=Layer.choices, default=Layer.WORKSPACE)
    state = models.CharField(max_length=10, choices=MemoryState.choices, default=MemoryState.ACTIVE)
    confidence = models.FloatField()
    narrow_kind = models.CharField(max_length=8, choices=NarrowKind.choices, default="", blank=True)
    narrow_to = models.TextField(default="")  # a path as it is shown, or a symbol's name
    context = models.TextField(default="")  # on what it depends; blank: on nothing
    created_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.CheckConstraint(condition=IS_NARROWED_WELL, name="memory_narrowed_to"),
            models.CheckConstraint(
                condition=Q(decision_action__in=PROMOTING_ACTIONS), name="memory_from_a_promotion"
            ),
            models.CheckConstraint(
                condition=Q(decision_action="SUPERSEDE")
                | Q(decision_action="PROMOTE_AS_PLAN", modality__in=PLAN_MODALITIES)
                | (Q(decision_action="PROMOTE") & ~Q(modality__in=PLAN_MODALITIES)),
                name="memory_plan_stays_a_plan",
            ),
            models.CheckConstraint(
                condition=Q(state="ACTIVE", ended_by__isnull=True)
                | (~Q(state="ACTIVE") & Q(ended_by__isnull=False)),
                name="memory_ended_by_a_decision",
            ),
            models.CheckConstraint(
                condition=Q(modality__in=PROMOTABLE_MODALITIES), name="memory_modality_promotable"
            ),
            models.CheckConstraint(
                condition=Q(type__in=PROMOTABLE_TYPES), name="memory_type_promotable"
            ),
            models.UniqueConstraint(fields=["scope", "decision"], name="memory_decision"),
            models.UniqueConstraint(
                fields=["scope", "candidate"],
                name="memory_active_once",
                condition=Q(state="ACTIVE"),
            ),
        ]
        indexes = [
            # What a candidate became, whatever came of it.
            models.Index(fields=["scope", "candidate"], name="memory_candidate"),
            # Rules that apply now.
            models.Index(fields=["scope", "state"], name="memory_state"),
            # Which of them speak of a candidate's subject (asked for each row of the queue)?
            models.Index(
                fields=["scope", "subject"], name="memory_subject", condition=Q(state="ACTIVE")
            ),
        ]

    def __str__(self) -> str:
        return f"M{self.pk}"


class EvidenceLink(OwnedModel):
    """Canonical. A claim's citation of a segment; exactly one of candidate and memory is set.

    A candidate's says too what the rules make of the sentence in this very place: the same words
    may stand as a plan elsewhere. Blank where no rule was asked. `joined_by` is the merge that
    brought another candidate's evidence here.
    """

    candidate = owned_link("codememory.Candidate", null=True, related_name="evidence_links")
    memory = owned_link("codememory.Memory", null=True, related_name="evidence_links")
    segment = owned_link("codememory.EvidenceSegment", related_name="evidence_links")
    # Byte range of the very sentence inside the revision.
    byte_start = models.BigIntegerField()
    byte_end = models.BigIntegerField()
    type = models.CharField(max_length=16, default="")
    modality = models.CharField(max_length=16, default="")
    rule = models.CharField(max_length=60, default="")
    flags = ArrayField(models.CharField(max_length=32), default=list)
    joined_by = owned_link("codememory.ReviewDecision", null=True)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.CheckConstraint(
                condition=Q(candidate__isnull=False, memory__isnull=True)
                | Q(candidate__isnull=True, memory__isnull=False),
                name="evidence_link_one_claim",
            ),
            models.UniqueConstraint(
                fields=["scope", "candidate", "memory", "segment", "byte_start"],
                name="evidence_link_identity",
                nulls_distinct=False,
            ),
        ]
        indexes = [
            models.Index(fields=["scope", "memory"], name="evidence_link_memory"),
            models.Index(fields=["scope", "segment"], name="evidence_link_segment"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate_id or self.memory_id} cites S{self.segment_id}"
