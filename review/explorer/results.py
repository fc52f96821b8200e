"""Results of search and context as pages show them: the agent's own answer, with links.

Nothing is added to what an agent gets but the type of a claim and where it is decided on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from codememory.models import Candidate, EvidenceSegment, Memory, Project
from review.explorer.why import Why, why

SNIPPET_LINES = 14


@dataclass(frozen=True, slots=True)
class SnippetLine:
    """A line of a snippet: `sign` is "+", "-" or empty."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """One result: `found` is the answer as it is given to agents."""

    found: Mapping[str, Any]
    type: str
    modality: str
    layer: str
    candidate: int | None  # the page on which a claim is decided
    document: int | None  # the revision that a section stands in
    lines: list[SnippetLine]
    more_lines: int
    why: Why | None = None

    @property
    def path(self) -> str:
        return self.found["new_path"] or self.found["old_path"] or ""

    @property
    def more_commits(self) -> int:
        return max(0, len(self.found["commits"]) - 1)

    @property
    def number(self) -> int:
        return int(self.found["id"][1:])


def results_of(project: Project, found: Iterable[Mapping[str, Any]]) -> list[Result]:
    """Return the results in their order; three statements however many there are."""
    items = list(found)
    memories = Memory.objects.filter(scope_id=project.scope_id).in_bulk(_ids(items, "memory"))
    claims = Candidate.objects.filter(scope_id=project.scope_id).in_bulk(_ids(items, "candidate"))
    segments = EvidenceSegment.objects.filter(scope_id=project.scope_id)
    revisions = segments.filter(pk__in=_ids(items, "section")).values_list("pk", "revision_id")
    documents = dict(revisions)
    return [_result(item, memories, claims, documents) for item in items]


def explained(
    project: Project, question: str, results: Iterable[Result], name: str
) -> list[Result]:
    """Explain the score of the one result that the address names."""
    return [
        replace(one, why=why(project, question, one.found)) if one.found["id"] == name else one
        for one in results
    ]


def _ids(items: Iterable[Mapping[str, Any]], kind: str) -> list[int]:
    return [int(item["id"][1:]) for item in items if item["kind"] == kind]


def _result(
    item: Mapping[str, Any],
    memories: Mapping[int, Memory],
    claims: Mapping[int, Candidate],
    documents: Mapping[int, int],
) -> Result:
    number = int(item["id"][1:])
    memory = memories.get(number) if item["kind"] == "memory" else None
    claim = claims.get(number) if item["kind"] == "candidate" else None
    said: Memory | Candidate | None = memory or claim
    candidate = memory.candidate_id if memory else claim.pk if claim else None
    is_quoted = item["kind"] in {"change", "section"}
    lines = _lines(item["snippet"], is_change=item["kind"] == "change") if is_quoted else []
    return Result(
        item,
        said.type if said else "",
        said.modality if said else "",
        said.layer if said else "",
        candidate,
        documents.get(number) if item["kind"] == "section" else None,
        lines[:SNIPPET_LINES],
        max(0, len(lines) - SNIPPET_LINES),
    )


def _lines(text: str, *, is_change: bool) -> list[SnippetLine]:
    """Lines of a snippet; each of a change begins with its side's sign."""
    found: Sequence[str] = [line for line in text.split("\n") if line.strip()]
    if not is_change:
        return [SnippetLine("", line) for line in found]
    return [
        SnippetLine(line[0], line[2:]) if line[:2] in {"+ ", "- "} else SnippetLine("", line)
        for line in found
    ]
