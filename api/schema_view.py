"""The OpenAPI document: public, because it describes the product and nothing of any project."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import patched_settings

# Answers are described by pydantic, whose schemas are those of OpenAPI 3.1.
OPENAPI = {"OAS_VERSION": "3.1.1"}


@require_safe
def schema(_: HttpRequest) -> JsonResponse:
    """The same document for everybody who asks."""
    return JsonResponse(document(), content_type="application/vnd.oai.openapi+json")


@cache
def document() -> dict[str, Any]:
    """Made once in a process: making it takes a while, and anybody may ask."""
    with patched_settings(OPENAPI):
        generator = SchemaGenerator()  # type: ignore[no-untyped-call]
        made: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made
