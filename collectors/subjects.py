"""What a statement is about, as a key: statements of equal keys are worth comparing."""

from __future__ import annotations

import re

from collectors.sentences import Sentence
from collectors.statement_rule import Rule

_MODAL = re.compile(
    r"\b(?:must|shall|should|(?:is|are) (?:required|mandatory|forbidden))\b", re.IGNORECASE
)
_DETERMINERS = frozenset({
    "the", "a", "an", "all", "every", "each", "any", "both", "our", "your", "its", "new", "please",
    "then",
})  # fmt: skip
_VAGUE = frozenset({
    "you", "we", "it", "they", "this", "that", "these", "those", "i", "one", "everyone", "there",
    "what", "which", "who", "if", "when", "because", "while", "since", "after", "before", "unless",
    "once", "where", "as", "for", "in", "on", "with", "to", "now", "rule", "note",
})  # fmt: skip
_OPENINGS = frozenset({
    "by", "in", "for", "when", "if", "on", "with", "as", "to", "from", "whenever", "after",
    "before", "once", "unless", "where", "therefore", "additionally", "thus", "hence", "however",
    "finally", "currently", "generally", "ideally",
})  # fmt: skip
_PURPOSE = re.compile(r"\bfor ([a-z][a-z -]{2,40})\W{0,3}$", re.IGNORECASE)
_WITH_PURPOSE = frozenset({"en.use_instead", "en.we_do", "en.decided", "en.prefer"})
_OF_THE_DOCUMENT = frozenset({"en.chosen_option", "en.decision_section", "tr.decision_section"})


def subject_of(sentence: Sentence, rule: Rule, heading_path: tuple[str, ...]) -> str:
    """The key, or empty where no simple rule tells it."""
    if rule.name in _OF_THE_DOCUMENT:
        return _key(heading_path[0]) if heading_path else ""
    modal = _MODAL.search(sentence.mask)
    if modal is not None:
        return _noun_phrase(sentence.text[: modal.start()])
    purpose = _PURPOSE.search(sentence.mask) if rule.name in _WITH_PURPOSE else None
    return _noun_phrase(sentence.text[purpose.start(1) : purpose.end(1)]) if purpose else ""


def _noun_phrase(text: str) -> str:
    """What stands before the verb, without a label ("Rule:") or an opening ("By default,")."""
    text = re.sub(r"\]\([^()]*\)", "", text)  # the target of a link
    text = re.split(r":\s|:?\*\*|\u2014", text.strip(" *_"))[-1]
    opening, _, rest = text.partition(",")
    if rest and _key(opening).split(" ")[0] in _OPENINGS:
        text = rest
    words = _key(text).split()
    while words and words[0] in _DETERMINERS:
        words.pop(0)
    if not 1 <= len(words) <= 4 or any(word in _VAGUE for word in words):
        return ""
    return " ".join(words)


def _key(text: str) -> str:
    """Words and identifiers in lower case, shortened."""
    found = (word.strip("./-") for word in re.findall(r"[\w./@-]+", text.casefold()))
    return " ".join(word for word in found if word)[:120]
