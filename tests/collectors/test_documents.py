"""Reading a document: every range is one of its original bytes."""

# ruff: noqa: RUF001 (Turkish has a dotless i)

from __future__ import annotations

from hashlib import sha256

import pytest

from collectors.documents import (
    MAX_SEGMENT_BYTES,
    is_document,
    is_instruction_file,
    is_other_text,
    read_document,
)
from collectors.policy import Policy
from collectors.values import Document, GapReason, Section, Segment

POLICY = Policy(redaction_key=b"k" * 32)

ODD_DOCUMENTS = {
    "empty": b"",
    "blank": b" \n\t\n\x0c\n",
    "no newline at its end": b"# A\n\nlast words",
    "byte order mark": b"\xef\xbb\xbf# A\n\ntext\n",
    "crlf": b"# A\r\n\r\n- one\r\n- two\r\n\r\nend\r\n",
    "lone cr": b"# A\r\rtext\rmore\r\r- one\r- two",
    "mixed line ends": b"a\r\n\rb\n\r\nc\r",
    "tabs": b"-\tone\n\n\tmore\n\n\tcode\t\n",
    "form feed": b"one\n\x0c\ntwo\x0cthree\n\x0b\nfour\n",
    "emoji": "# 🚀 İlk\n\n👩‍👩‍👧 **ölçü** birimi\n\n> ığüşöç\n".encode(),
    "turkish": "Şu kural: ı, İ, ğ.\n=====\n\nÇıktı\n".encode(),
    "other unicode line ends": "a\u2028b\u0085c\n\nd\u2029e\n".encode(),
    "front matter": b"---\ntitle: x\n---\n# A\n\ntext\n",
    "front matter alone": b"---\ntitle: x\n---",
    "unclosed fence": b"text\n```\n# not a heading\n",
    "comment": b"<!-- a\n\nb -->\nc\n\n<div>\n\nd\n",
    "list broken by a fence": b"- a\n- b\n```\nx\n```\n> q\n- c\n1. d\n",
    "definitions": b"[a]: /u\n[b]: /v\n\ntext\n[c]: /w\n",
    "table": b"intro\n| a | b |\n|---|---|\n| 1 | 2 |\n\nafter\n",
    "setext": b"One\ntwo\n---\n\nThree\n===\n---\n",
    "long line": b"word " * 3000 + b"\n\nend",
    "long line of emoji": "🚀".encode() * 5000,
    "long list": b"".join(b"- item %d\n\n  more\n" % n for n in range(400)),
    "long paragraph": b"".join(b"line %d of it\r\n" % n for n in range(900)),
    "blank line in a long fence": b"```\n" + (b"x" * 90 + b"\n\n\n") * 200 + b"```\n",
    "long line of spaces": b"```\na\n" + b" " * 9000 + b"\nb\n```\n",
}


def _read(content: bytes, path: bytes = b"a.md") -> Document:
    return read_document(path, "0" * 40, content, POLICY)


def _lines_before(content: bytes, end: int) -> int:
    """Counts line ends by hand: CRLF, a lone CR and LF each are one."""
    count = 0
    for index in range(end):
        if content[index] == 0x0D or (
            content[index] == 0x0A and content[index - 1 : index] != b"\r"
        ):
            count += 1
    return count


@pytest.mark.parametrize("content", ODD_DOCUMENTS.values(), ids=ODD_DOCUMENTS)
def test_every_segment_is_a_range_of_the_original(content: bytes) -> None:
    for segment in _read(content).segments:
        assert segment.content == content[segment.start : segment.end]
        assert segment.sha256 == sha256(segment.content).digest()


@pytest.mark.parametrize("content", ODD_DOCUMENTS.values(), ids=ODD_DOCUMENTS)
def test_segments_do_not_overlap_and_leave_out_only_blanks(content: bytes) -> None:
    at = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    for segment in _read(content).segments:
        assert not content[at : segment.start].strip()
        assert at <= segment.start < segment.end
        at = segment.end
    assert not content[at:].strip()


@pytest.mark.parametrize("content", ODD_DOCUMENTS.values(), ids=ODD_DOCUMENTS)
def test_lines_agree_with_an_independent_counter(content: bytes) -> None:
    document = _read(content)
    parts: list[Segment | Section] = [*document.segments, *document.sections]
    for part in parts:
        assert part.first_line == _lines_before(content, part.start) + 1
        assert part.last_line == _lines_before(content, part.end) + 1


@pytest.mark.parametrize("content", ODD_DOCUMENTS.values(), ids=ODD_DOCUMENTS)
def test_no_segment_is_larger_than_its_limit(content: bytes) -> None:
    assert all(len(segment.content) <= MAX_SEGMENT_BYTES for segment in _read(content).segments)


@pytest.mark.parametrize("content", ODD_DOCUMENTS.values(), ids=ODD_DOCUMENTS)
def test_every_segment_lies_in_a_section_of_its_heading_path(content: bytes) -> None:
    document = _read(content)
    for segment in document.segments:
        assert any(
            section.heading_path == segment.heading_path
            and section.start <= segment.start
            and segment.end <= section.end
            for section in document.sections
        )


def test_sections_nest_as_their_headings_do() -> None:
    document = _read(b"intro\n\n# A\n\n## B\n\nx\n\n### C\n\n## D\n\n# E\n")
    assert [section.heading_path for section in document.sections] == [
        (),
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        ("E",),
    ]
    assert [(one.first_line, one.last_line) for one in document.sections] == [
        (1, 1),
        (3, 11),
        (5, 9),
        (9, 9),
        (11, 11),
        (13, 13),
    ]


