"""Everything that is known, found by the very search that agents have."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.checkout import Checkout
from codememory.claim_results import memory_result
from codememory.errors import BadCursorError
from codememory.models import (
    Candidate,
    CandidateState,
    EntryKind,
    Memory,
    MemoryState,
    Project,
    SearchTotal,
    WorktreeDocument,
)
from codememory.recall import search
from review.access import Visit, project_page
from review.explorer.forms import KnowledgeForm
from review.explorer.results import results_of
from review.shell import shell, valid

RESULTS = 15  # on a page
KIND_WORDS = {
    EntryKind.MEMORY.value: "memories",
    EntryKind.CANDIDATE.value: "candidates",
    EntryKind.SECTION.value: "documents",
    EntryKind.CHANGE.value: "changes",
}


@project_page
def knowledge(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Search; without words the newest memories that hold."""
    asked = valid(KnowledgeForm(request.GET)).cleaned_data
    question, kind = asked["q"].strip(), asked["kind"]
    context: dict[str, Any] = {
        **shell(request, visit, "knowledge"),
        "asked": asked,
        "kinds": _kinds(asked),
        "figures": _figures(visit.project),
    }
    if question or asked["path"]:
        found = _search(visit.project, question, kind, asked["path"], asked["cursor"])
        context |= {
            "is_search": True,
            "results": results_of(visit.project, found["results"]),
            "gaps": found["gaps"],
            "next": _address(asked, cursor=found["next"]) if found["next"] else None,
            "first": _address(asked) if asked["cursor"] else None,
        }
    else:
        context["results"] = results_of(visit.project, _newest(visit.project))
    return render(request, "explorer/knowledge.html", context)


def _search(project: Project, question: str, kind: str, path: str, cursor: str) -> dict[str, Any]:
    try:
        return search(
            project,
            question,
            kinds=[kind] if kind else (),
            path=path or None,
            limit=RESULTS,
            cursor=cursor or None,
        )
    except BadCursorError:
        raise BadRequest("a continuation of another question") from None


def _address(asked: dict[str, Any], **more: str) -> str:
    kept = {name: asked[name] for name in ("q", "kind", "path") if asked[name]}
    return f"?{urlencode({**kept, **more})}"


def _kinds(asked: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """The filter's links: kind, words, address, whether it is the current one."""
    whole = {**asked, "kind": ""}
    rest = [
        (kind, words, _address({**asked, "kind": kind}), asked["kind"] == kind)
        for kind, words in KIND_WORDS.items()
    ]
    return [("", "everything", _address(whole), not asked["kind"]), *rest]


def _figures(project: Project) -> dict[str, Any]:
    """How much there is of each kind."""
    same = {"scope_id": project.scope_id}
    memories = Memory.objects.filter(**same, state=MemoryState.ACTIVE)
    open_ones = Candidate.objects.filter(**same, state=CandidateState.PENDING)
    total = SearchTotal.objects.filter(**same).first()
    by_type = memories.values_list("type").annotate(count=Count("pk")).order_by("-count", "type")
    return {
        "memories": memories.count(),
        "candidates": open_ones.count(),
        "documents": WorktreeDocument.objects.filter(**same).values("path").distinct().count(),
        "changes": total.changes if total else 0,
        "by_type": list(by_type),
    }


def _newest(project: Project) -> list[dict[str, Any]]:
    """The newest memories that hold, judged now like any result."""
    rows = Memory.objects.filter(scope_id=project.scope_id, state=MemoryState.ACTIVE)
    with Checkout(project) as checkout:
        found = [
            memory_result(checkout, pk)
            for pk in rows.order_by("-pk").values_list("pk", flat=True)[:RESULTS]
        ]
    return [{**one, "score": None} for one in found if one is not None]
