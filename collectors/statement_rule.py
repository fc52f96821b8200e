"""What a rule for statements is, and the form of text it is searched in.

The tables are in `statement_rules.py` (English) and `statement_rules_tr.py` (Turkish).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Where(StrEnum):
    """Where a rule is believed."""

    ANYWHERE = "ANYWHERE"
    GUIDANCE = "GUIDANCE"  # documents and sections that say how the project is worked on
    RULES = "RULES"  # those of them that hold rules rather than instructions
    DECISION = "DECISION"  # sections that hold a decision
    CONSEQUENCES = "CONSEQUENCES"  # what follows from it, in a decision's record
    INTENDED = "INTENDED"  # documents and sections that plan or propose


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    type: str
    modality: str
    strength: int  # the strongest statements of a document are kept
    where: Where
    needs: tuple[str, ...]  # one of these must occur before the pattern is tried
    pattern: re.Pattern[str]

    def matches(self, folded: str) -> bool:
        if self.name.startswith("tr."):
            folded = without_marks(folded)
        for need in self.needs:  # a loop and no generator: this runs for every sentence
            if need in folded:
                return self.pattern.search(folded) is not None
        return False


_SHOUTED = re.compile(r"\b(SHOULD|SHALL|MUST|RECOMMENDED)\b")
# Turkish is often typed without its letters.
_MARKS = str.maketrans("çğöşüâî", "cgosuai")
_LETTERS = str.maketrans({"\u0131": "i", "\u0307": None, "\u2019": "'"})


def folded(text: str) -> str:
    """What patterns are searched in: lower case, one kind of i, single spaces.

    A modal verb in capitals, as RFC 2119 has it, is kept apart by a "!" behind it.
    """
    lower = _SHOUTED.sub(r"\1!", text).lower()
    return " ".join((lower if lower.isascii() else lower.translate(_LETTERS)).split())


def without_marks(folded: str) -> str:
    return folded if folded.isascii() else folded.translate(_MARKS)


def make_rule(
    name: str, kind: str, strength: int, where: Where, needs: str, *alternatives: str
) -> Rule:
    modality = kind.upper()
    type_ = "decision" if kind in {"plan", "proposal"} else kind
    if name.startswith("tr."):
        needs, alternatives = without_marks(needs), tuple(map(without_marks, alternatives))
    pattern = re.compile("|".join(alternatives))
    return Rule(name, type_, modality, strength, where, tuple(needs.split("|")), pattern)
