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

# Text that speaks to an AI rather than to the people of the project.
INSTRUCTION_LIKE = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^.]{0,30}\b(?:instructions?|prompts?|rules)\b"
    r"|\byou are an? [\w -]{0,40}\b(?:ai|assistant|agent|expert|llm|model|engineer|developer)\b"
    r"|\b(?:ai|llms?|agents?|assistants?|copilot|claude|chatgpt|gpt|gemini|cursor|codex)"
    r"(?: (?:agents?|assistants?|models?|tools?))? "
    r"(?:must|should|shall|will|may|can|has to|have to)\b"
    r"|\b(?:as an ai|language model|system prompt|do not tell the user|tell the user|coding agents?"
    r"|ai (?:agents?|assistants?)|the user's (?:request|prompt|message))\b"
    r"|\b(?:yapay zek[aâ]|önceki (?:talimatlar|yönergeler)|kullaniciya söyleme|dil modeli)"
)
