"""The table of rules by which a sentence is a statement; `statements.py` applies it.

Patterns are searched in a sentence's mask when it is `folded`; none nests its quantifiers.
"""

from __future__ import annotations

from collectors.statement_rule import Rule, Where, make_rule
from collectors.statement_rules_choices import CHOICES
from collectors.statement_rules_tr import TURKISH

EXTRACTOR_REVISION = 4  # raised with every change of what is found

ANYWHERE, GUIDANCE, RULES_PLACE = Where.ANYWHERE, Where.GUIDANCE, Where.RULES

# "do not worry" comforts the reader and rules nothing.
_SOFT = (
    r"(?:worry|forget|hesitate|panic|miss|feel|be|have|need|think|know|see|care|mind|expect|let"
    r"|get|want|fret|take)\b"
)
_END = r"\W{0,3}$"
# A modal verb in a relative or an indirect clause describes: "the options that must be set".
_RELATIVE = r"(?<!\()(?<!\bthat )(?<!\bwhich )(?<!\bwho )(?<!\bwhat )(?<!\bif )(?<!\bwhether )"
_PRONOUN = (
    r"(?<!\byou )(?<!\bthis )(?<!\bit )(?<!\bthey )(?<!\band )(?<!\bwe )(?<!\bi )(?<!\bthere )"
)
_BARE = r"^(?:please,? )?"
# An imperative, no participle: "never embed", but not "never referenced".
_VERB = r"(?!mind\b)[a-z]{2,}\b(?:(?<!ed)|(?<=embed)|(?<=feed)|(?<=ceed)|(?<=shed))"

# What may stand before an imperative: "When testing for errors, ".
_LED = (
    r"^(?!.+\b(?:below|above|following)\b)(?:[\w ]{2,40}: )?"
    r"(?:if|when|for|in|to|by|after|before|on|unless|where|once|as|whenever|with|within|instead"
    r"|ideally|generally)\b(?! you (?:would like|want|wish|need)\b)[^:,]{0,120}, "
)
# "Cache versions are internal": a noun, and no imperative.
_NO_NOUN = r"(?! (?:[\w-]+ )?(?:is|are|was|were|has|have|can|may|will|must|should)\b)"
_ADVERB = r"(?:please |always |also |only |explicitly |generally |usually |just )?"
_IMPERATIVE = (
    r"(?:use|avoid|prefer|keep|write|put|place|separate|group|sort|declare|define|document|include"
    r"|run|ensure|make sure|capitali[sz]e|format|wrap|follow|treat|handle|import|mark|log"
    r"|store|extract|split|remove|replace|qualify|specify|leave|explain|describe"
    r"|provide|create|implement|minimi[sz]e|reuse|align|indent|omit|respect|annotate|validate"
    r"|escape|quote|add|pass|limit|branch|name|fix|squash|rebase|return|throw|raise|mock|test|cover"
    r"|verify|enforce|configure|set|apply|choose|stick to|start|end|require|reject|saniti[sz]e"
    r"|encrypt|nest|export|expose|hide|cache|retry|measure|replace|record|state|mention|check)"
)

