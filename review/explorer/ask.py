"""Asks as an agent would: the exact answer of `engineering_context`, laid out for people."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from codememory.context import ContextRequest
from codememory.errors import BadCursorError
from codememory.models import Project
from codememory.paths import raw_path
from codememory.recall import bounded, engineering_context
from review.access import Visit, project_page
from review.explorer.forms import BUDGETS, AskForm
from review.explorer.results import Result, explained, results_of
from review.shell import shell, valid

BYTES_A_TOKEN = 4  # how the answer's budget is estimated


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer with its results made links; `found` is all of it."""

    found: dict[str, Any]
    rules: list[Result]
    changes: list[Result]
    intent: list[Result]
    milliseconds: int

    @property
    def left_out(self) -> dict[str, int]:
        """How many the budget left out, by section."""
        return {left["section"]: left["count"] for left in self.found["omitted"]}

    @property
    def tokens(self) -> int:
        """Its size as the budget counts it."""
        return len(json.dumps(self.found, ensure_ascii=False).encode()) // BYTES_A_TOKEN


@project_page
def ask(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the form, and the answer to what the address asks."""
    asked = valid(AskForm(request.GET)).cleaned_data
    context: dict[str, Any] = {
        **shell(request, visit, "ask"),
        "asked": asked,
        "budgets": BUDGETS,
    }
    if asked["task"].strip():
        answer = _answer(visit.project, asked)
        if asked["format"] == "json":
            return JsonResponse(answer.found, json_dumps_params={"ensure_ascii": False})
        following = answer.found["next"]
        context |= {
            "answer": answer,
            "json": _address(asked, format="json"),
            "here": _address(asked, **({"cursor": asked["cursor"]} if asked["cursor"] else {})),
            "next": _address(asked, cursor=following) if following else None,
        }
    return render(request, "explorer/ask.html", context)


def _answer(project: Project, asked: dict[str, Any]) -> Answer:
    started = time.monotonic()
    try:
        found = engineering_context(
            project,
            asked["task"],
            paths=asked["paths"],
            symbols=asked["symbols"],
            intent=asked["intent"] or None,
            budget=asked["budget"],
            cursor=asked["cursor"] or None,
        )
    except BadCursorError:
        raise BadRequest("a continuation of another question") from None
    took = round((time.monotonic() - started) * 1000)
    rules, changes, intent = (
        explained(project, _question(asked), results_of(project, found[name]), asked["why"])
        for name in ("applicable_rules", "relevant_changes", "documented_intent")
    )
    return Answer(found, rules, changes, intent, took)


def _question(asked: dict[str, Any]) -> str:
    """The words that the answer was ranked by: of the task, the intent, symbols and paths."""
    return ContextRequest(
        task=bounded(asked["task"]),
        paths=tuple(raw_path(path) for path in asked["paths"]),
        symbols=tuple(asked["symbols"]),
        intent=asked["intent"] or None,
    ).text


def _address(asked: dict[str, Any], **more: str) -> str:
    pairs = [("task", asked["task"])]
    pairs += [(name, "\n".join([*asked[name], ""])) for name in ("paths", "symbols") if asked[name]]
    pairs += [("intent", asked["intent"])] if asked["intent"] else []
    pairs += [("budget", str(asked["budget"])), *more.items()]
    return f"?{urlencode(pairs)}"
