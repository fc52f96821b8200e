"""Facts that are read out of content: symbols and their changes, reversals, doubtful origins."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from codememory.models.access import Actor
from codememory.models.owned import OwnedModel, owned_link
from collectors.symbol_values import Coverage, SymbolChangeKind, SymbolKind

LEAF_CHARACTERS = 200  # of a symbol's last name that are compared when it is asked for


class ReversalLevel(models.TextChoices):
    FILE = "FILE"
    HUNK = "HUNK"
    SYMBOL = "SYMBOL"


class OriginKind(models.TextChoices):
    RENAME = "RENAME"
    COPY = "COPY"


class OriginState(models.TextChoices):
    """CERTAIN: there is one possible source; OPEN: there are several, and nobody chose yet."""

    CERTAIN = "CERTAIN"
    OPEN = "OPEN"
    ACCEPTED = "ACCEPTED"
    REFUSED = "REFUSED"


class SymbolName(OwnedModel):
    """Derived. A distinct qualified name of a project; `leaf` is its last part, cut to length."""

    qualified = models.TextField()
    leaf = models.CharField(max_length=LEAF_CHARACTERS)
    digest = models.BinaryField(max_length=32)  # SHA-256: a name may outgrow a b-tree key

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "digest"], name="symbol_name_digest"),
        ]
        # Which names end in the one that is asked for: `history refund`.
        indexes = [models.Index(fields=["scope", "leaf"], name="symbol_name_leaf")]

    def __str__(self) -> str:
        return self.qualified


class CodeFacts(OwnedModel):
    """Derived. What was read of a content change: in which language, and how much of it.

    `difference` says whether code, comments or only formatting differ. `hunk_keys` holds one number
    a hunk (see codememory.hunk_keys), 0 for a trivial one: the reverse of a hunk is found by the
    key of its two digests swapped.
    """

    content_change = owned_link("codememory.ContentChange")
    language = models.CharField(max_length=20, null=True)
    coverage = models.CharField(max_length=12, choices=[(c.value, c.value) for c in Coverage])
    reason = models.CharField(max_length=24, null=True)  # a gap's, where coverage is not FULL
    difference = models.CharField(max_length=16, default="UNKNOWN")
    hunk_keys = ArrayField(models.BigIntegerField(), default=list)
    policy_generation = models.PositiveIntegerField()
    extractor_revision = models.PositiveSmallIntegerField()

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "content_change"], name="code_facts_content"),
        ]
        # Which earlier changes hold the reverse of these hunks.
        indexes = [GinIndex(fields=["hunk_keys"], name="code_facts_hunk_keys")]

    def __str__(self) -> str:
        return f"{self.language} {self.coverage}"


class SymbolChange(OwnedModel):
    """Derived. What a content change did to one symbol; a side that does not exist is null.

    Lines are 1-based and inclusive. `old_body` and `new_body` are 64 bits of the digest of its
    signature and its own code, without comments and white space. `hunk_numbers` (from 1) are the
    hunks that touch it innermost. `confidence` is percent.
    """

    content_change = owned_link("codememory.ContentChange", related_name="symbol_changes")
    position = models.IntegerField()
    kind = models.CharField(
        max_length=16, choices=[(kind.value, kind.value) for kind in SymbolChangeKind]
    )
    symbol_kind = models.CharField(
        max_length=12, choices=[(kind.value, kind.value) for kind in SymbolKind]
    )
    name = owned_link("codememory.SymbolName")
    old_name = owned_link("codememory.SymbolName", null=True)  # where it was called otherwise
    confidence = models.PositiveSmallIntegerField()
    old_first_line = models.IntegerField(null=True)
    old_last_line = models.IntegerField(null=True)
    new_first_line = models.IntegerField(null=True)
    new_last_line = models.IntegerField(null=True)
    old_body = models.BigIntegerField(null=True)
    new_body = models.BigIntegerField(null=True)
    hunk_numbers = ArrayField(models.IntegerField(), default=list)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "content_change", "position"], name="symbol_change_position"
            ),
        ]
        indexes = [
            # The history of a symbol.
            models.Index(fields=["scope", "name"], name="symbol_change_name"),
            # What a symbol was called before.
            models.Index(
                fields=["scope", "old_name"],
                name="symbol_change_old_name",
                condition=Q(old_name__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name_id}"


class SymbolMove(OwnedModel):
    """Derived. A symbol that a commit removed in one file and added in another, body unchanged.

    `confidence` is percent; below 100 there was more than one it could have been.
    """

    commit = owned_link("codememory.GitCommit")
    removed = owned_link("codememory.SymbolChange")
    added = owned_link("codememory.SymbolChange")
    confidence = models.PositiveSmallIntegerField()

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "removed", "added", "commit"], name="symbol_move_pair"
            ),
        ]
        # Where an added symbol came from.
        indexes = [models.Index(fields=["scope", "added"], name="symbol_move_added")]

    def __str__(self) -> str:
        return f"{self.removed_id} -> {self.added_id}"


class Reversal(OwnedModel):
    """Derived. A later file change that restores what stood before an earlier one, by content.

    At level FILE the whole of the earlier one is undone, at HUNK the named hunks, at SYMBOL the
    named symbol. `share` is how much of the earlier commit's own lines the later commit undoes, in
    percent; `is_whole`: every file that the earlier commit changed is undone by the later commit.
    """

    later = owned_link("codememory.FileChange")
    earlier = owned_link("codememory.FileChange")
    level = models.CharField(max_length=6, choices=ReversalLevel.choices)
    later_hunks = ArrayField(models.IntegerField(), default=list)
    earlier_hunks = ArrayField(models.IntegerField(), default=list)
    symbol = owned_link("codememory.SymbolName", null=True)
    share = models.PositiveSmallIntegerField()
    is_whole = models.BooleanField()

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "later", "earlier", "level", "symbol"],
                name="reversal_pair",
                nulls_distinct=False,
            ),
        ]
        # What undid a change.
        indexes = [models.Index(fields=["scope", "earlier"], name="reversal_earlier")]

    def __str__(self) -> str:
        return f"F{self.later_id} undoes F{self.earlier_id}"


class PathOrigin(OwnedModel):
    """Derived until decided on. Where a file that a commit shows as new may have come from.

    One with several equally good sources stays OPEN until a person settles it; nothing follows an
    OPEN or REFUSED one. `score` is percent of similarity; `is_listed`: Git's own listing says so.
    """

    file_change = owned_link("codememory.FileChange")
    source = owned_link("codememory.Path")
    kind = models.CharField(max_length=6, choices=OriginKind.choices)
    score = models.PositiveSmallIntegerField()
    is_listed = models.BooleanField(default=False)
    state = models.CharField(max_length=8, choices=OriginState.choices)
    settled_by = models.ForeignKey(Actor, on_delete=models.PROTECT, null=True, related_name="+")
    settled_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["scope", "file_change", "source"], name="path_origin_source"
            ),
        ]
        # The queue of those that nobody settled.
        indexes = [
            models.Index(
                fields=["scope", "id"], name="path_origin_open", condition=Q(state="OPEN")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} F{self.file_change_id}"


class FactsPhase(models.TextChoices):
    SYMBOLS = "symbols"
    REVERSALS = "reversals"


class FactsProgress(OwnedModel):
    """Derived. How far a phase of reading facts has come; runs continue where it stands.

    `after_id` is the row (a content change for symbols, a file change for reversals) up to which
    all is done, by this revision of the rules and this policy.
    """

    phase = models.CharField(max_length=12, choices=FactsPhase.choices)
    revision = models.PositiveIntegerField()
    policy_generation = models.PositiveIntegerField()
    after_id = models.BigIntegerField(default=0)

    class Meta(OwnedModel.Meta):
        constraints = [
            *OwnedModel.Meta.constraints,
            models.UniqueConstraint(fields=["scope", "phase"], name="facts_progress_phase"),
        ]

    def __str__(self) -> str:
        return f"{self.phase} {self.after_id}"
