"""Addresses of the REST interface, included by codememory.urls below /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from api import views

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("projects", views.ProjectsView.as_view(), name="projects"),
    path("projects/<str:project>/search", views.SearchView.as_view(), name="search"),
    path("projects/<str:project>/context", views.ContextView.as_view(), name="context"),
    path("projects/<str:project>/status", views.StatusView.as_view(), name="status"),
    path(
        "projects/<str:project>/evidence/<str:evidence_id>",
        views.EvidenceView.as_view(),
        name="evidence",
    ),
    path("<path:rest>", views.NothingView.as_view(), name="nothing"),
]
