"""What makes a sentence no statement although a rule matches it, or one to be marked.

Patterns are searched in `folded` text, but for PLACEHOLDER.
"""

from __future__ import annotations

import re

# A sentence that leans on another one or on an example says no rule by itself.
NOT_STANDING_ALONE = re.compile(
    r"^\W{0,6}(?:"
    r"it (?!(?:is|was|has been) (?:decided|agreed|proposed|forbidden|mandatory|preferred"
    r"|recommended|encouraged|discouraged)\b)"
    r"|(?:they|he|she|which|there|here|those|these|its|both these|both of these) "
    r"|(?:this|that) (?:[\w-]+ )?should\b"
    r"|(?:this|that) (?:must|should|shall|\w+n't|is|was|will|can|may|does|did|has|means|includes"
    r"|allows|ensures|makes|gives|requires|lets|helps|implies)\b"
    r"|(?:must|should|shall|otherwise|for (?:example|instance)|e\.g|imagine|suppose|let's|but|and"
    r"|or|so|then|because|i|maybe|perhaps|consider|considering|same|also|see|worth)\b"
    r"|in this (?:case|example)\b|note that this\b"
    r"|(?:örnek|örneğin|mesela|aksi (?:halde|takdirde)|ama|fakat|ve|bu yüzden|bu durumda"
    r"|o zaman)\b)"
    r"|^the key words\b|\brfc ?2119\b"  # tells how to read "must", and rules nothing itself
    # Somebody else's words.
    r"|^[\"\u201c][^\"\u201d]{40}"
)

# A question, or a rule that is only spoken of: "how it should work", "they know that it must".
QUESTION = re.compile(
    r"\?\W{0,3}$|^\W{0,3}(?:should|shall|must) (?:we|i|it|this|the)\b"
    r"|\b(?:whether|how|why|what|where|which) [\w' `./-]{1,60} (?:should|must|shall)\b"
    r"|\bif [^,;:]{1,80} (?:should|must|shall)\b"
    r"|(?<!note )\bthat [^,;:.]{1,50} (?:must|shall)\b"
    r"|^[qa]: |\bas an example\b"
)

# A mark that what stands in a list is done.
DONE = re.compile(r"^\s*(?:\u2705|\u2714|\u2611|~~)|\u2705\W*$|\u2611\W*$")

# What stands in a roadmap's list and is done, holds today or depends on something.
NO_PLAN = re.compile(
    r"^(?:added|fixed|implemented|created|updated|removed|completed)\b|^(?:if|when)\b"
    r"|(?:[iuü]yor|[td][iuü]|miş(?:tir)?|s[ae](?:niz|k)?)\W*$"
)

# A form still to be filled in.
PLACEHOLDER = re.compile(
    r"\{[^{}`]{2,80}\}|\[(?:insert|your|name|describe|todo)\b|\bTODO\b|\bTBD\b"
)

# How things were, or what somebody said or supposes; searched beside QUESTION.
NOT_IN_FORCE = re.compile(
    # "In version 1, ...", "Originally, ...": what held once.
    r"^\W{0,3}(?:(?:in|until|before|up to|prior to|with) (?:the )?(?:(?:old|early|earlier|previous"
    r"|first|last) )?(?:versions?|releases?|v)\b"
    r"|(?:in|until|before) (?:the past|19\d\d|20\d\d)\b"
    r"|previously|formerly|originally|historically|traditionally|back then|in the past"
    r"|(?:initially|at first)\b(?!.*\bwill\b)|once upon|years ago|according to\b)"
    r"|\bused to (?:be|say|have|require|mean)\b"
    # Somebody said it.
    r"|\b(?:said|stated|claimed|claims|argued|argues|thought|believed|assumed|assumes|insisted"
    r"|wrote|suggested|mentioned|demanded|says)\b[^,;:.]{1,100} (?:must|shall|should)\b"
    r"|(?:,|\u2014|-|\") (?:as )?(?:said|says|wrote|writes|claimed|argued|according to|told)\b"
    r"[^;:.]{2,80}\W*$"
    r"|\b(?:is|was) (?:what|how) [^,;:]{2,80} (?:said|says|wrote|demanded|required|claimed|thought"
    r"|wanted|put it|was|were)\W*$"
    r"|\bused to\W*$|\b(?:is|was|were) the (?:old|former|previous) (?:rule|policy|convention)\b"
    # Somebody infers it.
    r"|^\W{0,3}(?:the|an?|some(?:thing|one|body)|this|that|my|his|her|their|you|i|he|she|we|they)"
    r"\b(?!.*\b(?:before|prior to|in order|at least|until|by the time)\b)[^,;:.]{0,80}"
    r" must have (?:\w+ly )?(?:\w{2,}ed|gone|come|seen|lost|forgotten|taken|got|gotten|left|made"
    r"|known|fallen|broken|happened|run|hit|crept|slipped)\b"
    r"|\bmust have \w+ (?:because|since|somehow|somewhere|yesterday)\b"
    r"|\bmust (?:all |surely |really )?be (?:wondering|thinking|asking (?:yoursel|themsel)|kidding"
    r"|joking|feeling|dreaming|confus(?:ed|ing)|mistaken|tired|crazy|curious|happy|glad|excited"
    r"|somewhere|something|someone|some kind|it\b|nice|fun|hard)"
    r"|\bmust [^,;:]{1,60} (?:today|tonight|right now|by now|somehow)\W*$"
    # The same in Turkish.
    r"|\b(?:\w+(?:m[iuü]ş|[iuü]yor|makta|mekte) olmali)"
    r"|\b(?:bugün|dün|şimdi|herhalde|galiba|muhtemelen|sanirim|belki|bu sabah|bu akşam)\b"
    r".{0,80}\bolmali\W*$"
    r"|^\W{0,3}(?:eskiden|önceden|geçmişte|başlangiçta|ilk sürüm\w*|eski sürüm\w*"
    r"|(?:sürüm|versiyon) \d+'?[dt][ea])\b"
    r"|\b(?:diyordu|deniyordu|yaziyordu|söylemişti|demişti|söylüyordu|gerekiyordu|zorunluydu)\b"
)
