"""The shapes of answers, from which the tools' output schemas are made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Output(BaseModel):
    """An answer may gain fields; the ones named here are promised."""

    model_config = ConfigDict(extra="allow")


class ProjectEntry(Output):
    project: str = Field(description="The name that every tool takes as `project`.")
    root: str
    attached: bool


class ProjectList(Output):
    projects: list[ProjectEntry]


class Attachment(Output):
    project: str
    root: str
    attached: list[str] = Field(description="All projects attached now.")


class StatusOutput(Output):
    project: str
    worktrees: list[Any]
    sources: dict[str, Any] = Field(description="Per source: state, counts and gaps by reason.")
    totals: dict[str, int]
    runs: dict[str, int]


class SearchResult(Output):
    kind: Literal["change", "section", "candidate", "memory"]
    id: str
    commit: str | None
    commits: list[str]
    old_path: str | None
    new_path: str | None
    title: str | None
    snippet: str | None
    verdict: str | None
    verdict_method: str | None
    standing: str | None
    evidence_ids: list[str] = Field(description="Open each with get_evidence.")
    score: float


class SearchAnswer(Output):
    results: list[SearchResult]
    gaps: list[Any] = Field(description="What was not read, so that it cannot be found.")
    next: str | None = Field(description="Pass as `cursor` for more; null at the end.")


class SearchOutput(SearchAnswer):
    note: str | None = None
    trust: Literal["untrusted_data"] = "untrusted_data"


class ContextAnswer(Output):
    applicable_rules: list[Any] = Field(description="Promoted by a person: follow these.")
    current_code_links: list[Any]
    relevant_changes: list[Any]
    documented_intent: list[Any] = Field(description="Said in documents, reviewed by nobody.")
    conflicts: list[Any]
    verification_gaps: list[Any] = Field(description="What nobody has checked: do not assume it.")
    provenance: list[Any]
    omitted: list[Any]
    coverage: dict[str, Any]
    next: str | None


class ContextOutput(ContextAnswer):
    note: str | None = None
    trust: Literal["untrusted_data"] = "untrusted_data"


class EvidenceOutput(Output):
    """The full source reference and the recorded text."""

    id: str
    text: str | None
    note: str | None = None
    trust: Literal["untrusted_data"] = "untrusted_data"


class ProblemOutput(Output):
    """RFC 9457: `code` is one of a fixed list, `detail` one sentence."""

    type: str
    title: str
    status: int
    code: str
    detail: str
