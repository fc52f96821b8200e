"""What a reviewer had in view, and what came of a decision: the values that actions return."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from codememory.models import Candidate, Memory, ReviewDecision


@dataclass(frozen=True, slots=True)
class Shown:
    """What was in view: the candidate's version, the digest of what was shown, and its rivals.

    `rivals` are the numbers of the active memories beside which it was shown; None where the
    decision does not depend on them.
    """

    version: int
    digest: bytes
    rivals: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    decision: ReviewDecision


@dataclass(frozen=True, slots=True)
class Changed:
    """Somebody or something changed the candidate since it was shown. Nothing was written."""


@dataclass(frozen=True, slots=True)
class TargetChanged:
    """What the candidate was to be merged into is not what was shown. Nothing was written."""

    target: Candidate | Memory


@dataclass(frozen=True, slots=True)
class Refused:
    """A rule forbids the decision; `reason` is a sentence for the reviewer. Nothing was written."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """The reviewer has to say once more that they mean it; `reason` is why. Nothing was written."""

    reason: str


Outcome = Decided | Changed | TargetChanged | Refused | Unsure


@dataclass(frozen=True, slots=True)
class BatchDecided:
    """Everything that was confirmed together was decided."""

    batch: uuid.UUID
    decisions: list[ReviewDecision]


@dataclass(frozen=True, slots=True)
class BatchStopped:
    """Nothing was decided: these candidates changed since the preview, or a rule refused them."""

    changed: list[Candidate]
    refused: list[tuple[Candidate, str]]


BatchOutcome = BatchDecided | BatchStopped


@dataclass(frozen=True, slots=True)
class BatchUndone:
    """Decisions of a batch that were taken back, and those that no longer stood as they were."""

    decisions: list[ReviewDecision]
    left: list[tuple[Candidate, str]]
