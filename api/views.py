"""The REST endpoints that answer questions: projects, search, context, evidence, status."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.answers import project_detail, project_list
from api.endpoint import AgentView, respond_fitted, wire_bytes
from api.errors import AbsentError
from api.fence import cut_text, fit, labelled, lowered_budget, lowered_limit
from api.openapi import describe
from api.outputs import (
    ContextOutput,
    EvidenceOutput,
    HistoryOutput,
    ProjectDetail,
    ProjectList,
    SearchOutput,
    StatusOutput,
)
from api.serializers import ContextParameters, HistoryParameters, SearchParameters
from codememory import evidence, recall, status
from codememory.context import over_budget
from codememory.timeline import history_of


class ProjectsView(AgentView):
    @describe("list_projects", "The projects that the token may read.", ProjectList)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        self.asked()
        return Response(project_list(self.access()))


class ProjectView(AgentView):
    @describe("get_project", "One project: where it is, what may be read of it.", ProjectDetail)
    def get(self, request: Request, project: str) -> Response:  # noqa: ARG002
        self.asked()
        return Response(project_detail(self.access(), self.project(project)))


class SearchView(AgentView):
    parameters = SearchParameters

    @describe(
        "search",
        "Search all changes, documents, candidates and memories.",
        SearchOutput,
        SearchParameters,
    )
    def get(self, request: Request, project: str) -> Response:  # noqa: ARG002
        asked, chosen = self.asked(), self.project(project)

        def ask(limit: int) -> dict[str, Any]:
            return recall.search(
                chosen,
                asked["q"],
                kinds=asked["kind"],
                path=asked["path"],
                limit=limit,
                cursor=asked["cursor"],
            )

        return respond_fitted(ask, asked["limit"], lowered_limit)


class ContextView(AgentView):
    parameters = ContextParameters

    @describe(
        "context",
        "What a team knows that matters for a task.",
        ContextOutput,
        ContextParameters,
    )
    def get(self, request: Request, project: str) -> Response:  # noqa: ARG002
        asked, chosen = self.asked(), self.project(project)

        def ask(budget: int) -> dict[str, Any]:
            return recall.engineering_context(
                chosen,
                asked["task"],
                paths=asked["path"],
                symbols=asked["symbol"],
                intent=asked["intent"],
                budget=budget,
                cursor=asked["cursor"],
            )

        return respond_fitted(
            ask, asked["budget"], lowered_budget, lambda found: over_budget(found, asked["budget"])
        )


class HistoryView(AgentView):
    parameters = HistoryParameters

    @describe(
        "get_history",
        "What happened to a file or a symbol, the newest first.",
        HistoryOutput,
        HistoryParameters,
    )
    def get(self, request: Request, project: str) -> Response:  # noqa: ARG002
        asked, chosen = self.asked(), self.project(project)

        def ask(limit: int) -> dict[str, Any]:
            return history_of(chosen, asked["subject"], limit=limit, cursor=asked["cursor"])

        return respond_fitted(ask, asked["limit"], lowered_limit)


class EvidenceView(AgentView):
    @describe("get_evidence", "The exact text and its whole source reference.", EvidenceOutput)
    def get(self, request: Request, project: str, evidence_id: str) -> Response:  # noqa: ARG002
        self.asked()
        found = evidence.find_evidence(self.project(project), evidence_id)
        if found is None:
            raise AbsentError
        size = len(found["text"] or "")
        return Response(fit(lambda most: labelled(cut_text(found, most)), size, wire_bytes)[0])


class StatusView(AgentView):
    @describe("get_status", "How much of the project has been read.", StatusOutput)
    def get(self, request: Request, project: str) -> Response:  # noqa: ARG002
        self.asked()
        return Response(labelled(status.project_status(self.project(project))))


class NothingView(AgentView):
    """Every other address: the same answer as for an absent project."""

    @extend_schema(exclude=True)
    def get(self, request: Request, rest: str) -> Response:  # noqa: ARG002
        raise AbsentError
