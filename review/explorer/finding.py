"""Finds what the knowledge page asks for: by words as agents find it, or the newest without any.

What the search itself does not narrow by (standing, verdict, type, layer) is looked at hit by hit:
so many of the best are looked through for a page, and it says how many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest
from django.db.models import QuerySet

from codememory.checkout import Checkout
from codememory.claim_results import (
    CANDIDATE_STANDING,
    MEMORY_STANDING,
    candidate_result,
    memory_result,
)
from codememory.errors import BadCursorError
from codememory.models import Candidate, CandidateState, EntryKind, Memory, MemoryState, Project
from codememory.recall import search
from review.explorer.results import Result, results_of

RESULTS = 15  # on a page
STEP = 20  # hits that are judged at once, where a page narrows by what only judging tells
MOST_STEPS = 2
STANDINGS = ("reviewed", "provisional", "observed", "superseded", "archived")
VERDICTS = {
    "CURRENT_SUPPORTED": "current",
    "HISTORICAL": "historical",
    "RECHECK_REQUIRED": "recheck",
    "UNKNOWN": "unknown",
}
CLAIMS = (EntryKind.MEMORY.value, EntryKind.CANDIDATE.value)


@dataclass(frozen=True, slots=True)
class Found:
    """A page of results; `looked` hits were judged for it, and `next` goes on behind them."""

    results: list[Result]
    gaps: list[Mapping[str, Any]]
    looked: int
    next: dict[str, str] | None


def is_narrowed(asked: Mapping[str, Any]) -> bool:
    """Whether the page narrows by what the search does not."""
    return any(asked[name] for name in ("standing", "verdict", "type", "layer"))


def passes(result: Result, asked: Mapping[str, Any]) -> bool:
    """Whether a judged result is one of those asked for."""
    own = {
        "standing": result.found["standing"],
        "verdict": result.found["verdict"],
        "type": result.type,
        "layer": result.layer,
    }
    return all(not asked[name] or asked[name] == value for name, value in own.items())


def find_by_words(project: Project, asked: Mapping[str, Any]) -> Found:
    """Ask the very search that agents have, from the address's continuation on."""
    kinds = _kinds(asked)
    if not kinds:
        return Found([], [], 0, None)
    steps, step = (MOST_STEPS, STEP) if is_narrowed(asked) else (1, RESULTS)
    results: list[Result] = []
    looked, cursor = 0, asked["cursor"]
    for _ in range(steps):
        answer = _search(project, asked, kinds, step, cursor)
        judged = results_of(project, answer["results"])
        looked += len(judged)
        results += [result for result in judged if passes(result, asked)]
        cursor = answer["next"]
        if cursor is None or len(results) >= RESULTS:
            break
    following = {"cursor": cursor} if cursor else None
    return Found(results, answer["gaps"], looked, following)


def _search(
    project: Project, asked: Mapping[str, Any], kinds: list[str], limit: int, cursor: str
) -> dict[str, Any]:
    try:
        return search(
            project,
            asked["q"].strip(),
            kinds=kinds,
            path=asked["path"] or None,
            limit=limit,
            cursor=cursor or None,
        )
    except BadCursorError:
        raise BadRequest("a continuation of another question") from None


def _kinds(asked: Mapping[str, Any]) -> list[str]:
    """The kinds that can pass: claims alone have a type and a layer."""
    kinds = [asked["kind"]] if asked["kind"] else list(EntryKind.values)
    if asked["type"] or asked["layer"] or asked["standing"] not in {"", "observed"}:
        kinds = [kind for kind in kinds if kind in CLAIMS]
    elif asked["standing"] == "observed":
        kinds = [kind for kind in kinds if kind not in CLAIMS]
    return kinds


def find_newest(project: Project, asked: Mapping[str, Any]) -> Found:
    """List memories (or candidates, where those are asked for), the newest first, judged now."""
    rows, show = _rows(project, asked)
    if rows is None:
        return Found([], [], 0, None)
    if asked["before"]:
        rows = rows.filter(pk__lt=asked["before"])
    steps, step = (MOST_STEPS, STEP) if asked["verdict"] else (1, RESULTS)
    results: list[Result] = []
    looked, last, more = 0, None, True
    with Checkout(project) as checkout:
        for _ in range(steps):
            page = rows.filter(pk__lt=last) if last else rows
            numbers = list(page.order_by("-pk").values_list("pk", flat=True)[: step + 1])
            more = len(numbers) > step
            judged = [show(checkout, number) for number in numbers[:step]]
            shown = [{**one, "score": None} for one in judged if one is not None]
            results += [one for one in results_of(project, shown) if passes(one, asked)]
            looked += len(numbers[:step])
            last = numbers[:step][-1] if numbers else last
            if not more or len(results) >= RESULTS:
                break
    return Found(results, [], looked, {"before": str(last)} if more else None)


def _rows(project: Project, asked: Mapping[str, Any]) -> tuple[QuerySet[Any] | None, Any]:
    """The claims to list and what shows one; none where changes or documents are asked for."""
    kind, standing = asked["kind"], asked["standing"]
    is_candidate = kind == EntryKind.CANDIDATE or (not kind and standing == "provisional")
    if (kind and kind not in CLAIMS) or standing == "observed":
        return None, None
    same = {name: asked[name] for name in ("type", "layer") if asked[name]}
    if is_candidate:
        states = [s for s, words in CANDIDATE_STANDING.items() if words == standing]
        wanted: list[str] = [*states] if standing else [CandidateState.PENDING]
        rows = Candidate.objects.filter(scope_id=project.scope_id, state__in=wanted, **same)
        return rows, candidate_result
    standings = [s for s, words in MEMORY_STANDING.items() if words == standing]
    chosen: list[str] = [*standings] if standing else [MemoryState.ACTIVE]
    return Memory.objects.filter(scope_id=project.scope_id, state__in=chosen, **same), memory_result
