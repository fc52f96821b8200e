"""Where every address starts; the console and the agents' interface are reached by name only."""

from __future__ import annotations

from django.urls import include, path

from codememory.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", include("review.admin_urls")),
    path("api/v1/", include("api.urls")),
    path("api/schema/", include("api.schema_urls")),
    path("", include("review.urls")),
]
