"""How the REST endpoints describe themselves in the OpenAPI document at /api/schema/."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse, extend_schema
from pydantic import BaseModel

from api.outputs import ProblemOutput
from api.problems import CONTENT_TYPE, TITLES
from api.serializers import Parameters

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
PROBLEMS = (400, 401, 403, 404, 429, 500, 503)


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Tells drf-spectacular what our authentication class takes."""

    target_class = "api.auth.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer", "description": "From `codememory token create`"}


def describe(
    name: str,
    answer: type[BaseModel],
    parameters: type[Parameters] | None = None,
) -> Callable[[Endpoint], Endpoint]:
    """Describe an endpoint: its operation id, its answer, its parameters, and its problems."""
    responses: dict[int | tuple[int, str], Any] = {
        (status, CONTENT_TYPE): OpenApiResponse(ProblemOutput, TITLES[status])
        for status in PROBLEMS
    }
    return extend_schema(
        operation_id=name,
        parameters=[parameters] if parameters else [],
        responses={200: answer, **responses},
    )
