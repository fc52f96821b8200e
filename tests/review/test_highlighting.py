"""Code in colours: positions alone, so that what is shown is always what is stored."""

from __future__ import annotations

import random
import re
import time
from html.parser import HTMLParser

import pytest

from review.differences import Part, side_by_side
from review.excerpts import ExcerptLine
from review.highlighting import (
    CLASSES,
    LANGUAGES,
    MAX_CHARACTERS,
    MAX_LINE,
    Span,
    highlight,
    language_of,
    with_spans,
)
from review.templatetags.review_extras import code, visible

PYTHON = ["def create(key):", "    # keeps the key", '    return "a" + str(400)', "", '"""', "x"]
TAG = re.compile(r"<[^>]*>")
HOSTILE = (
    *("[REDACTED:password:9c1f02ab]", "\u202e\u2066", "\x00\x1b[31m\x7f", "\udcff\udc80"),
    *("<b>&amp;</b>", "\u200b", "👩\u200d🚀", "'\"`", "/*", "*/", "//", "{{", "${", "\r", "\t"),
    *(
        "def f():",
        "return 1",
        "class A {",
        "\u0131\u015f\u0131k",
        "日本",
        "#!",
        "<?php",
        "<!--",
        "\\",
        "0x1F",
    ),
)


class Text(HTMLParser):
    """Reads the text back out of what is shown: boxed codes and marks as what they stand for."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(dict(attrs).get("class") or tag)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  (the base's name)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        inner = self.open[-1] if self.open else ""
        if inner == "code-point":
            number = int(data.removeprefix("U+").removeprefix("0x"), 16)
            self.found.append(chr(number + 0xDC00 if data.startswith("0x") else number))
        else:
            self.found.append(f"[{data}]" if inner == "redacted" else data)


def read_back(html: str) -> str:
    reader = Text()
    reader.feed(html)
    reader.close()
    return "".join(reader.found)


def lines_of(path: str, texts: list[str]) -> list[ExcerptLine]:
    found = zip(texts, highlight(path, texts), strict=True)
    return [ExcerptLine(n, text, "", "", spans) for n, (text, spans) in enumerate(found, 1)]


def words(path: str, texts: list[str]) -> list[list[tuple[str, str]]]:
    found = zip(texts, highlight(path, texts), strict=True)
    return [[(text[a:b], kind) for a, b, kind in spans] for text, spans in found]


def test_python_has_its_five_classes() -> None:
    first, comment, third, *_ = words("shop/refunds.py", PYTHON)
    assert first == [("def", "kw"), ("create", "fn")]
    assert comment == [("# keeps the key", "co")]
    assert [w for w in third if w[0] in {"return", "400"}] == [("return", "kw"), ("400", "nu")]


def test_a_string_that_goes_on_is_one_on_each_line() -> None:
    assert words("a.py", ['x = """one', "two", 'three"""'])[1] == [("two", "st")]


@pytest.mark.parametrize("path", ["LICENSE", "a.unknown", "a.bin", "py", ""])
def test_an_unknown_language_stays_plain(path: str) -> None:
    assert language_of("a.py") == "python"
    if path != "py":
        assert highlight(path, ["def f(): pass"]) == [()]


@pytest.mark.parametrize(
    "lines", [["x = 1"] * (MAX_CHARACTERS // 5), ["x = " + "1" * MAX_LINE]], ids=["long", "wide"]
)
def test_what_is_too_large_stays_plain(lines: list[str]) -> None:
    assert not any(highlight("a.py", lines))


def test_of_markdown_only_fenced_code_is_code() -> None:
    lines = [
        "# def return",
        "```python",
        "def f(): ...",
        "```",
        "return",
        "```nosuch",
        "def",
        "~~~",
    ]
    found = highlight("README.md", lines)
    assert [number for number, spans in enumerate(found) if spans] == [2]


def test_a_fence_that_is_still_open_at_the_end_is_code() -> None:
    assert words("a.md", ["~~~~js", "~~~", "const a = 1"])[2][0] == ("const", "kw")


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
def test_no_character_is_changed_by_any_language(language: str) -> None:
    ending = next(end for end, name in LANGUAGES.items() if name == language)
    chance = random.Random(language)  # noqa: S311  (no secret: the same texts each time)
    texts = ["".join(chance.choices(HOSTILE, k=12)) for _ in range(60)]
    for line in lines_of(f"a.{ending}", texts):
        shown = code(line, [{"kind": "password"}])
        assert read_back(shown) == line.text
        assert TAG.sub("", shown) == TAG.sub("", visible(line.text, [{"kind": "password"}]))


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
@pytest.mark.parametrize("text", ["a" * 900 + "!", "(" * 900, "\\" * 900, '"' * 899, "<a " * 300])
def test_no_language_is_slow_on_what_is_hostile(language: str, text: str) -> None:
    ending = next(end for end, name in LANGUAGES.items() if name == language)
    started = time.process_time()
    highlight(f"a.{ending}", [text] * 40)
    assert time.process_time() - started < 5  # of the processor: nobody waits for a lexer


def test_marks_of_redaction_are_whole_and_in_no_class() -> None:
    [line] = lines_of("a.py", ['key = "[REDACTED:password:9c1f02ab]"  # secret'])
    shown = code(line, [{"kind": "password"}])
    assert '<span class="redacted">REDACTED:password:9c1f02ab</span>' in shown
    assert read_back(shown) == line.text


def test_what_only_imitates_a_redaction_is_text() -> None:
    [line] = lines_of("a.py", ["[REDACTED:password:9c1f02ab]"])
    assert "redacted" not in code(line, [])


def test_the_cited_words_are_marked_around_their_code() -> None:
    line = ExcerptLine(1, "x = ", "return", " 1", (Span(4, 10, "kw"),))
    assert code(line) == 'x = <mark><span class="kw">return</span></mark> 1'


def test_words_of_a_difference_keep_their_code() -> None:
    old, new = [(1, "return 1")], [(1, "return 2")]
    spans = [highlight("a.py", [text])[0] for _, text in (*old, *new)]
    [row] = with_spans(side_by_side(old, new), {1: spans[0]}, {1: spans[1]})
    assert row.new is not None
    assert Part("new", "2") in row.new.parts
    assert code(row.new).endswith('<ins><span class="nu">2</span></ins>')


def test_there_are_five_classes() -> None:
    assert {name for _, name in CLASSES} == {"kw", "st", "nu", "fn", "co"}
