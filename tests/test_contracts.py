"""What scripts and agents rely on: the JSON shapes of answers and the signatures of the tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import Tool

from api.access import ProcessAccess
from api.server import stdio_server
from codememory import evidence, recall, status
from codememory.models import Project
from tests.api.builders import evidence_ids, write_repository
from tests.collected import collect

REQUIRED = "(required)"
LABEL = {"trust", "has_unseen"}  # of an answer that may carry text from a repository
SIGNATURES: dict[str, dict[str, Any]] = {
    "list_projects": {},
    "attach_project": {"project": REQUIRED},
    "project_status": {"project": None},
    "engineering_context": {
        "task": REQUIRED,
        "project": None,
        "paths": [],
        "symbols": [],
        "intent": None,
        "budget": 4000,
        "cursor": None,
    },
    "search_history": {
        "query": REQUIRED,
        "project": None,
        "kinds": [],
        "path": None,
        "limit": 10,
        "cursor": None,
    },
    "get_history": {"subject": REQUIRED, "project": None, "limit": 20, "cursor": None},
    "get_evidence": {"evidence_id": REQUIRED, "project": None},
    "list_candidates": {
        "project": None,
        "states": [],
        "types": [],
        "modalities": [],
        "path": None,
        "limit": 20,
        "cursor": None,
    },
    "collect_history": {"project": None, "sources": []},
    "get_run": {"run_id": REQUIRED, "project": None},
}
SEARCH = {"results", "gaps", "next"}
RESULT = {
    *("kind", "id", "commit", "commits", "old_path", "new_path", "title", "snippet"),
    *("verdict", "verdict_method", "standing", "evidence_ids", "score"),
}
CONTEXT = {
    *("applicable_rules", "current_code_links", "relevant_changes", "documented_intent"),
    *("conflicts", "verification_gaps", "provenance", "omitted", "coverage", "next"),
}
STATUS = {"project", "worktrees", "sources", "totals", "runs"}
SOURCE = {"state", "head", "reachable", "processed", "gaps"}
TOTALS = {
    *("revisions", "segments", "commits", "file_changes", "logical_changes"),
    *("observations", "candidates", "memories"),
}
RUN = {
    *("id", "project", "source", "state", "phase", "done", "total", "gaps", "head", "error"),
    *("is_cancel_requested", "created_at", "started_at", "ended_at"),
}
RUNS = {"queued", "running", "failed", "poisoned"}
REFERENCE = {
    *("id", "text", "trust", "scope", "worktree", "source_kind", "schema_revision"),
    *("revision_id", "captured_at", "old_path", "new_path", "object_id", "algorithm"),
    *("commit", "parents", "compared_with", "head_at_capture", "branch_label"),
    *("before", "after", "availability", "sha256", "side", "byte_range", "line_range"),
    *("segment_id", "heading_path", "symbol", "index_generation", "extractor_revision"),
    *("parser_coverage", "exclusions", "truncation", "redactions"),
}
# Null says that there is none of it: no label, nothing cut, and no bytes that were not UTF-8.
MAY_BE_NULL = {"branch_label", "truncation", "bytes_base64"}


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    return collect(write_repository(tmp_path / "alpha", "session"))


def test_the_shape_of_search_is_kept(project: Project) -> None:
    found = recall.search(project, "session cache")
    assert set(found) == SEARCH
    assert {row["kind"] for row in found["results"]} >= {"change", "section"}
    assert all(set(row) == RESULT for row in found["results"])


def test_the_shape_of_context_is_kept(project: Project) -> None:
    found = recall.engineering_context(project, "change the session cache")
    assert set(found) == CONTEXT
    assert isinstance(found["coverage"], dict)


def test_the_shape_of_status_is_kept(project: Project) -> None:
    found = status.project_status(project)
    assert set(found) == STATUS
    assert set(found["totals"]) == TOTALS
    assert set(found["runs"]) == RUNS
    assert set(found["sources"]) == {"git", "documents"}
    assert all(set(source) == SOURCE for source in found["sources"].values())


def test_evidence_carries_its_whole_source_reference(project: Project) -> None:
    for evidence_id in evidence_ids(project):
        found = evidence.find_evidence(project, evidence_id)
        assert found is not None
        assert set(found) >= REFERENCE


def test_nothing_of_a_source_reference_is_null_without_a_reason(project: Project) -> None:
    for evidence_id in evidence_ids(project):
        found = evidence.find_evidence(project, evidence_id)
        assert found is not None
        null = {name for name in REFERENCE - MAY_BE_NULL if found[name] is None}
        assert null <= set(found["reasons"])


def tools() -> dict[str, Tool]:
    listed = anyio.run(stdio_server(ProcessAccess(None)).list_tools)
    return {tool.name: tool for tool in listed}


def signature(tool: Tool) -> dict[str, Any]:
    required = tool.input_schema.get("required", [])
    return {
        name: REQUIRED if name in required else about["default"]
        for name, about in tool.input_schema["properties"].items()
    }


def test_the_signatures_of_the_tools_are_kept() -> None:
    assert {name: signature(tool) for name, tool in tools().items()} == SIGNATURES


@pytest.mark.parametrize(
    ("tool", "promised"),
    [
        ("search_history", SEARCH | LABEL | {"note"}),
        ("engineering_context", CONTEXT | LABEL | {"note"}),
        ("project_status", STATUS | LABEL),
        ("get_evidence", LABEL | {"id", "text", "note"}),
        ("list_projects", LABEL | {"projects"}),
        ("attach_project", LABEL | {"project", "root", "attached"}),
        ("list_candidates", LABEL | {"rows", "next", "note"}),
        ("collect_history", {"runs", "is_worked_on", "note"}),
        ("get_run", RUN),
    ],
)
def test_the_answers_of_the_tools_are_kept(tool: str, promised: set[str]) -> None:
    schema = tools()[tool].output_schema
    assert schema is not None
    assert set(schema["properties"]) == promised
