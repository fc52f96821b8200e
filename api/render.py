"""The text form of an answer: ids, verdicts and standings first, repository text behind a fence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from api.fence import TRUST, fence, visible, visible_json

__all__ = [
    "TRUST",
    "context_head",
    "evidence_text",
    "history_head",
    "project_head",
    "rows_head",
    "run_head",
    "search_head",
    "status_head",
    "with_fence",
]

SECTIONS = (
    "applicable_rules",
    "current_code_links",
    "relevant_changes",
    "documented_intent",
    "conflicts",
    "verification_gaps",
    "provenance",
    "omitted",
)
# What may stand outside of the fence: our own ids, digests and vocabularies.
_OURS = re.compile(r"[A-Za-z0-9_.:-]{1,80}")
_STATES = ("kind", "state", "standing", "type", "modality", "verdict", "verdict_method")
_REFERENCE = (
    *("source_kind", "side", "availability", "commit", "object_id"),
    *("line_range", "byte_range", "sha256", "truncation"),
)
_RUN = ("source", "state", "phase", "done", "total", "gaps")
UNSEEN = "Characters that would not be seen are shown as \\u{..}; structured_content has them."


def search_head(found: dict[str, Any]) -> str:
    results = found["results"]
    lines = [f"{len(results)} results.", *(_state_line(result) for result in results)]
    if found["gaps"]:
        reasons = sorted({_own(gap["reason"]) for gap in found["gaps"]})
        lines.append(f"Not known: {', '.join(reasons)}")
    return "\n".join(lines)


def context_head(found: dict[str, Any]) -> str:
    lines = []
    for section in SECTIONS:
        lines.append(f"{section}: {len(found[section])}")
        lines.extend(f"  {_state_line(entry)}" for entry in found[section] if "id" in entry)
    gaps = sorted({_own(gap["reason"]) for gap in found["verification_gaps"]})
    if gaps:
        lines.append(f"Not verified: {', '.join(gaps)}")
    return "\n".join(lines)


def history_head(found: dict[str, Any]) -> str:
    if found["choices"]:
        return f"{len(found['choices'])} symbols have that name: ask for one of them by its `ask`."
    if found["subject"] is None:
        return "Nothing stored has that path or name."
    lines = [f"{_own(found['total'])} changes; {len(found['events'])} shown, the newest first."]
    lines += [_event_line(event) for event in found["events"]]
    if found["gaps"]:
        reasons = sorted({_own(gap["reason"]) for gap in found["gaps"]})
        lines.append(f"Not known: {', '.join(reasons)}")
    return "\n".join(lines)


def _event_line(event: dict[str, Any]) -> str:
    parts = [_own(event["change"]), *_pairs(event, ("commit", "kind"))]
    parts += [
        f"{name}={','.join(_own(end['change']) for end in event[name])}"
        for name in ("reverts", "reverted_by", "restored_by")
        if event[name]
    ]
    if event["evidence_ids"]:
        parts.append("evidence=" + ",".join(_own(each) for each in event["evidence_ids"]))
    return " ".join(parts)


def rows_head(found: dict[str, Any]) -> str:
    rows = found["rows"]
    return "\n".join([f"{len(rows)} rows.", *(_state_line(row) for row in rows)])


def project_head(found: dict[str, Any]) -> str:
    """The names by which projects are asked for; a name is a folder's, spelt in our letters."""
    names = [_own(row["project"]) for row in found["projects"]]
    return f"{len(names)} projects: {', '.join(names)}" if names else "No projects."


def status_head(found: dict[str, Any]) -> str:
    lines = [f"Project {_own(found['project'])}"]
    for name, source in sorted(found["sources"].items()):
        reachable = source["reachable"]
        said = "stored; HEAD cannot be read" if reachable is None else f"of {_own(reachable)} read"
        lines.append(f"  {_own(name)}: {_own(source['state'])}, {_own(source['processed'])} {said}")
    return "\n".join(lines)


def run_head(found: dict[str, Any]) -> str:
    return " ".join([f"Run {_own(found['id'])}", *_pairs(found, _RUN)])


def with_fence(head: str, note: str | None, found: dict[str, Any]) -> str:
    parts = [head, *([note] if note else []), fence(visible_json(found))]
    return "\n".join(parts)


def evidence_text(shown: dict[str, Any]) -> str:
    """The states outside, the recorded text inside: verbatim but for what cannot be seen."""
    head = [f"Evidence {_own(shown.get('id'))}", *_pairs(shown, (*_STATES, *_REFERENCE))]
    text = shown.get("text")
    lines = [" ".join(head)]
    if shown.get("side") == "BEFORE":
        lines.append("This is what stood there before the change; the verdict is the change's.")
    if shown.get("note"):
        lines.append(str(shown["note"]))
    if text is None:
        return "\n".join([*lines, "No text can be shown."])
    seen = visible(str(text))
    lines += [UNSEEN] if seen != text else []
    return "\n".join([*lines, fence(seen)])


def _state_line(entry: dict[str, Any]) -> str:
    parts = [_own(entry.get("id")), *_pairs(entry, _STATES)]
    evidence_ids = entry.get("evidence_ids")
    if evidence_ids:
        parts.append("evidence=" + ",".join(_own(each) for each in evidence_ids))
    return " ".join(parts)


def _pairs(entry: dict[str, Any], names: Iterable[str]) -> list[str]:
    return [f"{name}={_own(entry[name])}" for name in names if entry.get(name) is not None]


def _own(value: object) -> str:
    """Our own vocabulary as it is; anything else stays behind the fence."""
    text = "-".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if _OURS.fullmatch(text) else "(see below)"
