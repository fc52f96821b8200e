"""Headings and paths under which everything is a plan, or a proposal; searched in `folded` text.

What is planned elsewhere in the world is kept apart: a query's plan, a price plan, a plan for the
day of an incident, which holds rules that stand.
"""

from __future__ import annotations

import re

# A plan of these is a thing that the project handles, or a procedure that is in force.
_OTHER_PLANS = (
    r"(?:query|execution|explain|physical|logical|pricing|price|billing|payment|subscription|free"
    r"|paid|pro|premium|starter|enterprise|hosting|data|service|health|insurance|floor|savings"
    r"|tariff|your|current|customer|recovery|response|backup|contingency|continuity|emergency"
    r"|sorgu|çaliştirma|yürütme|fiyat|abonelik|ödeme|ücretsiz|kurtarma|müdahale|yedekleme|acil"
    r" durum)"
)
_ASIDE = r"(?: ?[:/(\u2013\u2014-].*)?"
_WORDS = r"(?:[\w.,'&+/-]+ ){0,5}"
_AFTER = r"(?: ?[:/|(\u2013\u2014-].*| (?:for|of|to|and|in|v?\d)\b.*)?"
_TIME = r"(?:20\d\d )?(?:[qh][1-4]|20\d\d)(?: 20\d\d)?"
# "Plan for failure" tells how to work; "plan for 2.0" is a plan.
_ADVICE = (
    r"plans? for (?:failures?|errors?|change|growth|scale|the worst|success|concurrency)\b"
    r"|plan (?:in|to|and)\b|(?:how|why|when|where)\b"
)

_PLAN_HEADING = re.compile(
    r"(?:the |our )?(?:"
    rf"(?!.*\b{_OTHER_PLANS} plans?\b)(?!{_ADVICE})"
    rf"{_WORDS}plans?{_AFTER}"
    rf"|(?!.*\b{_OTHER_PLANS} plan)(?:[\w.,'&+/-]+ ){{1,4}}plan(?:i|lari){_ASIDE}"
    r"|plan(?:lar|lama)|planlarimiz"
    r"|planned\b.*|planlanan\b.*"
    rf"|{_WORDS}road[ -]?maps?\b.*|.*\byol haritasi\b.*"
    rf"|(?:things |still |left |what's left )?to[ -]?dos?(?: lists?| items?| notes?)?{_AFTER}"
    r"|to be (?:done|implemented|decided|added)|tbd"
    r"|(?:future|upcoming)\b.*|next (?:steps?|up|release|version|milestones?)(?: ?[:(].*)?"
    rf"|{_WORDS}back[ -]?log(?: items?)?|milestones?(?: .{{1,60}})?"
    r"|what'?s next|coming (?:soon|next|up)|later"
    r"|(?:feature )?wish ?-?lists?|nice to haves?"
    r"|(?:features? |still )?(?:not (?:yet )?(?:implemented|done|built|supported)(?: yet)?"
    r"|unimplemented|missing)(?: features?| parts?| pieces?)?"
    r"|(?:remaining|outstanding|open) (?:work|tasks?|items?)|in progress|work in progress"
    rf"|(?:project )?(?:phases?|sprint|iteration) [\divx]+(?:[.\d]*){_ASIDE}"
    rf"|{_TIME}(?: (?:goals?|objectives?|okrs?|priorities))?"
    r"|(?:short|mid|medium|long)[ -]term(?: goals?| plans?)?"
    r"|yapilacak(?:lar)?(?: (?:listesi|işler|liste))?|gelecek\b.*|sonraki (?:adim|sürüm|aşama)\w*"
    r"|(?:faz|aşama|etap) ?\d.*|aşama|henüz .*|ileride .*|istek listesi|dilek listesi"
    r")"
)
# "Refunds (planned)", "Export - not implemented": what a heading says of itself at its end.
_SAYS_PLANNED = re.compile(
    r"[(\[:\u2013\u2014-] ?(?:planned|plan|future|to-?do|not (?:yet )?(?:implemented|done)(?: yet)?"
    r"|unimplemented|coming soon|roadmap|wip|planlanan|planlandi|yapilacak)$"
)
_PLAN_PATH = re.compile(
    r"(?:^|[/ _.-])(?:road[-_ ]?map|to[-_ ]?do(?![-_ ]?(?:app|mvc|api|list))|to[-_ ]?do[-_ ]?list"
    r"|plans?|planlar|plani|planlari|planlama|back[-_ ]?log|future|milestones?|wish[-_ ]?list"
    r"|yol[-_ ]?haritasi|yapilacaklar)(?:[/ _.-]|$)"
)
_NO_PLAN_PATH = re.compile(rf"\b{_OTHER_PLANS.replace(' ', '[-_ ]')}[-_ ]plan(?:s|i|lari)?\b")

_PROPOSAL_HEADING = re.compile(
    r"(?:the |our )?(?:proposals?(?: for\b.*|(?: ?[:/(\u2013\u2014-].*))?|proposed\b.*"
    r"|what'?s proposed|ideas?(?: for\b.*)?|suggestions?|drafts?|request for comments\b.*"
    r"|rfc ?:.*|öneri(?:ler)?|öneri ?:.*|taslak)"
    r"|.{2,80}: a proposal|.{2,80} draft design|(?!how |submit).{2,60} proposal"
    r"|.{2,80}[(\[\u2013\u2014-] ?(?:proposed|proposal|draft|idea|öneri|taslak)"
)
_PROPOSAL_PATH = re.compile(
    r"(?:^|[/ _.-])(?:proposals?|rfcs?|[okpjt]eps?|drafts?|öneriler|oneriler|taslaklar)"
    r"(?:[/ _.-]|$)"
)


def is_plan_heading(heading: str) -> bool:
    """Whether what stands under the heading is planned. It comes folded and without numbering."""
    return bool(_PLAN_HEADING.fullmatch(heading) or _SAYS_PLANNED.search(heading))


def is_plan_path(path: str) -> bool:
    return bool(_PLAN_PATH.search(_NO_PLAN_PATH.sub("", path)))


def is_proposal_heading(heading: str) -> bool:
    """Whether what stands under the heading is proposed."""
    return bool(_PROPOSAL_HEADING.fullmatch(heading))


def is_proposal_path(path: str) -> bool:
    return bool(_PROPOSAL_PATH.search(path))
