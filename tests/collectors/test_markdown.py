"""Where blocks begin and end; hostile texts take no more than moments."""

from __future__ import annotations

import time

import pytest

from collectors.markdown import Block, atx_text, blocks, is_item_start

HOSTILE = {
    "brackets": "[" * 200_000,
    "quotes": ">" * 200_000 + " x",
    "nested lists": "".join(" " * (n % 2000) + "- x\n" for n in range(4000)),
    "emphasis": "*a " * 300_000,
    "backticks": "`" * (1 << 20),
    "growing runs of backticks": "".join("`" * n + " " for n in range(1, 1400)),
    "wide table": "|a" * 100_000 + "\n" + "|-" * 100_000 + "\n" + "|b" * 100_000 + "\n",
    "table that ends badly": "a|b\n-|-\n" * 50_000 + "x|y|z\n",
    "definitions": "".join(f"[{n}]: /u\n" for n in range(30_000)) + "[1]" * 30_000,
    "open comments": "<!-- " * 200_000,
    "open tags": "<a " * 200_000,
    "attributes": "<a" + " a=a" * 200_000 + "<",
    "autolinks": "<http://" * 100_000,
    "spaces in a heading": "# a" + " " * 500_000 + "b",
    "spaces before a closing run": "# a" + " " * 500_000 + "#b",
    "dashes": "- " * 300_000 + "x",
    "indented lines": "x\n" + "    y\n" * 50_000,
    "items without end": "- x\n" * 50_000,
    "quoted lines": "> x\n" * 50_000,
    "lazy lines": "> x\n" + "y\n" * 50_000,
    "fences in items": "- ```\n" * 30_000,
    "tabs": "\t" * 300_000 + "x",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_read_in_moments(text: str) -> None:
    started = time.process_time()
    blocks(text + "\n")
    assert time.process_time() - started < 2


def _kinds(text: str) -> list[tuple[str, int, int]]:
    return [(block.kind, block.first, block.end) for block in blocks(text)]


def test_blocks_are_ranges_of_lines() -> None:
    text = "# A\n\none\ntwo\n- x\n  y\n\n> q\n***\n```\nc\n```\n"
    assert _kinds(text) == [
        ("heading", 0, 1),
        ("paragraph", 2, 4),
        ("list", 4, 6),
        ("quote", 7, 8),
        ("rule", 8, 9),
        ("fence", 9, 12),
    ]


def test_an_html_block_begins_where_it_opens() -> None:
    assert _kinds("a\n\n<!-- b\n\nc -->\nd\n") == [
        ("paragraph", 0, 1),
        ("html", 2, 5),
        ("paragraph", 5, 6),
    ]


def test_a_list_ends_where_another_block_breaks_it() -> None:
    assert [kind for kind, _, _ in _kinds("- a\n# B\n- c\n> d\n- e\n```\nf\n")] == [
        "list",
        "heading",
        "list",
        "quote",
        "list",
        "fence",
    ]


def test_an_underlined_paragraph_is_a_heading() -> None:
    assert blocks("A\nB\n===\n\nC\n---\n") == [
        Block("heading", 0, 3, 1, is_setext=True),
        Block("heading", 4, 6, 2, is_setext=True),
    ]


def test_a_table_starts_at_its_header_row() -> None:
    assert _kinds("a\nx | y\n:-- | --:\n1 | 2\n") == [("paragraph", 0, 1), ("table", 1, 4)]


@pytest.mark.parametrize("text", ["a | b\n- | -\n", "a | b\n---|---|---\n", "a\n|---|---|\n"])
def test_rows_without_a_fitting_delimiter_are_no_table(text: str) -> None:
    assert "table" not in [kind for kind, _, _ in _kinds(text)]


def test_definitions_are_a_block_of_their_own() -> None:
    assert _kinds("[a]: /u\n[b]: /v\ntext\n") == [("definition", 0, 2), ("paragraph", 2, 3)]


@pytest.mark.parametrize(
    ("line", "text"),
    [("# A", "A"), ("## A ##", "A"), ("# A#", "A#"), ("#", ""), ("### ###", ""), ("# #A", "#A")],
)
def test_closing_marks_of_a_heading_go_only_after_a_space(line: str, text: str) -> None:
    assert atx_text(line) == text


@pytest.mark.parametrize("line", ["- a", "* a", "+ a", "1. a", "12) a", "   - a", "-", "-\ta"])
def test_item_markers_are_recognised(line: str) -> None:
    assert is_item_start(line)


@pytest.mark.parametrize(
    "line", ["-a", "1.a", "a", "    - a", "1234567890. a", "--", "", "\u0663. a"]
)
def test_other_lines_start_no_item(line: str) -> None:
    assert not is_item_start(line)


def test_a_heading_ends_a_quotation() -> None:
    assert _kinds("> q\n# A\n\ntext\n") == [
        ("quote", 0, 1),
        ("heading", 1, 2),
        ("paragraph", 3, 4),
    ]


def test_a_list_ends_a_quotation_whatever_its_number() -> None:
    assert _kinds("text\n> q\n3.\tx\n") == [
        ("paragraph", 0, 1),
        ("quote", 1, 2),
        ("list", 2, 3),
    ]


@pytest.mark.parametrize(
    "before", ["- item", "1. item", "> said", "> - both", "text", "a | b\n-|-"]
)
@pytest.mark.parametrize(
    ("tag", "end"), [("<script>", "</script>"), ("<pre>", "</pre>"), ("<!--", "-->")]
)
def test_what_html_hides_is_no_markdown_whatever_stands_before(
    before: str, tag: str, end: str
) -> None:
    found = blocks(f"{before}\n{tag}\n# R\n\nJobs must run.\n{end}\n\n# B\n")
    assert [block.kind for block in found][-2:] == ["html", "heading"]
    assert sum(block.kind == "heading" for block in found) == 1


@pytest.mark.parametrize("tag", ["<div>", "<p>", "</div>", "<table"])
@pytest.mark.parametrize("before", ["- item", "> said", "text"])
def test_a_block_of_html_goes_on_to_a_blank_line(before: str, tag: str) -> None:
    found = blocks(f"{before}\n{tag}\n# R\n\ntext\n")
    assert [block.kind for block in found][1:] == ["html", "paragraph"]


@pytest.mark.parametrize("odd", ["\x0c", "\x0b", "\u2028", "\u2029", "\x85", "\xa0", "\x1c"])
def test_only_line_feeds_end_lines_and_only_spaces_and_tabs_are_blank(odd: str) -> None:
    assert [block.kind for block in blocks(f"a\n{odd}---\n# B\n")] == ["paragraph", "heading"]
    assert _kinds(f"a{odd}# b\n{odd}\nc\n") == [("paragraph", 0, 3)]


def test_definitions_before_an_underline_are_no_part_of_the_heading() -> None:
    assert blocks("[a]: /u\nA\n===\n")[1] == Block("heading", 1, 3, 1, is_setext=True)
    assert _kinds("[a]: /u\n===\n") == [("definition", 0, 1), ("paragraph", 1, 2)]
