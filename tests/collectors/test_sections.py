"""What happened to sections between two versions of a document, and to their sentences."""

from __future__ import annotations

import pytest

from collectors.documents import read_document
from collectors.policy import Policy
from collectors.replaced import plain_text, replaced_sentences, sentence_key, sentence_keys
from collectors.sections import OwnSection, compare_sections, match_across, own_sections
from collectors.values import Document

POLICY = Policy(redaction_key=b"k" * 32)
KEYS = "## Keys\n\nKeys must be kept for 30 days. Nothing else is kept of a refund.\n"
RETRIES = "## Retries\n\nA retry must reuse the first key of its refund.\n"
NAMES = "## Names\n\nFunctions are named by verb and noun.\n"


def text(*parts: str) -> str:
    return "\n".join(["# Rules\n", *parts])


BEFORE = text(KEYS, RETRIES, NAMES)


def read(content: str) -> tuple[Document, list[OwnSection]]:
    document = read_document(b"a.md", "0" * 40, content.encode(), POLICY)
    return document, own_sections(document, content.encode())


def deltas(before: str, after: str) -> list[tuple[str, str | None, str | None]]:
    found = compare_sections(read(before)[1], read(after)[1])
    return [
        (one.kind, one.old.heading if one.old else None, one.new.heading if one.new else None)
        for one in found
    ]


UNCHANGED = {
    "nothing": BEFORE,
    "line ends": BEFORE.replace("\n", "\r\n"),
    "wrapping": BEFORE.replace("be kept for", "be\nkept for"),
    "blank lines": BEFORE.replace("\n\n", "\n\n\n"),
}


@pytest.mark.parametrize("after", UNCHANGED.values(), ids=UNCHANGED)
def test_spacing_is_no_change(after: str) -> None:
    assert deltas(BEFORE, after) == []


CHANGES = {
    "another number": (BEFORE.replace("30", "90"), ("CHANGED", "Keys", "Keys")),
    "another order": (text(RETRIES, KEYS, NAMES), ("MOVED", "Keys", "Keys")),
    "under another heading": (
        BEFORE.replace("## Names", "### Names"),
        ("MOVED", "Names", "Names"),
    ),
    "another heading": (
        BEFORE.replace("## Names", "## Naming"),
        ("RENAMED_HEADING", "Names", "Naming"),
    ),
    "another title": (
        BEFORE.replace("# Rules", "# Our rules", 1),
        ("RENAMED_HEADING", "Rules", "Our rules"),
    ),
    "another heading and another text": (
        BEFORE.replace("## Names\n\nFunctions", "## Naming\n\nAll functions"),
        ("CHANGED", "Names", "Naming"),
    ),
    "less": (text(KEYS, NAMES), ("REMOVED", "Retries", None)),
    "more": (BEFORE + "\n## More\n\nx\n", ("ADDED", None, "More")),
    "the same heading once more": (
        text(KEYS, RETRIES, "## Names\n\nAlso this.\n", NAMES),
        ("ADDED", None, "Names"),
    ),
}


@pytest.mark.parametrize(("after", "expected"), CHANGES.values(), ids=CHANGES)
def test_each_change_is_told_once(after: str, expected: tuple[str, str | None, str | None]) -> None:
    assert deltas(BEFORE, after) == [expected]


def test_what_is_below_a_renamed_heading_did_not_change() -> None:
    before = "# A\n\n## B\n\n### C\n\nshort\n\n### D\n\nA text that is long enough to know again.\n"
    assert deltas(before, before.replace("# A", "# Z", 1)) == [("RENAMED_HEADING", "A", "Z")]
    assert deltas(before, before.replace("## B", "## Y", 1)) == [("RENAMED_HEADING", "B", "Y")]


def test_a_section_of_a_document_that_is_in_another_now_was_moved() -> None:
    old = compare_sections(read(BEFORE)[1], read(text(KEYS, NAMES))[1])
    new = compare_sections([], read(RETRIES)[1])
    found = match_across([*((0, one) for one in old), *((1, one) for one in new)])
    assert [(a, b, one.kind) for a, b, one in found] == [(0, 1, "MOVED")]


def replaced(before: str, after: str) -> list[tuple[str, int]]:
    (old_document, old), (new_document, new) = read(before), read(after)
    texts = plain_text(old_document), plain_text(new_document)
    return [
        (before.encode()[one.start : one.end].decode(), one.key)
        for delta in compare_sections(old, new)
        if delta.kind == "CHANGED" and delta.old and delta.new
        for one in replaced_sentences(delta.old, delta.new, *texts)
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_changed_sentence_names_the_one_it_replaced(end: str) -> None:
    before = BEFORE.replace("\n", end)
    expected = ("Keys must be kept for 30 days.", sentence_key("Keys must be kept for 90 days."))
    assert replaced(before, before.replace("30", "90")) == [expected]


def test_a_sentence_of_another_matter_replaces_nothing() -> None:
    after = BEFORE.replace("Keys must be kept for 30 days.", "Amounts are whole cents.")
    assert replaced(BEFORE, after) == []


def test_a_new_sentence_beside_the_old_ones_replaces_nothing() -> None:
    assert replaced(BEFORE, BEFORE.replace("refund.\n", "refund. It must be logged.\n")) == []


def test_a_sentence_that_only_moved_is_not_replaced() -> None:
    moved = "Nothing else is kept of a refund."
    after = BEFORE.replace(f" {moved}", " Nothing else is kept of an order.").replace(
        "verb and noun.", f"verb and noun. {moved}"
    )
    assert replaced(BEFORE, after) == []


def test_the_key_of_a_sentence_ignores_its_wrapping() -> None:
    document, _ = read(BEFORE.replace("kept for", "kept\nfor"))
    assert sentence_key("Keys must be kept for 30 days.") in sentence_keys(document)
