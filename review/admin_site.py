"""The site behind /admin/: its first page is the coverage dashboard, everything else shows rows.

Only what review.admin names is reachable here: nothing of the queue's own tables ever is.
"""

# ruff: noqa: ARG002 -- Django names the arguments

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from codememory.people import actor_of
from review.access import signed_in
from review.refusals import note_refusal


class CoverageSite(AdminSite):
    """Django's admin without its own sign-in: accounts are signed in by the console alone."""

    site_title = site_header = "CodeMemory"
    enable_nav_sidebar = False
    empty_value_display = "none"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), "place": "coverage"}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the coverage of every project."""
        from review.coverage import views  # noqa: PLC0415 -- it links to this site's pages

        return views.dashboard(request)

    def app_index(
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """There is one list of tables: the dashboard's."""
        return redirect("admin:database")

    @method_decorator(never_cache)
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Send strangers to the console's sign-in; refuse those who are signed in and no staff."""
        address = request.GET.get("next") or "/admin/"
        if not request.user.is_authenticated:
            return redirect_to_login(address, settings.LOGIN_URL)
        if self.has_permission(request):
            return redirect("admin:index")
        user = signed_in(request)
        note_refusal(request, actor_of(user), None, "not staff")
        return render(request, "coverage/refused.html", status=403)

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("review:account")

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        return redirect("review:account")


coverage_site = CoverageSite(name="admin")
