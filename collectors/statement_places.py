"""What the place of a sentence says of it: the document's path and status, and its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from collectors.statement_rules import folded
from collectors.values import Document


def _part_of_path(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[/ _.-])(?:{names})(?:[/ _.-]|$)")


# Documents that tell what happened, or whose text is not the project's own, hold no statements.
_SKIPPED_PATHS = _part_of_path(
    r"changes|changelogs?|history|news|release[-_ ]?notes?|releases|templates?|licen[cs]es?|copying"
    r"|code[-_ ]of[-_ ]conduct|cla|thanks|authors|node_modules|vendor|third[-_]party|fixtures?"
    r"|blog|posts|announcements?"
)
_GUIDANCE_PATHS = _part_of_path(
    r"contributing|contribute|contributors?|development|developing|developers?|hacking|style"
    r"|conventions?|standards|architecture|design|adrs?|decisions?|rfcs?|specs?|agents|claude|gemini"
    r"|copilot|cursor|rules|policy|policies|principles|testing|maintaining|maintainers?"
    r"|governance|coding|workflow|requirements|guidelines|katki|kurallar|mimari|gereksinimler"
)
_PLAN_PATHS = _part_of_path(r"roadmap|todo|plans?|backlog|future")
_PROPOSAL_PATHS = _part_of_path(r"proposals?|rfcs?|drafts?")

_GUIDANCE_HEADINGS = re.compile(
    r"\b(?:conventions?|guidelines?|style|rules|principles|requirements?|policy|policies|coding"
    r"|naming|best practices?|standards|constraints|contributing|invariants|testing|workflow"
    r"|commits?"
    r"|pull requests?|non-goals|kurallari?|katki|standartlari?|gereksinimler|mimari|isimlendirme)\b"
)
# These have to be the whole heading: "Plan" is one, "Query plan cache" is none.
_DECISION_HEADINGS = re.compile(
    r"(?:the |our )?(?:decisions?|decision outcome|architectural decisions?|karar(?:lar)?"
    r"|alinan kararlar)"
)
_PLAN_HEADINGS = re.compile(
    r"(?:the |our )?(?:plans?|planned\b.*|roadmap.*|to-?dos?|future\b.*|upcoming\b.*|next steps?"
    r"|backlog|milestones?|what's next|coming soon|(?:implementation|migration|release) plan"
    r"|plan(?:lar)?|planlanan\b.*|yol haritasi|yapilacaklar|gelecek\b.*)"
)
_PROPOSAL_HEADINGS = re.compile(
    r"(?:the |our )?(?:proposals?|proposed\b.*|ideas?|suggestions?|drafts?|öneri(?:ler)?|taslak)"
)
_SKIPPED_HEADINGS = re.compile(
    r"(?:considered (?:options|alternatives)|alternatives?\b.*|options|pros and cons.*|rejected.*"
    r"|arguments?|positions?|(?:positive |negative )?consequences|examples?|license|changelog"
    r"|context|context and problem statement|(?:open |unresolved )?questions?|faq"
    r"|frequently asked questions|değerlendirilen seçenekler|alternatifler|sonuçlar|bağlam|sorular"
    r"|örnek(?:ler)?)"
)
_NUMBERING = re.compile(r"^[\W\d]+|\{ ?#[\w-]+ ?\}|\W+$")

_STATUS_LINE = re.compile(r"^[\s*_-]*(?:status|durum)[\s*_]*:[\s*_\"']*(.{2,40})")
_PROPOSED = re.compile(r"\b(?:proposed|proposal|draft|pending|in review|önerildi|öneri|taslak)\b")
_DEAD = re.compile(
    r"\b(?:rejected|superseded|deprecated|abandoned|withdrawn|obsolete|reddedildi|iptal)\b"
)


@dataclass(frozen=True, slots=True)
class Place:
    """What holds for all sentences of a section."""

    is_guidance: bool  # it says how the project is worked on
    is_decision: bool  # it holds a decision
    modality: str = ""  # PLAN or PROPOSAL where the place makes everything in it one


class Places:
    """The places of one document; `is_skipped` when nothing in it is a statement."""

    def __init__(self, document: Document) -> None:
        self._path = folded(document.path.decode("utf-8", errors="replace"))
        self._status = _status(document)
        self._is_guidance = document.is_instruction_file or bool(_GUIDANCE_PATHS.search(self._path))
        self._known: dict[tuple[str, ...], Place | None] = {}
        self.is_skipped = bool(_SKIPPED_PATHS.search(self._path) or _DEAD.search(self._status))

    def of(self, heading_path: tuple[str, ...]) -> Place | None:
        """The place under these headings; None where nothing is a statement."""
        if heading_path not in self._known:
            headings = [_NUMBERING.sub("", folded(heading)) for heading in heading_path]
            self._known[heading_path] = self._place(headings)
        return self._known[heading_path]

    def _place(self, headings: list[str]) -> Place | None:
        if any(_SKIPPED_HEADINGS.fullmatch(heading) for heading in headings):
            return None
        modality = ""
        if _PLAN_PATHS.search(self._path) or any(map(_PLAN_HEADINGS.fullmatch, headings)):
            modality = "PLAN"
        elif (
            _PROPOSED.search(self._status)
            or (_PROPOSAL_PATHS.search(self._path) and not self._status)
            or any(map(_PROPOSAL_HEADINGS.fullmatch, headings))
        ):
            modality = "PROPOSAL"
        return Place(
            is_guidance=self._is_guidance or any(map(_GUIDANCE_HEADINGS.search, headings)),
            is_decision=any(map(_DECISION_HEADINGS.fullmatch, headings[-2:])),
            modality=modality,
        )


def _status(document: Document) -> str:
    """What a decision record says of itself: "accepted", "proposed", "superseded by ..."."""
    for segment in document.segments[:30]:
        if segment.kind not in {"front_matter", "paragraph", "list"}:
            continue
        text = segment.content[:1000].decode("utf-8", errors="replace")
        if segment.heading_path and _NUMBERING.sub("", folded(segment.heading_path[-1])) in {
            "status",
            "durum",
        }:
            return folded(text[:200])
        for line in text.splitlines():
            if match := _STATUS_LINE.search(folded(line)):
                return match[1]
    return ""
