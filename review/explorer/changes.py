"""The page of one logical change: what it did, shown by which commits, and what became of it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.checkout import Checkout
from review.access import Visit, project_page
from review.explorer.change_pages import ChangePage, change_page
from review.explorer.forms import VIEWS, ChangeForm
from review.shell import shell, valid


@project_page
def change(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Show a change; one of another project is absent."""
    asked = valid(ChangeForm(request.GET)).cleaned_data
    with Checkout(visit.project) as checkout:
        page = change_page(checkout, number, asked["file"], asked["after"] or 0)
    if page is None:
        raise Http404
    view = asked["view"] or VIEWS[0][0]
    context: dict[str, Any] = {
        **shell(request, visit, "history"),
        "page": page,
        "view": view,
        "views": VIEWS,
        "start": _start(page, asked["file"], asked["after"] or 0),
    }
    return render(request, "explorer/change.html", context)


def _start(page: ChangePage, file: int | None, after: int) -> str:
    """The part of the address that keeps the place while the view changes."""
    known = file is not None and any(row.pk == file for row in page.rows)
    return f"&file=F{file}&after={after}" if known else ""
