"""One piece of evidence as the candidate's page shows it: text, verdict, full reference.

The reference is what `codememory.evidence` gives an agent for the same id, every field of it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from codememory.evidence import find_evidence
from codememory.models import EvidenceLink, Project
from codememory.paths import shown_path
from codememory.verdicts import Method, VerdictKind
from review.excerpts import ExcerptLine, cited_text, excerpt_lines, highlighted
from review.glyphs import count_hidden

# Shown above or beside the table, or only of use to a program.
SHOWN_ELSEWHERE = frozenset(
    {
        *("id", "text", "bytes_base64", "trust", "reasons"),
        *("verdict", "verdict_method", "verdict_path", "verdict_steps", "judged_head"),
    }
)
LABELS = {
    "scope": "Project",
    "source_kind": "Source",
    "revision_id": "Revision",
    "captured_at": "Captured",
    "new_path": "Path",
    "object_id": "Object",
    "algorithm": "Object algorithm",
    "head_at_capture": "HEAD at capture",
    "branch_label": "Branch",
    "byte_range": "Bytes",
    "line_range": "Lines",
    "sha256": "SHA-256",
    "after sha256": "Revision SHA-256",
    "after availability": "Revision availability",
    "segment_id": "Segment",
    "heading_path": "Heading",
    "is_instruction_file": "Instructs agents",
    "truncation": "Cut",
    "redactions": "Redacted",
    "exclusions": "Excluded",
}
KEY_FACTS = ("Captured", "Bytes", "SHA-256", "Availability", "Redacted")
JOINED_BY = {"byte_range": "\u2013", "line_range": "\u2013", "heading_path": " \u203a "}
REASON_OF = {"commits": "commit", "parents": "commit"}  # absent for the same reason as that field
NOTHING = "Nothing"
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,15}[+-][0-9]{2}:[0-9]{2}")
FAR_DOWN = 6  # lines
LONG_VALUE = 52  # characters that half of the table holds on one line


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of the source reference, or several that are absent for the same reason."""

    label: str
    value: str | None
    reason: str = ""

    @property
    def when(self) -> datetime | None:
        """The time that it is, to be shown as the console shows times."""
        if self.value is None or not _TIME.fullmatch(self.value):
            return None
        return datetime.fromisoformat(self.value)

    @property
    def is_long(self) -> bool:
        return len(self.value or self.label + self.reason) > LONG_VALUE


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment that the candidate cites, with what `find_evidence` says of it."""

    link: EvidenceLink
    reference: dict[str, Any]
    path: str
    lines: list[ExcerptLine]
    cited: str

    @property
    def name(self) -> str:
        return f"S{self.link.segment_id}"

    @property
    def verdict(self) -> str:
        """A checkout without a HEAD to compare with shows nothing: it is not proof of absence."""
        return self.reference["verdict"] if self.judged_head else VerdictKind.UNKNOWN

    @property
    def method(self) -> str:
        return self.reference["verdict_method"] if self.judged_head else Method.SOURCE_UNAVAILABLE

    @property
    def steps(self) -> list[dict[str, str]]:
        return self.reference["verdict_steps"] if self.judged_head else []

    @property
    def judged_head(self) -> str:
        return (self.reference.get("judged_head") or "")[:12]

    @property
    def hidden(self) -> int:
        """How many of its characters cannot be seen in the source."""
        return sum(count_hidden(line.before + line.cited + line.after) for line in self.lines)

    @property
    def cited_line(self) -> int | None:
        """The number of the first line with cited words."""
        return next((line.number for line in self.lines if line.cited.strip()), None)

    @property
    def is_cited_far_down(self) -> bool:
        """Whether the cited words are out of sight where the evidence begins."""
        first = int(self.link.segment.first_line)
        return (self.cited_line or first) - first > FAR_DOWN

    @property
    def line_count(self) -> int:
        return int(self.link.segment.last_line - self.link.segment.first_line + 1)

    @property
    def facts(self) -> list[Fact]:
        return facts_of(self.reference)

    @property
    def key_facts(self) -> list[Fact]:
        """The few that the preview has room for."""
        return [fact for fact in self.facts if fact.label in KEY_FACTS]


def piece_of(project: Project, link: EvidenceLink) -> Piece:
    """Return the segment behind a link; the caller has joined segment, revision and path."""
    segment = link.segment
    path = shown_path(bytes(segment.revision.path.raw)) or ""
    return Piece(
        link,
        find_evidence(project, f"S{segment.pk}") or {},
        path,
        highlighted(path, excerpt_lines(segment, link)),
        cited_text(segment, link),
    )


def facts_of(reference: dict[str, Any]) -> list[Fact]:
    """Return every field of a source reference in its order; absent ones last, by their reason."""
    reasons: dict[str, str] = reference.get("reasons") or {}
    present: list[Fact] = []
    absent: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in reference.items():
        if name in SHOWN_ELSEWHERE:
            continue
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for part, inner in parts:
            label = _label(f"{name} {part}".strip())
            reason = reasons.get(REASON_OF.get(name, name))
            if inner in (None, []) and reason:
                absent[reason].append(label)
            else:
                present.append(Fact(label, _value(name, inner)))
    return present + [
        Fact(", ".join([labels[0], *map(str.lower, labels[1:])]), None, reason)
        for reason, labels in absent.items()
    ]


def _label(name: str) -> str:
    return LABELS.get(name) or name.replace("_", " ").capitalize()


def _value(name: str, value: object) -> str:
    if value is None or value == []:
        return NOTHING
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list):
        if all(isinstance(part, str | int) for part in value):
            return JOINED_BY.get(name, ", ").join(map(str, value))
        return "; ".join(_pairs(part) for part in value)
    return str(value)


def _pairs(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {inner}" for name, inner in value.items())
    return json.dumps(value, ensure_ascii=False)
