"""What the place of a sentence says of it: the document's path and status, and its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from collectors.statement_plans import (
    is_plan_heading,
    is_plan_path,
    is_proposal_heading,
    is_proposal_path,
)
from collectors.statement_rule import Rule, Where, folded
from collectors.values import Document


def _part_of_path(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[/ _.-])(?:{names})(?:[/ _.-]|$)")


# Documents that tell what happened, or whose text is not the project's own, hold no statements.
_SKIPPED_PATHS = _part_of_path(
    r"changelogs?|release[-_ ]?notes?|releases|templates?|licen[cs]es?|copying"
    r"|cla|thanks|authors|node_modules|vendor|third[-_]party|fixtures?"
    r"|blog|posts|announcements?|manpages?|man|changesets?|archived?|eski|obsolete|raporlar"
    r"|(?:test|status|progress|completion|audit|verification|deployment|delivery)"
    r"[-_ ](?:reports?|results?|summary)"
)
_SKIPPED_FILES = re.compile(
    r"(?:^|/)(?:(?:changes|history|news)(?:[./]|$)|code[-_ ]of[-_ ]conduct[^/]{0,20}$)"
)
# Text for users of the project's work, unless it is also guidance.
_USER_PATHS = _part_of_path(
    r"install|installation|installing|getting[-_ ]started|quick[-_ ]?start|tutorials?|faq|usage"
    r"|troubleshooting|kurulum|concepts?|reference|user[-_ ]?guides?|cookbook|recipes?"
    r"|integrations?"
)
_GUIDANCE_PATHS = _part_of_path(
    r"contributing|contribute|contributors?|development|developing|developers?|hacking|style"
    r"|conventions?|standards|architecture|design|adrs?|decisions?|rfcs?|specs?|specifications?"
    r"|baselines?|agents|claude|gemini|copilot|cursor|rules|policy|policies|principles|testing"
    r"|maintaining|maintainers?"
    r"|governance|coding|workflows?|requirements|guidelines|naming"
    r"|protocols?|guardrails|instructions?|agent|katki|kurallar|mimari|gereksinimler"
)
# Those of them that hold rules: an imperative in them is one, and no step of a procedure.
_RULES_PATHS = _part_of_path(
    r"style|style[-_ ]?guides?|conventions?|standards|guidelines?|coding|naming|principles|rules"
    r"|policy|policies|guardrails|instructions?|agents?|claude|gemini|copilot|cursor|specs?"
    r"|baselines?|best[-_ ]practices|product[-_ ]requirements|prd|srs|gereksinimler|kurallar"
    r"|standartlar"
)
_NUMBERED_PATHS = _part_of_path(
    r"style|conventions?|standards|guidelines?|naming|principles|rules|polic(?:y|ies)"
)
_ROADMAP_PATHS = _part_of_path(
    r"road[-_ ]?map|to[-_ ]?do|back[-_ ]?log|wish[-_ ]?list|yol[-_ ]?haritasi|yapilacaklar"
)
_RECORD_PATHS = _part_of_path(r"adrs?|decisions?|decision[-_ ]records?")

_GUIDANCE_HEADINGS = re.compile(
    r"\b(?:conventions?|guidelines?|style|rules|principles|requirements?|policy|policies|coding"
    r"|naming|best practices?|standards|constraints|contributing|invariants|testing|workflow"
    r"|commits?"
    r"|pull requests?|non-goals|kurallari?|katki|standartlari?|gereksinimler|mimari|isimlendirme)\b"
)
_RULES_HEADINGS = re.compile(
    r"\b(?:conventions?|guidelines?|style|rules|principles|polic(?:y|ies)|naming|best practices?"
    r"|standards|constraints|invariants|etiquette|kural\w*|standart\w*|prensip\w*|ilke\w*"
    r"|konvansiyon\w*|yasak\w*|isimlendirme)\b"
)
_PROCEDURE_HEADINGS = re.compile(
    r"^(?:descriptions?|syntax|arguments?|parameters?|returns?|return values?|results?)$"
    r"|\b(?:steps?|setup|set up|install\w*|how to\b.*|getting started|running|building|usage"
    r"|workflow|process|procedures?|prerequisites|commands?|troubleshooting|adim\w*|kurulum\w*"
    r"|süre[cç]\w*|akiş\w*|kullanim\w*|ön koşul\w*)\b"
)
# These have to be the whole heading: "Plan" is one, "Query plan cache" is none.
_DECISION_HEADINGS = re.compile(
    r"(?:the |our )?(?:decisions?|decision outcome|architectural decisions?|karar(?:lar)?"
    r"|alinan kararlar)"
)
# Where a mere list is one of plans.
_ROADMAP_HEADINGS = re.compile(
    r"(?:the |our |project )?(?:road[ -]?map|to[ -]?dos?(?: lists?)?|back ?log|wish ?-?list"
    r"|not (?:yet )?implemented(?: yet)?|planned(?: features?| work| changes)?"
    r"|upcoming(?: features?| changes)?|future (?:work|plans|features?|releases?)"
    r"|yapilacaklar(?: listesi)?|planlanan(?:lar| özellikler)|.*\byol haritasi\b.*"
    r"|gelecek planlari?)"
)
# The sections of a roadmap that list them: a time, a version or a phase.
_ROADMAP_SECTIONS = re.compile(
    r"(?:phase|faz|v?\d|q[1-4]|now|next|later|soon|sprint|milestone|planned|future|upcoming|short"
    r"|mid|medium|long|kisa|orta|uzun|gelecek|yakin|sürüm(?:ler)?|versions?|releases?|mvp)\b"
)
_SKIPPED_HEADINGS = re.compile(
    r"(?:considered (?:options|alternatives)|alternatives?\b.*|options|pros and cons.*|rejected.*"
    r"|arguments?|positions?|(?:positive |negative )consequences|examples?|license|changelog"
    r"|context|context and problem statement|(?:open |unresolved )?questions?|faq"
    r"|frequently asked questions|(?:deprecat(?:ed|ions?)|obsolete|removed|superseded|archived?"
    r"|legacy|outdated|withdrawn|abandoned|cancelled|no longer\b.*|history|former\b.*|old rules?"
    r"|previous(?:ly| rules?| decisions?)?)(?: (?:features?|rules?|options?|settings?|apis?|docs?"
    r"|documentation|documents?|conventions?|decisions?|policies))?"
    r"|.{2,80}[(\[:\u2013\u2014-] ?(?:deprecated|obsolete|removed|superseded|archived|legacy"
    r"|rejected|withdrawn|kullanimdan kaldirildi|iptal)"
    r"|kullanimdan (?:kaldirilan|kalkan)\w*|geçersiz\w*|iptal edilen\w*|eski (?:kural|karar)\w*"
    r"|eskiler|tarihçe|değerlendirilen seçenekler|alternatifler|bağlam|sorular"
    r"|örnek(?:ler)?)"
)
# What is listed here is what not to do, so an imperative in it says the contrary.
_BAD_HEADINGS = re.compile(
    r"\b(?:don'?ts?|do not|never|avoid|bad|wrong|anti-?patterns?|yapilmamasi\w*|kötü|yanliş\w*)\b"
)
_CONSEQUENCES_HEADINGS = re.compile(r"(?:the )?consequences|sonuçlar")
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
    is_rules: bool  # and it holds rules rather than instructions
    numbers_rules: bool  # its numbered lists are rules, not steps
    is_decision: bool  # it holds a decision
    is_consequences: bool  # or what follows from one: all else in it is an expected effect
    is_roadmap: bool  # its lists hold what is planned
    modality: str = ""  # PLAN or PROPOSAL where the place makes everything in it one

    def believes(self, rule: Rule) -> bool:
        if self.is_consequences and not self.is_decision:
            return rule.where is Where.CONSEQUENCES or (
                rule.where is Where.ANYWHERE and rule.type == "decision"
            )
        return {
            Where.ANYWHERE: True,
            Where.GUIDANCE: self.is_guidance,
            Where.RULES: self.is_rules,
            Where.DECISION: self.is_decision,
            Where.CONSEQUENCES: self.is_decision,
            Where.INTENDED: bool(self.modality),
        }[rule.where]


class Places:
    """The places of one document; `is_skipped` when nothing in it is a statement."""

    def __init__(self, document: Document) -> None:
        self._path = folded(document.path.decode("utf-8", errors="replace"))
        self._status = _status(document)
        self._is_guidance = document.is_instruction_file or bool(_GUIDANCE_PATHS.search(self._path))
        self._known: dict[tuple[str, ...], Place | None] = {}
        self._is_rules = document.is_instruction_file or bool(_RULES_PATHS.search(self._path))
        self._is_roadmap = bool(_ROADMAP_PATHS.search(self._path))
        self._is_record = bool(_RECORD_PATHS.search(self._path))
        self.is_skipped = bool(
            _SKIPPED_PATHS.search(self._path)
            or _SKIPPED_FILES.search(self._path)
            or _DEAD.search(self._status)
            or (_USER_PATHS.search(self._path) and not self._is_guidance)
        )

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
        if is_plan_path(self._path) or any(map(is_plan_heading, headings)):
            modality = "PLAN"
        elif (
            _PROPOSED.search(self._status)
            or (is_proposal_path(self._path) and not self._status)
            or any(map(is_proposal_heading, headings))
        ):
            modality = "PROPOSAL"
        is_rules = self._is_rules or any(map(_RULES_HEADINGS.search, headings))
        is_consequences = any(map(_CONSEQUENCES_HEADINGS.fullmatch, headings))
        if is_consequences and not self._is_record:
            return None
        return Place(
            is_guidance=self._is_guidance or any(map(_GUIDANCE_HEADINGS.search, headings)),
            is_rules=is_rules
            and not any(map(_PROCEDURE_HEADINGS.search, headings))
            and not any(map(_BAD_HEADINGS.search, headings)),
            numbers_rules=bool(
                _NUMBERED_PATHS.search(self._path)
                or (headings and _RULES_HEADINGS.search(headings[-1]))
            ),
            is_decision=any(map(_DECISION_HEADINGS.fullmatch, headings[-2:])),
            is_consequences=is_consequences,
            is_roadmap=bool(headings)
            and (
                bool(_ROADMAP_HEADINGS.fullmatch(headings[-1]))
                or (
                    (self._is_roadmap or any(map(_ROADMAP_HEADINGS.fullmatch, headings)))
                    and bool(_ROADMAP_SECTIONS.match(headings[-1]))
                )
            ),
            modality=modality,
        )


def _status(document: Document) -> str:
    """What a decision record says of itself: "accepted", "proposed", "superseded by ..."."""
    for number, segment in enumerate(document.segments[:30]):
        if segment.kind not in {"front_matter", "paragraph", "list"}:
            continue
        text = segment.content[:1000].decode("utf-8", errors="replace")
        if segment.heading_path and _NUMBERING.sub("", folded(segment.heading_path[-1])) in {
            "status",
            "durum",
        }:
            return folded(text[:200])
        for line in text.splitlines() if number < 8 else ():
            if match := _STATUS_LINE.search(folded(line)):
                return match[1]
    return ""
