"""Addresses of this application, included by codememory.urls."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = []
