"""The one bounded query behind the command line, REST and MCP: rank, judge, cite, bound."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from codememory.change_results import change_results
from codememory.checkout import Checkout
from codememory.claim_results import text_results
from codememory.context import ContextRequest, build_context, newest_changes, request_digest
from codememory.errors import BadCursorError
from codememory.explaining import explain_hit
from codememory.models import EntryKind, Project
from codememory.paths import raw_path
from codememory.question import Question, ask
from codememory.search.query import Hit
from codememory.search.query import search as find
from codememory.verification import coverage_gaps

MAX_LIMIT = 50
MAX_QUESTION = 4_000  # characters; what is beyond is not read
# What a search result holds; `engineering_context` says more of the same things.
RESULT_KEYS = (
    "kind", "id", "commit", "commits", "old_path", "new_path", "title", "snippet", "verdict",
    "verdict_method", "standing", "evidence_ids", "score",
)  # fmt: skip
MOST_PAGES = 20  # of hits that are looked through for one page of results
MIN_BUDGET, MAX_BUDGET = 200, 50_000
MAX_OFFSET = 10_000


def search(
    project: Project,
    question: str,
    *,
    kinds: Sequence[str] = (),
    path: str | None = None,
    limit: int = 10,
    cursor: str | None = None,
    explain: bool = False,
) -> dict[str, Any]:
    """Answer a search: `{"results": [...], "gaps": [...], "next": cursor or null}`.

    With `explain` each result says `why` it ranked (see `explain_hit`). Never an error for any
    question; raises BadCursorError for a cursor of another question.
    """
    cut = cut_gaps(question)
    question = bounded(question)
    limit = max(1, min(limit, MAX_LIMIT))
    raw = raw_path(path) if path is not None else None
    asked = ask(project.scope_id, question)
    only = frozenset([raw]) if raw is not None else frozenset()
    with Checkout(project) as checkout:
        known = {project.scope_id: asked.known}
        page = find([project.scope_id], question, kinds, raw, limit, cursor, known)
        hits = list(page.hits)
        found = results_of(checkout, page.hits, asked, only)
        for _ in range(MOST_PAGES):
            if len(found) >= limit or page.next is None:
                break
            # Some hits are not served any more: the index still knows them.
            left = limit - len(found)
            page = find([project.scope_id], question, kinds, raw, left, page.next, known)
            hits += page.hits
            found += results_of(checkout, page.hits, asked, only)
        if raw is not None and not page.hits and cursor is None:
            # No word matched on this path: what changed there last is the better answer.
            found = results_of(checkout, _newest(checkout, raw, kinds, limit), asked, only)
        gaps = coverage_gaps(checkout, [raw] if raw is not None else [])
        results = [{key: result[key] for key in RESULT_KEYS} for result in found]
        if explain:
            hit_of = {(hit.kind, hit.target_id): hit for hit in hits}
            for result in results:
                hit = hit_of.get((result["kind"], int(result["id"][1:])))
                result["why"] = explain_hit(checkout, question, hit) if hit else None
    return {
        "results": results,
        "gaps": cut + gaps,
        "next": page.next,
    }


def bounded(question: str) -> str:
    """Cut a question to what is read of it; what no text column holds separates words."""
    return question[:MAX_QUESTION].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def cut_gaps(question: str) -> list[dict[str, Any]]:
    """Return the gap of a question that is too long to be read to its end."""
    left = len(question) - MAX_QUESTION
    text = f"the last {left} characters of the question were not read (limit {MAX_QUESTION})"
    return [{"reason": "BUDGET", "count": left, "text": text}] if left > 0 else []


def _newest(checkout: Checkout, path: bytes, kinds: Sequence[str], limit: int) -> list[Hit]:
    if kinds and EntryKind.CHANGE not in kinds:
        return []
    found = newest_changes(checkout, [path], limit)
    return [Hit(EntryKind.CHANGE, 0, pk, checkout.scope_id, 0.0) for pk in found]


def results_of(
    checkout: Checkout,
    hits: Sequence[Hit],
    asked: Question,
    only_paths: frozenset[bytes] = frozenset(),
) -> list[dict[str, Any]]:
    """Show what hits stand for, each with its verdict; what went away meanwhile is left out."""
    ids = [hit.target_id for hit in hits if hit.kind == EntryKind.CHANGE]
    changes = change_results(checkout, ids, asked.weights, only_paths)
    texts = text_results(checkout, [(h.kind, h.target_id) for h in hits])
    results = []
    for hit in hits:
        if hit.kind == EntryKind.CHANGE:
            result = changes.get(hit.target_id)
        else:
            result = texts.get((hit.kind, hit.target_id))
        if result is not None:
            results.append({**result, "score": round(hit.score, 4)})
    return results


def engineering_context(
    project: Project,
    task: str,
    *,
    paths: Sequence[str] = (),
    symbols: Sequence[str] = (),
    intent: str | None = None,
    budget: int = 4000,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Answer a task with sections, gaps and a continuation (see docs/domain.md).

    `budget` is in estimated tokens (UTF-8 bytes / 4). Raises BadCursorError.
    """
    request = ContextRequest(
        task=bounded(task),
        paths=tuple(raw_path(path) for path in paths),
        symbols=tuple(symbols),
        intent=intent,
        budget=max(MIN_BUDGET, min(budget, MAX_BUDGET)),
    )
    digest = request_digest(project, request)
    if cursor is not None:
        request = replace(request, offset=_offset_of(cursor, digest))
    answer, offset = build_context(project, request)
    answer["verification_gaps"] = cut_gaps(task) + answer["verification_gaps"]
    return {**answer, "next": None if offset is None else _cursor_of(offset, digest)}


def _cursor_of(offset: int, digest: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([offset, digest]).encode()).decode("ascii")


def _offset_of(cursor: str, digest: str) -> int:
    try:
        offset, of = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, TypeError, UnicodeEncodeError, binascii.Error, RecursionError):
        raise BadCursorError from None
    if of != digest or not isinstance(offset, int) or not 0 < offset < MAX_OFFSET:
        raise BadCursorError
    return offset
