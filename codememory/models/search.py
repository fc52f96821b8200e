"""The index: one entry per retrievable thing, holding terms and their impacts, never text."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from codememory.models.owned import OwnedModel, owned_link

PENDING_KB = 4096  # a search reads the list from end to end: some milliseconds


class EntryKind(models.TextChoices):
    CHANGE = "change"
    SECTION = "section"
    CANDIDATE = "candidate"
    MEMORY = "memory"


class SearchTerm(models.Model):
    """Derived. A term of a project, with how many entries hold it (changes and texts apart).

    `id` is what SearchEntry.terms holds.
    """

    id = models.AutoField(primary_key=True)
    scope = models.ForeignKey(
        "codememory.Scope", on_delete=models.DO_NOTHING, related_name="+", db_index=False
    )
    term = models.TextField(db_collation="C")  # bounded by the analyser
    df_change = models.IntegerField(default=0)
    df_text = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "term"], name="search_term"),
        ]

    def __str__(self) -> str:
        return self.term


class SearchTotal(models.Model):
    """Derived. How many entries a project has: the N of inverse document frequency."""

    scope = models.OneToOneField(
        "codememory.Scope", on_delete=models.DO_NOTHING, primary_key=True, related_name="+"
    )
    changes = models.IntegerField(default=0)
    texts = models.IntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.changes} changes, {self.texts} texts"


class SearchEntry(OwnedModel):
    """Derived. Terms of one logical change, segment, candidate or memory: `terms` sorted by term
    id, `impacts` aligned with it (quantised, see codememory.search.ranking).

    `shape` (of changes: the counts of codememory.search.shape) and `neighbours` (the filter of
    codememory.search.neighbours) are read of the best hits only; null in entries of revision 1.
    """

    kind = models.CharField(max_length=9, choices=EntryKind.choices)
    logical_change = owned_link("codememory.LogicalChange", null=True)
    segment = owned_link("codememory.EvidenceSegment", null=True)
    candidate = owned_link("codememory.Candidate", null=True)
    memory = owned_link("codememory.Memory", null=True)
    type = models.CharField(max_length=16, null=True)
    layer = models.CharField(max_length=10, null=True)
    confidence = models.FloatField(null=True)
    shape = ArrayField(models.SmallIntegerField(), null=True)
    neighbours = models.BinaryField(null=True)
    terms = ArrayField(models.IntegerField())
    impacts = ArrayField(models.SmallIntegerField())
    analyser_revision = models.PositiveSmallIntegerField(default=1)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "kind", "logical_change", "segment", "candidate", "memory"],
                name="search_entry_target",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(kind="change", logical_change__isnull=False)
                | Q(kind="section", segment__isnull=False)
                | Q(kind="candidate", candidate__isnull=False)
                | Q(kind="memory", memory__isnull=False),
                name="search_entry_kind",
            ),
        ]
        # Which entries hold any of these terms: the candidates of every search.
        # New ones wait in its list until there are enough to be worked in together: a third of the
        # time. Whoever writes many works the list in at the end (see codememory.search.entries).
        indexes = [
            GinIndex(
                fields=["terms"],
                name="search_entry_terms",
                fastupdate=True,
                gin_pending_list_limit=PENDING_KB,
            ),
            # The same of texts alone: there are far more changes, which half of the questions of a
            # context would fetch only to leave them out.
            GinIndex(
                fields=["terms"],
                name="search_entry_text_terms",
                condition=~Q(kind="change"),
                fastupdate=True,
                gin_pending_list_limit=PENDING_KB,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
