"""Where every address starts; the console and the agents' interface are reached by name only."""

from __future__ import annotations

from django.urls import include, path

from codememory.health import healthz

# Reached by name as well: below /api/ every error is of the agents' kind.
handler400 = "api.problems.bad_request"
handler404 = "api.problems.page_not_found"
handler500 = "api.problems.server_error"
urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", include("review.admin_urls")),
    path("api/v1/", include("api.urls")),
    path("api/schema/", include("api.schema_urls")),
    path("", include("review.urls")),
]
