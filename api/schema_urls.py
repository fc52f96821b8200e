"""The address of the OpenAPI document, included by codememory.urls as /api/schema/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from api.schema_view import schema

urlpatterns: list[URLPattern | URLResolver] = [path("", schema, name="schema")]
