"""What a statement is about, as a key: statements of equal keys are worth comparing."""

from __future__ import annotations

import re

from collectors.sentences import Sentence
from collectors.statement_rules import Rule

_MODAL = re.compile(
    r"\b(?:must|shall|should|(?:is|are) (?:required|mandatory|forbidden))\b", re.IGNORECASE
)
_DETERMINERS = frozenset({
    "the", "a", "an", "all", "every", "each", "any", "both", "our", "your", "its", "new", "please",
})  # fmt: skip
_VAGUE = frozenset({
    "you", "we", "it", "they", "this", "that", "these", "those", "i", "one", "everyone", "there",
    "what", "which", "who", "if", "when", "because", "while", "since", "after", "before", "unless",
    "once", "where", "as", "for", "in", "on", "with", "to", "now", "rule", "note",
})  # fmt: skip
_FOR = re.compile(r"\bfor ([a-z][a-z -]{2,40})\W{0,3}$", re.IGNORECASE)


def subject_of(sentence: Sentence, rule: Rule, heading_path: tuple[str, ...]) -> str:
    """The key, or empty where no simple rule tells it."""
    if rule.name in {"en.chosen_option", "en.decision_section", "tr.decision_section"}:
        return _key(heading_path[0]) if heading_path else ""
    modal = _MODAL.search(sentence.mask)
    if modal is not None:
        return _noun_phrase(sentence.text[: modal.start()])
    purpose = _FOR.search(sentence.mask)
    return _noun_phrase(sentence.text[purpose.start(1) : purpose.end(1)]) if purpose else ""


def _noun_phrase(text: str) -> str:
    words = _key(text).split()
    while words and words[0] in _DETERMINERS:
        words.pop(0)
    if not 1 <= len(words) <= 4 or any(word in _VAGUE for word in words):
        return ""
    return " ".join(words)


def _key(text: str) -> str:
    return " ".join(re.findall(r"[\w./@-]+", text.casefold()))[:120]
