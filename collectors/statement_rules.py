"""The table of rules by which a sentence is a statement; `statements.py` applies it.

Patterns are searched in a sentence's mask when it is `folded`; none nests its quantifiers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

EXTRACTOR_REVISION = 1  # raised with every change of what is found


class Where(StrEnum):
    """Where a rule is believed."""

    ANYWHERE = "ANYWHERE"
    GUIDANCE = "GUIDANCE"  # documents and sections that say how the project is worked on
    DECISION = "DECISION"  # sections that hold a decision


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    type: str
    modality: str
    strength: int  # the strongest statements of a document are kept
    where: Where
    needs: tuple[str, ...]  # one of these must occur before the pattern is tried
    pattern: re.Pattern[str]

    def matches(self, folded: str) -> bool:
        for need in self.needs:  # a loop and no generator: this runs for every sentence
            if need in folded:
                return self.pattern.search(folded) is not None
        return False


_SHOUTED = re.compile(r"\b(SHOULD|SHALL|MUST)\b")
_LETTERS = str.maketrans({"\u0131": "i", "\u0307": None, "\u2019": "'"})


def folded(text: str) -> str:
    """What patterns are searched in: lower case, one kind of i, single spaces.

    A modal verb in capitals, as RFC 2119 has it, is kept apart by a "!" behind it.
    """
    lower = _SHOUTED.sub(r"\1!", text).lower()
    return " ".join((lower if lower.isascii() else lower.translate(_LETTERS)).split())


def _rule(
    name: str, kind: str, strength: int, where: Where, needs: str, *alternatives: str
) -> Rule:
    modality = kind.upper()
    type_ = "decision" if kind in {"plan", "proposal"} else kind
    pattern = re.compile("|".join(alternatives))
    return Rule(name, type_, modality, strength, where, tuple(needs.split("|")), pattern)


ANYWHERE, GUIDANCE, DECISION = Where.ANYWHERE, Where.GUIDANCE, Where.DECISION

# "do not worry" comforts the reader and rules nothing.
_SOFT = (
    r"(?:worry|forget|hesitate|panic|miss|feel|be|have|need|think|know|see|care|mind|expect|let"
    r"|get|want|fret|take)\b"
)
# A modal verb in a relative or an indirect clause describes: "the options that must be set".
_RELATIVE = r"(?<!\bthat )(?<!\bwhich )(?<!\bwho )(?<!\bwhat )(?<!\bif )(?<!\bwhether )"
_PRONOUN = r"(?<!\byou )(?<!\bthis )(?<!\bit )(?<!\bthey )(?<!\band )(?<!\bwe )(?<!\bi )"
_END = r"\W{0,3}$"
_BARE = r"^(?:please,? )?"
# An imperative, no participle: "never embed", but not "never referenced".
_VERB = r"(?!mind\b)[a-z]{2,}\b(?:(?<!ed)|(?<=embed)|(?<=feed)|(?<=ceed)|(?<=shed))"

RULES: tuple[Rule, ...] = (
    # Decisions
    _rule("en.chosen_option", "decision", 95, ANYWHERE, "chosen option", r"^chosen option\b\W"),
    _rule(
        "en.decided",
        "decision",
        90,
        ANYWHERE,
        "decided|decision|chose|opted|agreed|settled|standardi|adopted",
        r"\bwe(?: have|'ve)?(?: also| therefore| finally)? "
        r"(?:decided (?:to|that|on|against)|chosen to|chose to|opted (?:to|for)|agreed (?:to|on)"
        r"|settled on|standardi[sz]ed on|adopted)\b",
        r"\bit (?:was|has been) (?:decided|agreed) (?:to|that)\b",
        r"\bthe decision (?:is|was)(?: made)? to\b",
    ),
    _rule(
        "en.decision_section",
        "decision",
        80,
        DECISION,
        "we |team |all |use |adopt |keep |store |write |implement |introduce |replace |switch ",
        r"^(?:so |therefore,? )?(?:we|the team|all [a-z ]{2,40}) "
        r"(?:(?:will|shall)(?! (?:revisit|see|need|have to|discuss|explain|consider|look)\b)"
        r"|are going to|do not|don't|use|keep|adopt|choose|chose|select|selected|store|write"
        r"|implement|accept(?! that\b)|reject|follow|split|move|replace|switch|standardi[sz]e)\b",
        r"^(?:use|adopt|keep|store|implement|introduce|replace|switch to) [a-z`]",
    ),
    _rule(
        "tr.decided",
        "decision",
        90,
        ANYWHERE,
        "karar|tercih|benimse|seçtik",
        r"\b(?:karar (?:verdik|verildi|verilmiştir|alindi|aldik)|kararlaştirildi|kararlaştirdik"
        r"|tercih ettik|tercih edildi|benimsedik|benimsendi|seçtik)" + _END,
    ),
    _rule(
        "tr.decision_section",
        "decision",
        80,
        DECISION,
        "ağiz|eceğiz|acaktir|ecektir|yoruz|seçil",
        r"\b\w{2,40}(?:acağiz|eceğiz|acaktir|ecektir)" + _END,
        r"\b(?:kullaniyoruz|seçiyoruz|benimsiyoruz|tercih ediyoruz|karar veriyoruz|geçiyoruz"
        r"|seçildi|seçilmiştir)" + _END,
    ),
    # Requirements
    _rule(
        "en.must",
        "requirement",
        85,
        ANYWHERE,
        "must |shall ",
        _RELATIVE + r"\b(?:must|shall)!?(?: not| never| always| also| only| first| still| all| both"
        r"| either| explicitly| therefore)? "
        r"(?!have been\b|have had\b|admit\b|confess\b|say\b|see\b|\w+ish\b)"
        r"(?![a-z]+(?<!exist)(?<!fail)(?<!pass)(?<!match)(?<!agree)(?<!succeed)(?<!wait)(?<!differ)"
        + _END
        + r")[a-z]{2,}",
    ),
    _rule("en.rfc_word", "requirement", 80, ANYWHERE, "!", r"\b(?:should|shall|must)!"),
    _rule(
        "en.required_to",
        "requirement",
        75,
        ANYWHERE,
        "required|mandatory|forbidden|prohibited|permitted|allowed",
        r"(?<!not )\b(?:is|are) (?:strictly |always )?(?:required to|mandatory|forbidden|prohibited"
        r"|not permitted|never allowed)\b",
    ),
    _rule(
        "en.required",
        "requirement",
        60,
        GUIDANCE,
        "required|allowed|accepted| to ",
        r"^(?!no |if |when |where |unless |in case |once |as ).{2,200}"
        + _RELATIVE
        + r"\b(?:is|are) (?:strictly |always )?(?:required|not allowed|disallowed|not accepted)\b",
        r"^(?:all|every|each|any|new) [a-z `-]{2,40} (?:needs? to|has to|have to)\b",
    ),
    _rule("en.never", "requirement", 75, ANYWHERE, "never ", _BARE + r"never " + _VERB),
    _rule(
        "tr.must",
        "requirement",
        85,
        ANYWHERE,
        "mali|meli",
        r"\b(?!temeli|emeli|ameli|kemali)\w{2,40}(?:mali|meli)(?:dir|yiz|siniz)?" + _END,
    ),
    _rule(
        "tr.required",
        "requirement",
        80,
        ANYWHERE,
        "zorun|şart|mecburi|gerek|yasak|izin verilmez",
        r"\b(?:zorunlu(?:dur)?|zorunda(?:dir|yiz|siniz)?|şart(?:tir)?|mecburidir|yasak(?:tir)?"
        r"|izin verilmez)" + _END,
    ),
    _rule(
        "tr.needed",
        "requirement",
        60,
        GUIDANCE,
        "gerek",
        r"\b(?:gerekir|gereklidir|gerekmektedir)" + _END,
    ),
    _rule(
        "tr.never",
        "requirement",
        75,
        ANYWHERE,
        "asla|hiçbir zaman|kesinlikle",
        r"\b(?:asla|hiçbir zaman|kesinlikle)\b.{2,250}(?:mayin|meyin|mayiniz|meyiniz|maz|mez)"
        + _END,
    ),
    # Conventions
    _rule("en.always", "convention", 70, ANYWHERE, "always ", _BARE + r"always " + _VERB),
    _rule(
        "en.do_not",
        "convention",
        65,
        GUIDANCE,
        "do not |don't ",
        r"^(?:please,? )?(?:do not|don't) (?!" + _SOFT + r")[a-z]{2,}",
    ),
    _rule(
        "en.prefer",
        "convention",
        65,
        GUIDANCE,
        "prefer |avoid |favo",
        r"^(?:please )?(?:prefer|avoid|favou?r) (?!unless\b|if\b|when\b|it\b|this\b|that\b)[\w`]",
    ),
    _rule(
        "en.use_instead",
        "convention",
        65,
        ANYWHERE,
        "use ",
        r"^(?:please )?use [^.]{2,120}\b(?:instead of|rather than|, not|, never) ",
    ),
    _rule(
        "en.by_convention",
        "convention",
        75,
        ANYWHERE,
        "convention|standard|policy|rule",
        r"\b(?:by convention,|the convention is\b|our (?:convention|standard|policy|rule) is\b"
        r"|as a (?:rule|matter of policy),? we\b|rule of thumb:)",
    ),
    _rule(
        "en.we_do",
        "convention",
        65,
        GUIDANCE,
        "we ",
        r"\bwe (?:always|never|require|enforce|prefer|avoid|follow|adhere to|stick to)\b",
        r"\bwe (?:do not|don't|only) (?:use|allow|accept|support|merge|commit|add|write|rely)\b",
        r"^we use\b",
    ),
    _rule(
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
    _rule(
        "tr.always",
        "convention",
        70,
        ANYWHERE,
        "her zaman|daima|mutlaka",
        r"\b(?:her zaman|daima|mutlaka) .{2,250}"
        r"(?:kullanin|edin|yazin|yapin|çaliştirin|ekleyin|tutun|olsun)(?:iz)?" + _END,
    ),
    _rule(
        "tr.convention",
        "convention",
        65,
        GUIDANCE,
        "kullan|yaz|yap|eklen|tutul|adlandir|isimlendir|tercih|kaçin|uyulur",
        r"\b(?:kullanin|kullanmayin|kullanilir|kullanilmaz|yazilir|yazilmaz|yapilir|yapilmaz"
        r"|eklenir|eklenmez|tutulur|tutulmaz|adlandirilir|isimlendirilir|tercih (?:edin|edilir"
        r"|ederiz)|kaçinin|kaçinilir|uyulur|kullaniyoruz|kullaniriz|kullanmayiz)" + _END,
    ),
    # What is only planned or proposed
    _rule(
        "en.plan",
        "plan",
        70,
        ANYWHERE,
        "plan|intend",
        r"\bwe(?: are|'re)? (?:also |currently )?(?:plan|planning|intend|intending) to\b",
        r"\b(?:is|are) planned (?:for|to|in)\b",
    ),
    _rule(
        "tr.plan",
        "plan",
        70,
        ANYWHERE,
        "planl|hedefliyoruz",
        r"\b(?:planliyoruz|planlaniyor|planlanmaktadir|planlandi|hedefliyoruz)" + _END,
    ),
    _rule(
        "en.propose",
        "proposal",
        70,
        ANYWHERE,
        "propose",
        r"\b(?:we|i) (?:would like to )?propose\b",
        r"^it is proposed\b",
    ),
    _rule(
        "tr.propose",
        "proposal",
        70,
        ANYWHERE,
        "öner",
        r"\b(?:öneriyoruz|öneriyorum|önerilmektedir)" + _END,
    ),
)
