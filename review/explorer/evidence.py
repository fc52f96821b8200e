"""The page of one evidence id: the exact text and its whole source reference, as agents get it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.checkout import Checkout
from codememory.evidence import find_evidence, first_view, parse_id
from codememory.models import EvidenceSegment
from review.access import Visit, project_page
from review.excerpts import ExcerptLine, highlighted
from review.explorer.change_code import ShownVerdict
from review.glyphs import count_hidden
from review.references import facts_of
from review.shell import shell

LINES = 400


@project_page
def evidence(request: HttpRequest, visit: Visit, name: str) -> HttpResponse:
    """Show it; a malformed id, an absent one and a foreign one are all absent."""
    found = find_evidence(visit.project, name)
    if found is None:
        raise Http404
    text = found["text"]
    lines = text.split("\n") if text else []
    lines = lines[:-1] if lines and not lines[-1] else lines
    first = (found["line_range"] or [1])[0]
    change, document = _belongs_to(visit, name)
    path = (
        (found["old_path"] if found["side"] == "BEFORE" else None)
        or found["new_path"]
        or found["old_path"]
        or ""
    )
    shown = [ExcerptLine(number, line, "", "") for number, line in enumerate(lines[:LINES], first)]
    context: dict[str, Any] = {
        **shell(request, visit, "history" if change else "knowledge"),
        "found": found,
        "path": path,
        "lines": highlighted(path, shown),
        "more_lines": max(0, len(lines) - LINES),
        "hidden": count_hidden(text or ""),
        "facts": facts_of(found),
        "verdict": ShownVerdict(found["verdict"], found["verdict_method"]),
        "steps": found["verdict_steps"],
        "change": change,
        "document": document,
    }
    return render(request, "explorer/evidence.html", context)


def _belongs_to(visit: Visit, name: str) -> tuple[int | None, int | None]:
    """The logical change or the document revision that it is a part of."""
    parsed = parse_id(name)
    if parsed is None:
        return None, None
    if parsed.hunk is None:
        rows = EvidenceSegment.objects.filter(scope_id=visit.project.scope_id, pk=parsed.number)
        return None, rows.values_list("revision_id", flat=True).first()
    view = first_view(Checkout(visit.project), parsed.number)
    return (view.logical_change_id if view else None), None
