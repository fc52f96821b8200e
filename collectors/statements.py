"""Statements of a document that may become candidates: requirements, decisions and conventions.

Everything here is by rule and favours precision: what is unsure is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.sentences import Sentence, sentences
from collectors.statement_addressees import INSTRUCTION_LIKE
from collectors.statement_doubts import (
    DONE,
    NO_PLAN,
    NOT_IN_FORCE,
    NOT_STANDING_ALONE,
    PLACEHOLDER,
    QUESTION,
)
from collectors.statement_places import Place, Places
from collectors.statement_rule import Rule, folded
from collectors.statement_rules import EXTRACTOR_REVISION, PLANNED_ITEM, RULES
from collectors.subjects import subject_of
from collectors.values import Document, Segment, Statement

__all__ = ["EXTRACTOR_REVISION", "find_statements"]

MAX_STATEMENTS = 20
MIN_CHARS, MAX_CHARS = 20, 400
MIN_WORDS = 3
MIN_WORDS_OF_IMPERATIVES = 4  # a shorter one is as likely a title
_LIKE_TITLES = frozenset({"en.imperative", "en.intended"})
# In a numbered list these are as likely the steps of a procedure, unless its heading says rules.
_OF_STEPS = frozenset({"en.imperative", "tr.imperative", "tr.rule"})


def find_statements(document: Document, most: int = MAX_STATEMENTS) -> list[Statement]:
    """At most that many of a document, the strongest, in the order they stand in it."""
    places = Places(document)
    if places.is_skipped:
        return []
    # The same words are told once, but apart where they stand as a rule here and as a plan there.
    found: dict[tuple[str, str], tuple[int, Statement]] = {}
    for segment in document.segments:
        if segment.kind not in {"paragraph", "list"} or segment.is_truncated:
            continue
        place = places.of(segment.heading_path)
        if place is None:
            continue
        for strength, statement in _of_segment(segment, place, document.is_instruction_file):
            key = (statement.text.casefold(), statement.modality)
            found.setdefault(key, (strength, statement))
    strongest = sorted(found.values(), key=lambda pair: (-pair[0], pair[1].start))[:most]
    return sorted((statement for _, statement in strongest), key=lambda one: one.start)


def _of_segment(
    segment: Segment, place: Place, is_instruction_file: bool
) -> Iterator[tuple[int, Statement]]:
    for base, text, is_cut in _readable(segment):
        for sentence in sentences(text, is_list=segment.kind == "list"):
            if is_cut and not text[sentence.end :].strip():
                continue
            rule = _rule_for(sentence, place)
            if rule is None:
                continue
            flags = ["UNTRUSTED_INSTRUCTIONS"] if is_instruction_file else []
            if INSTRUCTION_LIKE.search(folded(sentence.text)):
                flags.append("INSTRUCTION_LIKE")
            start = base + len(text[: sentence.start].encode())
            modality = place.modality or rule.modality
            yield (
                rule.strength + 5 * place.is_guidance,
                Statement(
                    text=" ".join(sentence.text.split()),
                    type=rule.type,
                    modality="PLAN" if sentence.is_open_task else modality,
                    rule=rule.name,
                    start=start,
                    end=start + len(sentence.text.encode()),
                    subject=subject_of(sentence, rule, segment.heading_path),
                    flags=tuple(flags),
                ),
            )


def _readable(segment: Segment) -> Iterator[tuple[int, str, bool]]:
    """Text whose bytes are the original's: byte offset in the revision, text, cut at its end.

    Around a redaction only the text before the first and after the last one has certain offsets;
    after the last one reading starts at the next line.
    """
    content, redactions = segment.content, segment.redactions
    parts = [(segment.start, content, False)]
    if redactions:
        before = min(redaction.start for redaction in redactions) - segment.start
        rest = content[len(content) - max(0, segment.end - max(one.end for one in redactions)) :]
        line = rest.partition(b"\n")[2]
        parts = [(segment.start, content[: max(0, before)], True)]
        parts.append((segment.end - len(line), line, False))
    for base, part, is_cut in parts:
        text = part.decode("utf-8")
        # Same length, so offsets hold; a line end is one LF from here on.
        yield base, text.replace("\r\n", "\t\n").replace("\r", "\n"), is_cut


def _rule_for(sentence: Sentence, place: Place) -> Rule | None:
    if not sentence.is_whole or not MIN_CHARS <= len(sentence.text) <= MAX_CHARS:
        return None
    text = folded(sentence.mask)
    matching = [
        rule
        for rule in RULES
        if place.believes(rule)
        and not (sentence.is_step and not place.numbers_rules and rule.name in _OF_STEPS)
        and (rule.name not in _LIKE_TITLES or text.count(" ") >= MIN_WORDS_OF_IMPERATIVES)
        and rule.matches(text)
    ]
    is_entry = sentence.is_item and sentence.is_lead and not sentence.is_done_task
    if place.is_roadmap and is_entry and not NO_PLAN.search(text):
        matching.append(PLANNED_ITEM)
    if not matching or len(text.split()) < MIN_WORDS or PLACEHOLDER.search(sentence.mask):
        return None
    if any(doubt.search(text) for doubt in (NOT_STANDING_ALONE, QUESTION, NOT_IN_FORCE)):
        return None
    if DONE.search(sentence.text):
        return None
    return max(matching, key=lambda rule: rule.strength)
