"""Says why a search result ranked where it did: every term, field and weight of its score.

The index keeps what fields add up to; which field held a term is read from the content again, so
this is asked for a page of hits and never by a search itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import Candidate, EntryKind, EvidenceSegment, FileChange, Memory
from codememory.search import ranking
from codememory.search.change_fields import ChangedFile, change_fields, text_counts
from codememory.search.query import Hit, explain
from codememory.search_entries import claim_texts, section_texts
from collectors.redact import find_secrets, mask
from collectors.values import PathClass

DIGITS = 4
# Smaller than this share of an impact, what is left over is rounding.
ROUNDING = 0.03

Counts = Mapping[str, Mapping[str, float]]


def explain_hit(checkout: Checkout, question: str, hit: Hit) -> dict[str, Any] | None:
    """Return the parts of a hit's score; None where the index does not know it any more.

    `fields` of a term are what each adds to its impact; `first`, that the project never had it.
    """
    found = explain(hit.scope_id, question, hit.entry_id)
    if found is None:
        return None
    is_change = hit.kind == EntryKind.CHANGE
    counts = _change_counts(checkout, hit.target_id) if is_change else _text_counts(hit)
    weights = ranking.CHANGE_FIELDS if is_change else ranking.TEXT_FIELDS
    terms = []
    for part in found.terms:
        fields = ranking.explain_fields(part.term, counts, weights)
        left = part.impact - sum(fields.values())
        if is_change and left > ROUNDING * part.impact:
            fields["first"] = left
        terms.append({**_rounded(asdict(part)), "fields": _rounded(fields)})
    return {
        "score": round(hit.score, DIGITS),
        "first": round(found.first, DIGITS),
        "second": round(found.second, DIGITS),
        "terms": terms,
        "neighbours": [
            {"words": [left, right], "score": round(score, DIGITS)}
            for left, right, score in found.neighbours
        ],
        "verbs": found.verbs,
        "shape": _rounded({name: score for name, score in found.shape.items() if score}),
    }


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: round(v, DIGITS) if isinstance(v, float) else v for k, v in values.items()}


def _change_counts(checkout: Checkout, change_id: int) -> Counts:
    """The term counts of a change by field, from the content of one commit that shows it."""
    rows = (
        FileChange.objects.filter(scope_id=checkout.scope_id, logical_change_id=change_id)
        .select_related("old_path", "new_path", "content_change")
        .order_by("commit_id", "parent_index", "pk")
    )
    shown = [row for row in rows if _view(row) == _view(rows[0])]
    contents = [row.content_change for row in shown if row.content_change]
    checkout.prefetch(oid for content in contents for oid in (content.old_oid, content.new_oid))
    return change_fields([_changed_file(checkout, row) for row in shown]).counts


def _view(row: FileChange) -> tuple[int, int]:
    return row.commit_id, row.parent_index


def _changed_file(checkout: Checkout, row: FileChange) -> ChangedFile:
    old_path, new_path = (
        bytes(path.raw) if path else None for path in (row.old_path, row.new_path)
    )
    content, path_class = row.content_change, PathClass(row.path_class)
    if content is None or row.path_class in UNREAD_CLASSES:
        return ChangedFile(old_path, new_path, path_class=path_class)
    hunks = content.hunks()
    if row.hunk_numbers is not None:
        hunks = [hunks[number - 1] for number in row.hunk_numbers]
    old, new = (_masked(checkout, oid) for oid in (content.old_oid, content.new_oid))
    return ChangedFile(old_path, new_path, old, new, tuple(hunks), path_class)


def _masked(checkout: Checkout, oid: str | None) -> bytes | None:
    """What the index read: the content without its secrets."""
    content = checkout.content(oid)
    return None if content is None else mask(content, find_secrets(content))


def _text_counts(hit: Hit) -> Counts:
    if hit.kind == EntryKind.SECTION:
        segments = EvidenceSegment.objects.select_related("revision__path")
        segment = segments.filter(scope_id=hit.scope_id, pk=hit.target_id).first()
        return text_counts(section_texts(segment)) if segment else {}
    model = Candidate if hit.kind == EntryKind.CANDIDATE else Memory
    claim = model.objects.filter(scope_id=hit.scope_id, pk=hit.target_id).first()
    if claim is None:
        return {}
    link = claim.evidence_links.select_related("segment").order_by("pk").first()
    return text_counts(claim_texts(claim.statement, link))
