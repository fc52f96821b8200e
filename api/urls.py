"""Addresses of the REST interface, included by codememory.urls below /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from api import row_views, run_views, views

PROJECT = "projects/<str:project>"

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("projects", views.ProjectsView.as_view(), name="projects"),
    path(PROJECT, views.ProjectView.as_view(), name="project"),
    path(f"{PROJECT}/search", views.SearchView.as_view(), name="search"),
    path(f"{PROJECT}/context", views.ContextView.as_view(), name="context"),
    path(f"{PROJECT}/history", views.HistoryView.as_view(), name="history"),
    path(f"{PROJECT}/status", views.StatusView.as_view(), name="status"),
    path(f"{PROJECT}/evidence/<str:evidence_id>", views.EvidenceView.as_view(), name="evidence"),
    path(f"{PROJECT}/changes", row_views.ChangesView.as_view(), name="changes"),
    path(f"{PROJECT}/changes/<str:item_id>", row_views.ChangeView.as_view(), name="change"),
    path(f"{PROJECT}/documents", row_views.DocumentsView.as_view(), name="documents"),
    path(f"{PROJECT}/documents/<str:item_id>", row_views.DocumentView.as_view(), name="document"),
    path(f"{PROJECT}/candidates", row_views.CandidatesView.as_view(), name="candidates"),
    path(
        f"{PROJECT}/candidates/<str:item_id>", row_views.CandidateView.as_view(), name="candidate"
    ),
    path(f"{PROJECT}/memories", row_views.MemoriesView.as_view(), name="memories"),
    path(f"{PROJECT}/memories/<str:item_id>", row_views.MemoryView.as_view(), name="memory"),
    path(f"{PROJECT}/gaps", row_views.GapsView.as_view(), name="gaps"),
    path(f"{PROJECT}/runs", run_views.RunsView.as_view(), name="runs"),
    path(f"{PROJECT}/runs/<str:run_id>", run_views.RunView.as_view(), name="run"),
    path(
        f"{PROJECT}/runs/<str:run_id>/cancel", run_views.RunCancelView.as_view(), name="run-cancel"
    ),
    path("<path:rest>", views.NothingView.as_view(), name="nothing"),
]
