"""What the review queue keeps beside candidates: how they are found, claims, saved filters."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from codememory.models.access import Actor
from codememory.models.owned import OwnedModel, owned_link


class CandidateTraits(OwnedModel):
    """Derived. What the queue groups and filters a candidate by, one narrow row for each.

    Triggers on the evidence links write it, so that a candidate has it from whichever source it
    comes. `sources` and `paths` are those of all its evidence.

    `similar_key` is the same for near-duplicates: 64 bits over the statement's distinct words,
    lower case, stemmed, sorted, with numbers masked and articles left out. Statements that say the
    same in another order, number, inflection or punctuation share it; negations do not. Equality
    of a key is one look into an index whatever the project's size, and, unlike likeness by
    trigrams or MinHash, it is transitive: a group has the same members from whichever one looks.
    Statements that differ in one plain word are therefore no near-duplicates.
    """

    candidate = owned_link("codememory.Candidate", related_name="traits")
    similar_key = models.BigIntegerField(null=True)  # null: it has no words
    sources = ArrayField(models.CharField(max_length=16), default=list)
    paths = ArrayField(models.BigIntegerField(), default=list)  # ids of Path

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "candidate"], name="traits_candidate"),
        ]
        indexes = [
            # Who else says the same?
            models.Index(
                fields=["scope", "similar_key", "candidate"],
                name="traits_similar",
                condition=Q(similar_key__isnull=False),
            ),
            # How many are said in this document?
            GinIndex(fields=["paths"], name="traits_paths"),
        ]

    def __str__(self) -> str:
        return f"traits of C{self.candidate_id}"


class CandidateClaim(OwnedModel):
    """Canonical. A reviewer's word that they are at a candidate; it means something for a while.

    `review.claims` says for how long. A decision on the candidate takes it away (a trigger).
    """

    candidate = owned_link("codememory.Candidate", related_name="claims")
    actor = models.ForeignKey(Actor, on_delete=models.CASCADE, related_name="claims")
    claimed_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "candidate"], name="claim_candidate"),
        ]

    def __str__(self) -> str:
        return f"C{self.candidate_id} claimed by {self.actor_id}"


class SavedFilter(OwnedModel):
    """Canonical. A person's name for an address of a project's queue."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_filters"
    )
    name = models.CharField(max_length=60)
    query = models.TextField()  # as in the address, without "?"; empty for the open candidates

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "user", "name"], name="saved_filter_name"),
        ]

    def __str__(self) -> str:
        return self.name
