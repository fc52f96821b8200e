"""What we wrote into a project's file is not read back as the project's words."""

from __future__ import annotations

from collectors.documents import read_document
from collectors.policy import Policy
from collectors.values import Document, GapReason

POLICY = Policy(redaction_key=b"k" * 32)
OWN = b"<!-- codememory:begin -->\n# Memory\n\nAsk first.\n\n- one\n<!-- codememory:end -->\n"


def read(content: bytes) -> Document:
    return read_document(b"AGENTS.md", "0" * 40, content, POLICY)


def words(document: Document) -> bytes:
    return b" ".join(segment.content for segment in document.segments)


def test_the_block_is_left_out_and_the_rest_is_read() -> None:
    document = read(b"# Rules\n\nFirst.\n\n" + OWN + b"\nLast.\n")
    assert words(document) == b"# Rules First. Last."
    assert [section.heading for section in document.sections] == ["Rules"]


def test_what_follows_the_block_at_once_is_read() -> None:
    assert words(read(b"First.\n" + OWN + b"Last.\n")) == b"First. Last."


def test_a_gap_lists_each_block_with_its_lines() -> None:
    (gap,) = read(b"First.\n\n" + OWN + b"\ntext\n\n" + OWN).gaps
    assert gap.reason is GapReason.EXCLUDED
    assert gap.detail == "codememory's own block, lines 3-9, 13-19"


def test_a_mark_that_nothing_closes_hides_nothing() -> None:
    document = read(b"<!-- codememory:begin -->\n\nFirst.\n")
    assert b"First." in words(document)
    assert document.gaps == ()


def test_a_mark_inside_code_is_none() -> None:
    assert b"Ask first." in words(read(b"```\n" + OWN + b"```\n"))
