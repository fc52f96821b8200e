"""The page of one candidate: its evidence, what stands beside it, and the bar or form to decide."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.models import Candidate, EntryKind, FileChange, NarrowKind, Project
from codememory.paths import shown_path
from codememory.search.query import search
from review import queries
from review.access import Visit, project_page
from review.claims import claims_of
from review.queue import neighbours
from review.shell import filters_in, find_candidate, shell
from review.similar import similar_to
from review.terms import MAX_WORDING

# The forms that open in place of the bar, and the name of each one's address.
FORMS = {"wording": "edit", "narrow": "narrow", "context": "context", "merge": "merge"}
MOST_PLACES = 12


@project_page
def candidate(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    return candidate_page(request, visit, find_candidate(visit, number))


def candidate_page(
    request: HttpRequest,
    visit: Visit,
    found: Candidate,
    *,
    refusal: str | None = None,
    part: str = "",
    into: str = "",
    status: int = 200,
) -> HttpResponse:
    """Show a candidate, with what refused a decision on it; `part` is the form in the bar's place.

    `into` is what the merging form shows beside the similar ones.
    """
    filters = filters_in(request)
    previous, following = neighbours(visit.project, filters, found)
    sheet = queries.sheet_of(visit.project, found)
    similar = similar_to(visit.project, found, into)
    beside = {shown.rival.memory.pk for shown in sheet.rivals}
    is_open = sheet.is_open and visit.may_decide
    if part and request.method != "POST" and _is_claimed_by_another(visit, found):
        part = ""  # the bar says who decides; what was typed and refused stays in its form
    context = {
        **shell(request, visit, "queue", filters),
        "candidate": found,
        "sheet": sheet,
        "filters": filters,
        "history": queries.history_of(visit.project, found),
        "similar": similar,
        "targets": [one for one in similar if not one.obstacle],
        "alike": [one for one in similar if one.name not in {f"M{pk}" for pk in beside}],
        "previous": previous,
        "following": following,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
        "is_unified": bool(request.session.get("unified")),
        "part": part if is_open and (part == "merge" or not sheet.obstacle) else "",
        "into": into,
        "back": "page",
    }
    if context["part"] in {"wording", "narrow", "context"}:
        context |= _terms_form(request, visit.project, found, sheet)
    last = context["last"]
    if last and not last.is_batch and last.candidate.pk == found.pk and last.can_undo:
        context["last"] = None  # the decision bar of that very page says it
    return render(request, "review/candidate.html", context, status=status)


def _is_claimed_by_another(visit: Visit, found: Candidate) -> bool:
    claim = claims_of(visit.project, visit.user.pk, [found.pk]).get(found.pk)
    return claim is not None and not claim.is_mine


def _terms_form(
    request: HttpRequest, project: Project, found: Candidate, sheet: queries.Sheet
) -> dict[str, Any]:
    """What the form of terms shows: what was typed, else what is endorsed, else the original."""
    typed = request.POST if request.method == "POST" else {}
    endorsed = sheet.endorsed
    kept = {
        "wording": endorsed.wording if endorsed and endorsed.wording else found.statement,
        "narrow_kind": endorsed.narrow_kind if endorsed else "",
        "narrow_to": endorsed.narrow_to if endorsed else "",
        "context": endorsed.context if endorsed else "",
    }
    return {
        "typed": {name: typed.get(name, value) for name, value in kept.items()},
        "narrow_kinds": NarrowKind.choices,
        "places": _places(project, found),
        "max_wording": MAX_WORDING,
    }


def _places(project: Project, found: Candidate) -> list[str]:
    """Paths that the claim may be about: where changes with its words are, and their folders."""
    page = search(
        [project.scope_id], found.statement, [EntryKind.CHANGE.value], None, MOST_PLACES, None
    )
    changes = FileChange.objects.filter(
        scope_id=project.scope_id, logical_change_id__in=[hit.target_id for hit in page.hits]
    )
    raw = changes.values_list("new_path__raw", flat=True).exclude(new_path=None).distinct()
    paths = sorted({shown_path(bytes(path)) or "" for path in raw[: MOST_PLACES * 4]})
    folders = {path.rpartition("/")[0] for path in paths} - {""}
    return [*paths[:MOST_PLACES], *sorted(folders)[:MOST_PLACES]]