def test_equal_headings_are_told_apart_by_their_ordinal() -> None:
    document = _read(b"# A\n## Use\n## Use\n# B\n## Use\n")
    uses = [(one.heading_path, one.ordinal) for one in document.sections if one.heading == "Use"]
    assert uses == [(("A", "Use"), 0), (("A", "Use"), 1), (("B", "Use"), 0)]


def test_a_heading_after_a_deeper_one_opens_at_its_own_level() -> None:
    document = _read(b"### Deep\n\n# Top\n\n### Low\n")
    assert [one.heading_path for one in document.sections] == [("Deep",), ("Top",), ("Top", "Low")]


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        (b"## C#", "C#"),
        (b"# A #", "A"),
        (b"# A ##  ", "A"),
        (b"   ###\tB", "B"),
        (b"#", ""),
        (b"# #", ""),
        (b"Two\r\nlines\r\n===", "Two lines"),
        ("İlk Başlık\n---".encode(), "İlk Başlık"),
    ],
)
def test_the_heading_text_is_without_its_marks(text: bytes, heading: str) -> None:
    assert _read(text).sections[0].heading == heading


def test_a_fence_is_one_segment_and_never_gives_a_heading() -> None:
    document = _read(b"# A\n\n```sh\n# comment\n\nmore\n```\n\n    # indented\n")
    assert [segment.kind for segment in document.segments] == ["heading", "fence", "fence"]
    assert len(document.sections) == 1


def test_front_matter_is_taken_off_before_structure_is_read() -> None:
    document = _read(b"---\ntitle: x\nstatus: accepted\n---\n\n# A\n")
    assert [segment.kind for segment in document.segments] == ["front_matter", "heading"]
    assert document.segments[0].last_line == 4


def test_two_rules_with_prose_between_are_no_front_matter() -> None:
    document = _read(b"---\n\nSome prose.\n\n---\n\nMore.\n")
    assert [one.kind for one in document.segments] == ["rule", "paragraph", "rule", "paragraph"]


def test_kinds_of_blocks_are_named() -> None:
    text = b"p\n\n- l\n\n> q\n\n***\n\n<div>h</div>\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n[d]: /u\n"
    kinds = [segment.kind for segment in _read(text).segments]
    assert kinds == ["paragraph", "list", "quote", "rule", "html", "table", "definition"]


def test_a_short_list_is_one_segment_and_a_long_one_gives_one_per_item() -> None:
    item = b"- item\n  - nested\n\n  ```\n- code\n  ```\n"
    assert len(_read(item * 3).segments) == 1
    assert {segment.content for segment in _read(item * 100).segments} == {item.rstrip()}


def test_a_split_block_says_that_it_goes_on() -> None:
    segments = _read(b"line of text\n" * 1000).segments
    assert [segment.is_truncated for segment in segments] == [True] * (len(segments) - 1) + [False]
    assert all(segment.content.endswith(b"text") for segment in segments)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfea\0b\0", GapReason.UNSUPPORTED_ENCODING),
        (b"\xfe\xff\0a", GapReason.UNSUPPORTED_ENCODING),
        ("kırmızı".encode("iso8859-9"), GapReason.UNSUPPORTED_ENCODING),
        (b"text\0more", GapReason.BINARY),
        (b"x" * (POLICY.max_blob_bytes + 1), GapReason.OVERSIZE),
        (b"- x\n" * 40_001, GapReason.PARSER_LIMIT),
    ],
)
def test_what_cannot_be_read_is_a_gap(content: bytes, reason: GapReason) -> None:
    document = _read(content)
    assert [gap.reason for gap in document.gaps] == [reason]
    assert document.segments == () == document.sections


@pytest.mark.parametrize("content", [b"#\n" * 10_003, b"- x\n" * 10_003 + b"#\n" * 2])
def test_blocks_over_the_limit_are_a_gap_with_their_number(content: bytes) -> None:
    document = _read(content)
    assert len(document.segments) == 10_000
    assert [(gap.reason, gap.detail) for gap in document.gaps] == [(GapReason.BUDGET, "3 blocks")]


def test_a_secret_is_cut_out_of_segment_and_heading() -> None:
    secret = b"ghp_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    content = b"# Use " + secret + b"\n\nThe token is " + secret + b" here.\n"
    document = _read(content)
    assert secret.decode() not in document.sections[0].heading
    assert all(secret not in segment.content for segment in document.segments)
    last = document.segments[-1]
    assert content[last.redactions[0].start : last.redactions[0].end] == secret
    assert last.sha256 == sha256(content[last.start : last.end]).digest()


def test_documents_are_known_by_their_suffix() -> None:
    assert is_document(b"docs/README.MD")
    assert is_document(b"a.markdown")
    assert not is_document(b"a.md.txt")
    assert is_other_text(b"docs/index.RST")
    assert not is_other_text(b"a.md")


@pytest.mark.parametrize(
    "path",
    [b"AGENTS.md", b"pkg/CLAUDE.md", b"GEMINI.md", b".cursorrules", b".cursor/rules/a.mdc",
     b".github/copilot-instructions.md", b"x/.claude/commands/go.md"],
)  # fmt: skip
def test_files_that_steer_agents_are_recognised(path: bytes) -> None:
    assert is_instruction_file(path)


def test_ordinary_documents_are_no_instruction_files() -> None:
    assert not is_instruction_file(b"README.md")
    assert not is_instruction_file(b"docs/agents.md.txt")