# Requirements and conventions
ENGLISH: tuple[Rule, ...] = (
    make_rule(
        "en.must",
        "requirement",
        85,
        ANYWHERE,
        "must |shall ",
        # Inside of a sentence, "when" leads a clause that rules nothing: "when jobs must wait".
        # "To mend it, you must" is a step, "must already exist" a precondition.
        r"^(?!.+\b(?:when|where|because|once) [^,;:]{1,40} (?:must|shall)\b)"
        r"(?!to [^,;:]{2,80}, you\b).*?"
        + _RELATIVE
        + r"\b(?:must|shall)!?(?: not| never| always| also| only| first| still| all| both"
        r"| either| explicitly| therefore)? "
        r"(?!already\b|have been\b|have had\b|admit\b|confess\b|say\b|see\b|\w+ish\b)"
        r"(?![a-z]+(?<!exist)(?<!fail)(?<!pass)(?<!match)(?<!agree)(?<!succeed)(?<!wait)(?<!differ)"
        + _END
        + r")[a-z]{2,}",
    ),
    make_rule(
        "en.rfc_word",
        "requirement",
        80,
        ANYWHERE,
        "!",
        r"\b(?:should|shall|must)!|\b(?:is|are) (?:not )?recommended!",
    ),
    make_rule(
        "en.required_to",
        "requirement",
        75,
        ANYWHERE,
        "required|mandatory|forbidden|prohibited|permitted|allowed",
        r"(?<!not )(?<!that )(?<!which )\b(?:is|are|becomes?) (?:strictly |always )?"
        r"(?:required to(?! (?:build|run|install|compile|use|start)\b)|mandatory|forbidden"
        r"|prohibited|not permitted|never allowed)\b",
    ),
    make_rule(
        "en.required",
        "requirement",
        60,
        GUIDANCE,
        "required|allowed|accepted| to ",
        r"^(?!.*\b(?:no|if|when|where|unless|once)\b.*\brequired\b)(?!in case |as ).{2,200}"
        + _RELATIVE
        + r"(?<!no )(?<!only )\b(?:is|are) (?:strictly |always |also )?"
        r"(?:required|not allowed|disallowed|not accepted)\b",
        r"^(?:all|every|each|any|new) [a-z `-]{2,40} (?:needs? to|has to|have to)\b",
    ),
    make_rule(
        "en.may_only",
        "requirement",
        60,
        GUIDANCE,
        "may only |may not ",
        r"^(?!you |it |this |there |we |that ).{2,160}\bmay (?:only (?!be (?:seen|found)\b)"
        r"|not be [a-z]{2,20}ed\b)",
    ),
    make_rule(
        "en.has_to_be",
        "requirement",
        60,
        RULES_PLACE,
        " to be ",
        r"^(?:all|every|each|any|both|new|the) [^,;:]{2,80}\b(?:has|have|needs?) to be "
        r"[a-z]{2,20}(?:ed|en)\b",
    ),
    make_rule("en.never", "requirement", 75, ANYWHERE, "never ", _BARE + r"never " + _VERB),
    make_rule("en.always", "convention", 70, ANYWHERE, "always ", _BARE + r"always " + _VERB),
    make_rule(
        "en.do_not",
        "convention",
        65,
        GUIDANCE,
        "do not |don't ",
        r"^(?:please,? )?(?:do not|don't) (?!" + _SOFT + r")[a-z]{2,}",
    ),
    make_rule(
        "en.prefer",
        "convention",
        65,
        GUIDANCE,
        "prefer |avoid |favo",
        r"^(?:please )?(?:prefer|avoid|favou?r) (?!unless\b|if\b|when\b|it\b|this\b|that\b)[\w`]",
    ),
    make_rule(
        "en.use_instead",
        "convention",
        65,
        ANYWHERE,
        "use ",
        r"^(?:please )?use [^.]{2,120}\b(?:instead of|rather than|, not|, never) ",
    ),
    make_rule(
        "en.only_use",
        "convention",
        55,
        GUIDANCE,
        "only",
        r"^(?:please )?(?:only use\b|use [^.;:]{2,120}\bonly\b)",
    ),
    make_rule(
        "en.by_convention",
        "convention",
        75,
        ANYWHERE,
        "convention|standard|policy|rule",
        r"\b(?:by convention,|the convention is\b|our (?:convention|standard|policy|rule) is\b"
        r"|as a (?:rule|matter of policy),? we\b|rule of thumb(?: is|:))",
    ),
    make_rule(
        "en.we_do",
        "convention",
        65,
        GUIDANCE,
        "we ",
        r"\bwe (?:always|never|require|enforce|prefer|avoid|follow|adhere to|stick to)\b",
        r"\bwe (?:do not|don't|only) (?:use|allow|accept|support|merge|commit|add|write|rely)\b",
    ),
    make_rule(
        "en.we_use",
        "convention",
        60,
        RULES_PLACE,
        "we use ",
        r"^we use (?!it\b|this\b|that\b|these\b|those\b|the following\b)",
    ),
    make_rule(
        "en.preferred",
        "convention",
        60,
        GUIDANCE,
        "preferred|recommended|encouraged|discouraged",
        r"\bit is (?:preferred|recommended|encouraged|discouraged) "
        r"(?:to (?!read\b|see\b|have\b)|that\b)",
    ),
    make_rule(
        "en.invariant",
        "convention",
        75,
        ANYWHERE,
        "invariant",
        r"^(?:architectur\w+ |design )?invariants? ?:",
    ),
    make_rule(
        "en.imperative",
        "convention",
        45,
        RULES_PLACE,
        "",
        r"^(?!.+\b(?:below|above|following)\b)(?:[\w ]{2,40}: )?"
        + _ADVERB
        + _IMPERATIVE
        + _NO_NOUN
        + r"\b(?! (?:it|this|that|these|those|them)\b)[ `]",
        # What is meant by "it" has just been said here.
        _LED + _ADVERB + _IMPERATIVE + _NO_NOUN + r"\b[ `]",
    ),
    make_rule(
        "en.please",
        "convention",
        55,
        GUIDANCE,
        "please ",
        r"(?:^|, )please (?:always |only |also )?(?:use|follow|keep|avoid|add|write|include"
        r"|ensure|make sure|prefer|put|place|limit|update|run|squash|rebase|sign|name|document)\b",
    ),
    make_rule(
        "en.should_have",
        "convention",
        50,
        GUIDANCE,
        "should have ",
        r"^(?!you |it |this |they )[^,;:.]{2,80}(?<!\byou )\bshould have (?!been\b|to\b)",
    ),
    make_rule(
        "en.should",
        "convention",
        55,
        GUIDANCE,
        "should ",
        _RELATIVE
        + _PRONOUN
        + r"(?<!^)(?<!\u2014 )(?<!- )\bshould(?: not| never| always| also| only| generally)? "
        + r"(?!(?:now|see|work|look|suffice|help|have|get|take|give|just|already|survive"
        + r"|continue|expect|trigger|be (?:able|enough|sufficient|fine|ok|obvious|noted|possible"
        + r"|familiar|aware))\b)(?![a-z]+"
        + _END
        + r")[a-z]{2,}",
        r"\byou should (?:always|never|not)\b",
    ),
)

RULES: tuple[Rule, ...] = (*CHOICES, *ENGLISH, *TURKISH)

# An entry of a roadmap needs no verb: its heading says that it is planned.
PLANNED_ITEM = make_rule("planned_item", "plan", 40, ANYWHERE, "", "")
