"""What all REST endpoints share: JSON only, for the bearer of a token and nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.access import TokenAccess, find_project
from api.auth import BearerAuthentication, HasScope
from api.bodies import StrictJsonParser
from api.fence import compact_json, fit, joined, labelled
from api.problems import problem_response
from api.serializers import Parameters
from api.throttle import TokenThrottle
from codememory.models import Project, TokenScope


class AlwaysJson(DefaultContentNegotiation):
    """There is one format, whatever the request would like."""

    def select_renderer(self, *_: Any, **__: Any) -> tuple[BaseRenderer, str]:
        return JSONRenderer(), JSONRenderer.media_type


class AgentView(APIView):
    """Each endpoint checks its parameters and calls one function."""

    authentication_classes = [BearerAuthentication]
    permission_classes = [HasScope]
    throttle_classes = [TokenThrottle]
    content_negotiation_class = AlwaysJson
    parser_classes = [StrictJsonParser]
    metadata_class = None
    http_method_names = ["get", "head", "post"]  # no OPTIONS: the schema tells what there is
    scope = TokenScope.READ
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
        """The checked query parameters."""
        given = self.parameters.of_query(self.request.query_params)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)


def respond_fitted(
    ask: Callable[[int], dict[str, Any]],
    asked: int,
    note: Callable[[int, int], str | None],
    more: Callable[[dict[str, Any]], str | None] | None = None,
) -> Response:
    """Answer with what `ask` returns for a size that keeps it within the limit, and say so."""

    def noted(size: int) -> dict[str, Any]:
        found = ask(size)
        said = joined(note(asked, size), more(found) if more else None)
        return labelled({**found, "note": said})

    return Response(fit(noted, asked, wire_bytes)[0])


def wire_bytes(answer: dict[str, Any]) -> int:
    return len(compact_json(answer).encode())
