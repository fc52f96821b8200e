"""Answers for one evidence id: the exact text and the whole source reference of design §5.

`S<n>` is a stored segment of a document; `A<n>.<h>` and `B<n>.<h>` are the after and before side of
hunk h of content change n, read from Git when asked.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Any

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import (
    Availability,
    ContentChange,
    EvidenceSegment,
    FileChange,
    Project,
    SourceKind,
)
from codememory.paths import shown_path
from codememory.serving import serves_change, serves_segment
from codememory.symbol_lookup import symbol_fields
from codememory.verdict_of import judge_file_change, judge_stored_segment
from collectors.redact import RULES_REVISION
from collectors.values import Gap, Hunk, PathClass

VIEWS_LOOKED_AT = 500  # file changes that show one content change
_ID = re.compile(r"([ABS])([1-9][0-9]{0,17})(?:\.([1-9][0-9]{0,8}))?")

# Why a part of the reference is null, said beside it.
NOT_A_HUNK = "a document segment is not a side of a change"
PIECE = "one piece of a block that is too large for a segment"
NO_BEFORE = "the file did not exist before this change"
NO_AFTER = "the file does not exist after this change"
NO_SYMBOLS = "a document segment has no symbols"


@dataclass(frozen=True, slots=True)
class EvidenceId:
    """A parsed id: side is A, B or S; `hunk` counts from 1 and is None for segments."""

    side: str
    number: int
    hunk: int | None


def parse_id(text: str) -> EvidenceId | None:
    """Read an evidence id; None for anything else."""
    match = _ID.fullmatch(text)
    if match is None or (match[1] == "S") != (match[3] is None):
        return None
    return EvidenceId(match[1], int(match[2]), int(match[3]) if match[3] else None)


def find_evidence(project: Project, evidence_id: str) -> dict[str, Any] | None:
    """Return one piece of evidence; None for an absent id, a malformed one, or a foreign one."""
    parsed = parse_id(evidence_id)
    if parsed is None:
        return None
    with Checkout(project) as checkout:
        return evidence_in(checkout, parsed)


def evidence_in(checkout: Checkout, parsed: EvidenceId) -> dict[str, Any] | None:
    """The same within a checkout that is open already."""
    if parsed.hunk is None:
        return _segment_evidence(checkout, parsed)
    return _hunk_evidence(checkout, parsed, parsed.hunk)


def _text_fields(redacted: bytes, kinds: list[dict[str, Any]], most: int) -> dict[str, Any]:
    """The text of an answer; bytes that are no UTF-8 are escaped in it and given whole beside."""
    cut = redacted[:most]
    fields: dict[str, Any] = {
        "truncation": f"first {most} of {len(redacted)} bytes" if len(redacted) > most else None,
        "redactions": kinds,
        "bytes_base64": None,
    }
    try:
        fields["text"] = cut.decode("utf-8")
        fields["text_encoding"] = "utf-8"
    except UnicodeDecodeError:
        fields["text"] = cut.decode("utf-8", "backslashreplace")
        fields["text_encoding"] = "utf-8, other bytes as \\x.."
        fields["bytes_base64"] = base64.b64encode(cut).decode("ascii")
    return fields


def _reference(checkout: Checkout) -> dict[str, Any]:
    """Every field of a source reference, empty; `reasons` says why one stays null."""
    return {
        "id": None,
        "trust": "untrusted_data",
        "scope": checkout.project.slug,
        "worktree": checkout.worktree.root,
        "source_kind": None,
        "schema_revision": 1,
        "revision_id": None,
        "captured_at": None,
        "old_path": None,
        "new_path": None,
        "object_id": None,
        "algorithm": getattr(checkout, "object_format", None),
        "commit": None,
        "commits": [],
        "parents": [],
        "compared_with": None,
        "head_at_capture": None,
        "branch_label": None,
        "before": None,
        "after": None,
        "side": None,
        "byte_range": None,
        "line_range": None,
        "sha256": None,
        "availability": None,
        "segment_id": None,
        "heading_path": None,
        "symbol": None,
        "index_generation": None,
        "extractor_revision": 1,
        "parser_coverage": "TEXTUAL_ONLY",
        "exclusions": [],
        "truncation": None,
        "redactions": [],
        "redaction_rules": RULES_REVISION,
        "text": None,
        "text_encoding": None,
        "bytes_base64": None,
        "verdict": None,
        "verdict_of": None,  # what it judges: a BEFORE side is not itself what holds or not
        "verdict_method": None,
        "verdict_path": None,
        "verdict_steps": [],
        "judged_head": checkout.head.oid,
        "reasons": {"symbol": NO_SYMBOLS, "index_generation": NO_SYMBOLS},
    }


def _set_verdict(answer: dict[str, Any], verdict: Any) -> None:
    answer["verdict"] = verdict.verdict.value
    answer["verdict_method"] = verdict.method.value
    answer["verdict_path"] = shown_path(verdict.path)
    answer["verdict_steps"] = [
        {"rule": step.rule, "compared": step.compared, "answer": step.answer}
        for step in verdict.steps
    ]


def _segment_evidence(checkout: Checkout, parsed: EvidenceId) -> dict[str, Any] | None:
    segment = (
        EvidenceSegment.objects.filter(scope_id=checkout.scope_id, pk=parsed.number)
        .select_related("revision", "revision__path", "commit")
        .first()
    )
    if segment is None or not serves_segment(checkout, segment):
        return None
    revision = segment.revision
    path = shown_path(bytes(revision.path.raw))
    whole = checkout.content(revision.object_oid)
    is_there = whole is not None and hashlib.sha256(whole).digest() == bytes(revision.sha256)
    availability = Availability.AVAILABLE if is_there else Availability.SOURCE_UNAVAILABLE
    answer = _reference(checkout)
    answer |= {
        "id": f"S{segment.pk}",
        "source_kind": revision.kind,
        "schema_revision": revision.schema_revision,
        "revision_id": f"D{revision.pk}",
        "captured_at": revision.captured_at.isoformat(),
        "old_path": None,
        "new_path": path,
        "object_id": revision.object_oid,
        "algorithm": revision.object_algorithm,
        "commit": segment.commit.oid if segment.commit else None,
        "head_at_capture": revision.head_oid,
        "branch_label": revision.branch_label,
        "after": {"sha256": bytes(revision.sha256).hex(), "availability": availability},
        "byte_range": [segment.byte_start, segment.byte_end],
        "line_range": [segment.first_line, segment.last_line],
        "sha256": bytes(segment.sha256).hex(),
        "availability": availability,
        "segment_id": f"S{segment.pk}",
        "heading_path": segment.heading_path,
        "extractor_revision": revision.extractor_revision,
        "is_instruction_file": revision.is_instruction_file,
    }
    answer |= _text_fields(
        bytes(segment.content), segment.redactions, checkout.policy.excerpt_bytes
    )
    if segment.is_truncated and answer["truncation"] is None:
        answer["truncation"] = PIECE
    answer["reasons"] |= {"old_path": NOT_A_HUNK, "before": NOT_A_HUNK, "side": NOT_A_HUNK}
    answer["reasons"] |= {"commit": NOT_A_HUNK, "compared_with": NOT_A_HUNK}
    if not is_there:
        answer["reasons"]["availability"] = "Git no longer gives this revision; text as captured"
    _set_verdict(answer, judge_stored_segment(checkout, segment))
    answer["verdict_of"] = "segment"
    return answer


def first_view(checkout: Checkout, content_change_id: int) -> FileChange | None:
    """The earliest file change that shows a content change as its own, else the earliest.

    None: there is none, or none whose paths are served.
    """
    rows = (
        FileChange.objects.filter(scope_id=checkout.scope_id, content_change_id=content_change_id)
        .exclude(path_class__in=UNREAD_CLASSES)
        .select_related("commit", "content_change", "old_path", "new_path")
        .order_by("commit_id", "parent_index")
    )
    served = [row for row in rows[:VIEWS_LOOKED_AT] if serves_change(checkout, row)]
    return next((row for row in served if row.logical_change_id), served[0] if served else None)


def _hunk_evidence(checkout: Checkout, parsed: EvidenceId, number: int) -> dict[str, Any] | None:
    view = first_view(checkout, parsed.number)
    if view is None or view.content_change is None:
        return None
    hunks = view.content_change.hunks()
    if number > len(hunks):
        return None
    change, hunk = view.content_change, hunks[number - 1]
    answer = _reference(checkout)
    answer |= _view_fields(checkout, view) | _side_fields(parsed, change, hunk)
    if change.old_oid is None:
        answer["reasons"] |= {"before": NO_BEFORE, "old_path": NO_BEFORE}
    if change.new_oid is None:
        answer["reasons"] |= {"after": NO_AFTER, "new_path": NO_AFTER}
    answer["reasons"] |= {
        "revision_id": "history is kept by object id, not as a revision of its own",
        "segment_id": "no claim cites this side yet, so no segment was made of it",
        "heading_path": "this is a change, not a document section",
    }
    symbols = symbol_fields(checkout.scope_id, change.pk, number, parsed.side)
    del answer["reasons"]["symbol"], answer["reasons"]["index_generation"]
    answer["reasons"] |= symbols.pop("reasons")
    answer |= symbols
    _read_sides(checkout, answer, change, parsed.side)
    if checkout.snapshot is None:
        answer["reasons"]["captured_at"] = "the run that reads this history has not finished"
    _set_verdict(answer, judge_file_change(checkout, view, [number])[0])
    answer["verdict_of"] = "change"
    return answer


def _view_fields(checkout: Checkout, view: FileChange) -> dict[str, Any]:
    commits = (
        FileChange.objects.filter(
            scope_id=checkout.scope_id, content_change_id=view.content_change_id
        )
        .exclude(path_class__in=UNREAD_CLASSES)
        .order_by("commit_id")
        .values_list("commit__oid", flat=True)
    )
    parents = view.commit.parent_oids
    snapshot = checkout.snapshot
    return {
        "source_kind": SourceKind.GIT,
        "algorithm": view.commit.algorithm,
        "captured_at": snapshot.captured_at.isoformat() if snapshot else None,
        "old_path": shown_path(bytes(view.old_path.raw)) if view.old_path else None,
        "new_path": shown_path(bytes(view.new_path.raw)) if view.new_path else None,
        "commit": view.commit.oid,
        "commits": list(dict.fromkeys(commits)),
        "parents": parents,
        "compared_with": parents[view.parent_index] if view.parent_index >= 0 else "empty tree",
        "head_at_capture": snapshot.head_oid if snapshot else None,
        "branch_label": snapshot.branch_label if snapshot else None,
        "exclusions": [] if view.path_class == PathClass.NORMAL else [view.path_class],
    }


def _side_fields(parsed: EvidenceId, change: ContentChange, hunk: Hunk) -> dict[str, Any]:
    is_after = parsed.side == "A"
    line, lines = (hunk.new_line, hunk.new_lines) if is_after else (hunk.old_line, hunk.old_lines)
    return {
        "id": f"{parsed.side}{parsed.number}.{parsed.hunk}",
        "side": "AFTER" if is_after else "BEFORE",
        "object_id": change.new_oid if is_after else change.old_oid,
        "byte_range": [hunk.new_start, hunk.new_end]
        if is_after
        else [hunk.old_start, hunk.old_end],
        "line_range": [line, line + lines - 1] if lines else [line, line],
        "lines": lines,
        "sha256": (hunk.new_sha256 if is_after else hunk.old_sha256).hex(),
        "extractor_revision": change.extractor_revision,
        "other_side": f"{'B' if is_after else 'A'}{parsed.number}.{parsed.hunk}",
    }


def _read_sides(
    checkout: Checkout, answer: dict[str, Any], change: ContentChange, side: str
) -> None:
    """Read both blobs, say which are there, and cut the asked side's text from its blob."""
    for name, oid in (("before", change.old_oid), ("after", change.new_oid)):
        if oid is None:
            continue
        found = checkout.blob(oid)
        is_there = isinstance(found, bytes)
        answer[name] = {
            "object_id": oid,
            "sha256": hashlib.sha256(found).hexdigest() if isinstance(found, bytes) else None,
            "availability": Availability.AVAILABLE if is_there else Availability.SOURCE_UNAVAILABLE,
            "gap": found.reason.value if isinstance(found, Gap) else None,
        }
        if (name == "after") != (side == "A"):
            continue
        answer["availability"] = answer[name]["availability"]
        taken = checkout.cut(oid, *answer["byte_range"])
        if not isinstance(taken, Gap):
            kinds = [{"kind": r.kind, "start": r.start, "end": r.end} for r in taken[1]]
            answer |= _text_fields(taken[0], kinds, checkout.policy.excerpt_bytes)
        else:
            answer["reasons"]["text"] = "the source is not available (SOURCE_UNAVAILABLE)"
    if answer["object_id"] is None:
        answer["text"], answer["text_encoding"] = "", "utf-8"
        answer["availability"] = Availability.AVAILABLE
        answer["reasons"]["object_id"] = NO_AFTER if side == "A" else NO_BEFORE
