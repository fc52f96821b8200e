"""The REST endpoints: read-only, JSON only, for the bearer of a token and nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.access import TokenAccess, find_project
from api.auth import BearerAuthentication, MayRead, TokenThrottle
from api.errors import AbsentError
from api.fence import TRUST, compact_json, cut_text, fit, lowered
from api.openapi import describe
from api.outputs import ContextAnswer, EvidenceOutput, ProjectList, SearchAnswer, StatusOutput
from api.problems import problem_response
from api.serializers import ContextParameters, Parameters, SearchParameters
from codememory import evidence, recall, status
from codememory.models import Project

NOTE = "CodeMemory-Note"  # says what was made smaller to keep the answer within its limit


class AlwaysJson(BaseContentNegotiation):
    """There is one format, whatever the request would like."""

    def select_parser(self, *_: Any) -> BaseParser | None:
        return None

    def select_renderer(self, *_: Any, **__: Any) -> tuple[BaseRenderer, str]:
        return JSONRenderer(), JSONRenderer.media_type


class AgentView(APIView):
    """What all endpoints share. Each `get` checks its parameters and calls one function."""

    authentication_classes = [BearerAuthentication]
    permission_classes = [MayRead]
    throttle_classes = [TokenThrottle]
    content_negotiation_class = AlwaysJson
    metadata_class = None
    parameters: type[Parameters] = Parameters

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return problem_response

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        answer: Response = super().finalize_response(request, response, *args, **kwargs)
        answer["Cache-Control"] = "no-store"
        return answer

    def access(self) -> TokenAccess:
        return TokenAccess(self.request.auth.pk)

    def project(self, name: str) -> Project:
        return find_project(self.access(), name)

    def asked(self) -> dict[str, Any]:
        given = self.parameters(data=self.request.query_params)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)


class ProjectsView(AgentView):
    @describe("list_projects", ProjectList)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        self.asked()
        attached = self.access().attached()
        rows = [
            {"project": row.slug, "root": row.root, "attached": row.scope_id in attached}
            for row in self.access().projects()
        ]
        return Response({"projects": rows})


class SearchView(AgentView):
    parameters = SearchParameters

    @describe("search", SearchAnswer, SearchParameters)
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

        return _fitted(ask, "limit", asked["limit"])


class ContextView(AgentView):
    parameters = ContextParameters

    @describe("context", ContextAnswer, ContextParameters)
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

        return _fitted(ask, "budget", asked["budget"])


class EvidenceView(AgentView):
    @describe("evidence", EvidenceOutput)
    def get(self, request: Request, project: str, evidence_id: str) -> Response:  # noqa: ARG002
        self.asked()
        found = evidence.find_evidence(self.project(project), evidence_id)
        if found is None:
            raise AbsentError
        whole = {**found, "trust": TRUST}
        size = len(found["text"] or "")
        return Response(fit(lambda most: cut_text(whole, most), size, _bytes)[0])


class StatusView(AgentView):
    @describe("status", StatusOutput)
    def get(self, request: Request, project: str) -> Response:  # noqa: ARG002
        self.asked()
        return Response(status.project_status(self.project(project)))


class NothingView(AgentView):
    """Every other address: the same answer as for an absent project."""

    @extend_schema(exclude=True)
    def get(self, request: Request, rest: str) -> Response:  # noqa: ARG002
        raise AbsentError


def _fitted(ask: Callable[[int], dict[str, Any]], name: str, asked: int) -> Response:
    answer, size = fit(ask, asked, _bytes)
    note = lowered(name, asked, size)
    # Beside the answer, whose shape is fixed.
    return Response(answer, headers=None if note is None else {NOTE: note})


def _bytes(answer: dict[str, Any]) -> int:
    return len(compact_json(answer).encode())
