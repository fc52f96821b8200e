"""The timeline of a file, of a symbol, or of the whole project."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.checkout import Checkout
from review.access import Visit, project_page
from review.explorer.forms import HistoryForm
from review.explorer.origins import count_arrivals
from review.explorer.subject_pages import subject_page
from review.explorer.timelines import newest_changes
from review.shell import shell, valid

EVENTS = 25  # on a page
CHANGES = 20


@project_page
def history(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show what happened to a subject; without one the newest changes of the project."""
    asked = valid(HistoryForm(request.GET)).cleaned_data
    subject = asked["subject"].strip()
    after = asked["after"] or None
    checkout = Checkout(visit.project)  # its policy alone is asked: nothing of Git is read
    context: dict[str, Any] = {
        **shell(request, visit, "history"),
        "subject": subject,
        "after": after,
        "doubtful": count_arrivals(visit.project)["open"],
    }
    if subject:
        context["page"] = of_subject = subject_page(checkout, subject, limit=EVENTS, cursor=after)
        older = of_subject.found["next"]
    else:
        before = int(after.partition(".")[0]) if after else None
        context["page"] = newest = newest_changes(checkout, limit=CHANGES, before=before)
        older = newest.next
    named = {"subject": subject} if subject else {}
    context |= {
        "older": f"?{urlencode({**named, 'after': older})}" if older else None,
        "newest": f"?{urlencode(named)}" if after else None,
    }
    return render(request, f"explorer/{'history' if subject else 'timeline'}.html", context)
