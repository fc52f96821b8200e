"""Everything that is known, found by the very search that agents have."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.models import (
    Candidate,
    CandidateState,
    EntryKind,
    Layer,
    Memory,
    MemoryState,
    Project,
    SearchTotal,
    WorktreeDocument,
)
from review.access import Visit, project_page
from review.explorer.finding import (
    STANDINGS,
    VERDICTS,
    Found,
    find_by_words,
    find_newest,
    is_narrowed,
)
from review.explorer.forms import KnowledgeForm
from review.explorer.results import explained
from review.shell import shell, valid

KIND_WORDS = {
    EntryKind.MEMORY.value: "memories",
    EntryKind.CANDIDATE.value: "candidates",
    EntryKind.SECTION.value: "documents",
    EntryKind.CHANGE.value: "changes",
}
KEPT = ("q", "kind", "path", "standing", "verdict", "type", "layer")


@project_page
def knowledge(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Search; without words the newest memories that hold."""
    asked = valid(KnowledgeForm(request.GET)).cleaned_data
    is_search = bool(asked["q"].strip() or asked["path"])
    found = (find_by_words if is_search else find_newest)(visit.project, asked)
    results = explained(visit.project, asked["q"], found.results, asked["why"])
    context: dict[str, Any] = {
        **shell(request, visit, "knowledge"),
        **_places(asked, found),
        "asked": asked,
        "is_search": is_search,
        "is_narrowed": is_narrowed(asked),
        "found": found,
        "results": results,
        "figures": _figures(visit.project, asked),
        "choices": _choices(asked),
    }
    return render(request, "explorer/knowledge.html", context)


def _places(asked: dict[str, Any], found: Found) -> dict[str, Any]:
    """Addresses of the pages around this one, and of this one with one result explained."""
    here = {name: asked[name] for name in ("cursor", "before") if asked[name]}
    return {
        "next": _address(asked, **found.next) if found.next else None,
        "first": _address(asked) if here else None,
        "here": _address(asked, **{name: str(value) for name, value in here.items()}),
        "without_filters": _address(
            {**asked, "standing": "", "verdict": "", "type": "", "layer": ""}
        ),
        "kinds": [
            (words, _address({**asked, "kind": kind}), asked["kind"] == kind)
            for kind, words in [("", "everything"), *KIND_WORDS.items()]
        ],
    }


def _address(asked: dict[str, Any], **more: str) -> str:
    kept = {name: asked[name] for name in KEPT if asked[name]}
    return f"?{urlencode({**kept, **more})}"


def _choices(
    asked: dict[str, Any],
) -> list[tuple[str, str, list[tuple[str, str, bool]], str]]:
    """The filters of the form: name, label, values in words with which is chosen, word for none."""
    standing = "Any" if asked["q"] or asked["path"] else "Any that holds"
    filters = [
        ("standing", "Standing", STANDINGS, standing),
        ("verdict", "Verdict", VERDICTS, "Any"),
        ("type", "Type", KnowledgeForm.TYPES, "Any"),
        ("layer", "Layer", Layer.values, "Any"),
    ]
    return [
        (name, label, [(v, VERDICTS.get(v, v), asked[name] == v) for v in values], none)
        for name, label, values, none in filters
    ]


def _figures(project: Project, asked: dict[str, Any]) -> dict[str, Any]:
    """How much there is of each kind; of the memories that hold by type, with their addresses."""
    same = {"scope_id": project.scope_id}
    memories = Memory.objects.filter(**same, state=MemoryState.ACTIVE)
    by_type = memories.values_list("type").annotate(count=Count("pk")).order_by("-count", "type")
    counts = list(by_type)
    open_ones = Candidate.objects.filter(**same, state=CandidateState.PENDING)
    total = SearchTotal.objects.filter(**same).first()
    return {
        "memories": sum(count for _, count in counts),
        "candidates": open_ones.count(),
        "documents": WorktreeDocument.objects.filter(**same).values("path").distinct().count(),
        "changes": total.changes if total else 0,
        "by_type": [
            (kind, count, f"?{urlencode({'type': kind})}", asked["type"] == kind)
            for kind, count in counts
        ],
    }
