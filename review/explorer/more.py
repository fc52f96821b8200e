"""The places of a project that a narrow screen has no room for in its bar."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from review.access import Visit, project_page
from review.shell import shell


@project_page
def more(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List them."""
    return render(request, "explorer/more.html", shell(request, visit, "more"))
