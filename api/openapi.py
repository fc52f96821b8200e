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
BODY_PROBLEMS = (413, 415)


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Tells drf-spectacular what our authentication class takes."""

    target_class = "api.auth.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer", "description": "From `codememory token create`"}


def describe(
    name: str,
    what: str,
    answer: type[BaseModel],
    parameters: type[Parameters] | None = None,
    *,
    body: dict[str, Any] | None = None,
    status: int = 200,
    conflict: bool = False,
) -> Callable[[Endpoint], Endpoint]:
    """Describe an endpoint: operation id, sentence, answer, parameters, body, and its problems."""
    problems = [*PROBLEMS, *(BODY_PROBLEMS if body else ()), *((409,) if conflict else ())]
    responses: dict[int | tuple[int, str], Any] = {
        (number, CONTENT_TYPE): OpenApiResponse(ProblemOutput, TITLES[number])
        for number in problems
    }
    return extend_schema(
        operation_id=name,
        description=what,
        parameters=[parameters] if parameters else [],
        request={"application/json": body} if body else None,
        responses={status: OpenApiResponse(answer, what), **responses},
    )
