"""Addresses of the coverage dashboard and of the rows behind its numbers, below /admin/."""

from __future__ import annotations

from django.urls import path

from review import admin  # noqa: F401 -- it registers the site's tables, before their addresses
from review.admin_site import coverage_site
from review.coverage import views

app_name = "admin"
urlpatterns = [
    path("database/", coverage_site.admin_view(views.database), name="database"),
    path("verdicts/", coverage_site.admin_view(views.verdicts), name="verdicts"),
    path("runs/<int:number>/retry", coverage_site.admin_view(views.retry), name="retry_run"),
    path("runs/<int:number>/cancel", coverage_site.admin_view(views.cancel), name="cancel_run"),
    *coverage_site.get_urls(),
]
