"""Whether what people promoted still stands: memories that hold, judged now against the checkout.

A verdict is stored nowhere. This opens the repository, so it is a page of its own: its numbers and
the rows that they lead to are made of one and the same pass.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms

from codememory.checkout import Checkout
from codememory.claim_results import claim_verdict
from codememory.models import EvidenceLink, KnowledgeType, Memory, MemoryState, Project
from codememory.serving import serves_links
from codememory.verdict_of import MovedTexts
from review.coverage.figures import Figure

MOST = 500  # memories that are judged for a page, the newest
ROWS = 50  # of them that a page lists
VERDICTS = {
    "CURRENT_SUPPORTED": "current",
    "HISTORICAL": "historical",
    "RECHECK_REQUIRED": "recheck",
    "UNKNOWN": "unknown",
    "WITHHELD": "withheld",  # by the newest policy: neither judged nor shown
}
RULES = frozenset({"REQUIREMENT", "DECISION", "CONVENTION"})
STALE = frozenset({"HISTORICAL", "RECHECK_REQUIRED"})


class VerdictsForm(forms.Form):
    """What the page of verdicts is narrowed to; `stale` asks for stale rules alone.

    `after` is how many rows the pages before it list.
    """

    type = forms.ChoiceField(choices=KnowledgeType.choices, required=False)
    verdict = forms.ChoiceField(choices=list(VERDICTS.items()), required=False)
    stale = forms.ChoiceField(choices=[("yes", "yes")], required=False)
    after = forms.IntegerField(min_value=0, max_value=MOST, required=False)


@dataclass(frozen=True, slots=True)
class Judged:
    """A memory with its verdict."""

    memory: Memory
    verdict: str
    method: str
    evidence: list[str]

    @property
    def is_stale(self) -> bool:
        """Whether it is a rule whose text is not there as it was."""
        return self.memory.modality in RULES and self.verdict in STALE

    def passes(self, asked: Mapping[str, Any]) -> bool:
        return (
            asked["type"] in {"", self.memory.type}
            and asked["verdict"] in {"", self.verdict}
            and (not asked["stale"] or self.is_stale)
        )


@dataclass(frozen=True, slots=True)
class TypeRow:
    type: str
    figures: list[Figure]

    @property
    def total(self) -> int:
        return sum(int(str(figure.value)) for figure in self.figures)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Counts by type and verdict, a page of the rows asked for, and how many memories hold in all.

    `found` is how many rows were asked for.
    """

    by_type: list[TypeRow]
    totals: list[Figure]
    stale: Figure
    rows: list[Judged]
    found: int
    earlier: str | None  # the page before this one
    later: str | None
    judged: int
    memories: int

    @property
    def most(self) -> int:
        return max((row.total for row in self.by_type), default=0)


def verdicts_of(project: Project, address: str, asked: Mapping[str, Any]) -> Verdicts:
    """Judge the project's memories that hold; `address` is the page that numbers lead to."""
    rows = Memory.objects.filter(scope_id=project.scope_id, state=MemoryState.ACTIVE)
    judged = _judge(project, list(rows.order_by("-pk")[:MOST]))
    joint = "&" if "?" in address else "?"
    counts = Counter((one.memory.type, one.verdict) for one in judged)

    def figure(number: int, **narrow: str) -> Figure:
        return Figure(number, f"{address}{joint}{urlencode(narrow)}")

    by_type = [
        TypeRow(
            kind,
            [figure(counts[kind, verdict], type=kind, verdict=verdict) for verdict in VERDICTS],
        )
        for kind in KnowledgeType.values
    ]
    totals = [
        figure(sum(n for (_, told), n in counts.items() if told == verdict), verdict=verdict)
        for verdict in VERDICTS
    ]
    found = [one for one in judged if one.passes(asked)]
    after = asked["after"] or 0
    kept = {name: asked[name] for name in ("type", "verdict", "stale") if asked[name]}

    def page(begin: int) -> str:
        return f"{address}{joint}{urlencode({**kept, 'after': begin})}#rows"

    return Verdicts(
        [row for row in by_type if row.total],
        totals,
        figure(sum(one.is_stale for one in judged), stale="yes"),
        found[after : after + ROWS],
        len(found),
        page(max(after - ROWS, 0)) if after else None,
        page(after + ROWS) if after + ROWS < len(found) else None,
        len(judged),
        rows.count() if len(judged) == MOST else len(judged),
    )


def _judge(project: Project, memories: Sequence[Memory]) -> list[Judged]:
    links: defaultdict[int, list[EvidenceLink]] = defaultdict(list)
    numbers = [memory.pk for memory in memories]
    found = EvidenceLink.objects.filter(scope_id=project.scope_id, memory_id__in=numbers)
    for link in found.select_related("segment__revision__path").order_by("pk"):
        links[link.memory_id or 0].append(link)
    with Checkout(project) as checkout:
        moved = MovedTexts(checkout, [link.segment for own in links.values() for link in own])
        return [_one(checkout, moved, memory, links[memory.pk]) for memory in memories]


def _one(
    checkout: Checkout, moved: MovedTexts, memory: Memory, links: list[EvidenceLink]
) -> Judged:
    if not serves_links(checkout, links):
        return Judged(memory, "WITHHELD", "POLICY", [])
    told = claim_verdict(checkout, links, moved)
    evidence = [f"S{link.segment_id}" for link in links]
    return Judged(memory, told["verdict"], told["verdict_method"], evidence)
