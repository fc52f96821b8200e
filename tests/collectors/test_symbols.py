"""Symbols of every language of the table, as they stand in a file of that language."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from collectors.symbol_languages import LANGUAGES, Language, language_named
from collectors.symbol_tree import MAX_DEPTH
from collectors.symbol_values import Coverage, Symbol, SymbolKind
from collectors.symbols import extract, extract_named, language_of, symbols_touched
from collectors.values import GapReason

FIXTURES = Path(__file__).parent.parent / "languages"
FILES = {
    language.name: path
    for path in sorted(FIXTURES.iterdir())
    if (language := language_of(path.name.encode())) is not None
}
PYTHON = language_named("Python")


def told(one: Symbol) -> str:
    ordinal = f"#{one.ordinal}" if one.ordinal else ""
    return f"{one.first_line}-{one.last_line} {one.kind} {one.name}{ordinal}"


def symbol(text: str, name: str, language: str = "Python") -> Symbol:
    table = extract(text.encode(), language_named(language))
    return next(one for one in table.symbols if one.name == name)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_language_has_the_symbols_of_its_fixture(language: Language) -> None:
    path = FILES[language.name]  # a language without a fixture is not enabled
    table = extract(path.read_bytes(), language)
    expected = path.with_name(path.name + ".symbols").read_text("utf-8").splitlines()
    assert f"{language.name} {table.coverage}" == expected[0]
    assert [told(one) for one in table.symbols] == expected[1:]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_ranges_are_those_of_the_original_bytes(language: Language) -> None:
    data = FILES[language.name].read_bytes()
    assert "é🙂".encode() in data
    for one in extract(data, language).symbols:
        text = data[one.start : one.end]
        assert text == text.strip()
        assert one.first_line == data.count(b"\n", 0, one.start) + 1
        assert one.last_line == data.count(b"\n", 0, one.end) + 1


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_an_inner_symbol_lies_in_its_parent(language: Language) -> None:
    symbols = extract(FILES[language.name].read_bytes(), language).symbols
    for number, one in enumerate(symbols):
        if one.parent is not None:
            outer = symbols[one.parent]
            assert one.parent < number
            assert outer.start <= one.start <= one.end <= outer.end


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_any_bytes_give_a_table(language: Language) -> None:
    chance = random.Random(language.name)  # noqa: S311  # the same bytes every time
    data = FILES[language.name].read_bytes()
    for _ in range(20):
        at, to = sorted(chance.sample(range(len(data)), 2))
        broken = data[:at] + chance.randbytes(3) + data[to:]
        assert extract(broken, language).coverage is not Coverage.TEXTUAL_ONLY


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (b"a/b.test.tsx", "TSX"),
        (b"include/X.H", "C or C++ header"),
        (b"Rakefile", "Ruby"),
        (b"schema.prisma", "Prisma"),
        (b"types.d.ts", "TypeScript"),
        (b"\xff\xfe.py", "Python"),
    ],
)
def test_a_path_has_a_language(path: bytes, name: str) -> None:
    language = language_of(path)
    assert language is not None
    assert language.name == name


@pytest.mark.parametrize(
    "path", [b"README", b".py", b"a.py/b", b"x.lua", b"x.swift", b"a.json", b""]
)
def test_another_path_has_none(path: bytes) -> None:
    table = extract(b"def refund(): pass\n", language_of(path))
    assert table.coverage is Coverage.TEXTUAL_ONLY
    assert table.reason is GapReason.NO_GRAMMAR
    assert table.symbols == ()


def test_a_parse_error_is_told_of_the_file_and_the_symbol() -> None:
    table = extract(b"def good():\n    pass\n\ndef refund(:\n    pass\n", PYTHON)
    assert (table.coverage, table.reason) == (Coverage.PARTIAL, GapReason.PARSE_ERROR)
    assert [one.is_partial for one in table.symbols if one.name == "good"] == [False]


def test_a_trailing_comma_in_a_type_is_no_error() -> None:
    text = (
        'class Order:\n    state: Union[\n        "A",\n        "B",  # said\n    ]\n    x = ",]"\n'
    )
    table = extract(text.encode(), PYTHON)
    assert table.coverage is Coverage.FULL
    assert table.symbols[0].last_line == 6


def test_a_large_blob_is_not_parsed() -> None:
    table = extract(b"def refund(): pass\n", PYTHON, max_bytes=10)
    assert (table.coverage, table.reason) == (Coverage.TEXTUAL_ONLY, GapReason.PARSER_LIMIT)


def test_deep_nesting_is_bounded() -> None:
    depth = 20_000
    table = extract(b"function a(){" * depth + b"}" * depth, language_named("JavaScript"))
    assert (table.coverage, table.reason) == (Coverage.PARTIAL, GapReason.PARSER_LIMIT)
    assert len(table.symbols) == MAX_DEPTH


def test_deep_expressions_are_no_recursion() -> None:
    table = extract(b"def refund():\n    return " + b"(" * 50_000 + b")" * 50_000, PYTHON)
    assert [one.name for one in table.symbols] == ["refund"]


def test_line_ends_and_encodings_do_not_shift_a_name() -> None:
    text = "# caf\xe9\r\ndef refund(order):\r\n    return '\xff'\r\n".encode("latin-1")
    (one,) = extract(text, PYTHON).symbols
    assert (one.name, one.first_line, one.last_line) == ("refund", 2, 3)
    assert text[one.start : one.end].startswith(b"def refund")


def test_names_that_are_no_utf8_are_escaped() -> None:
    (one,) = extract(b"int caf\xe9(void) { return 1; }\n", language_named("C")).symbols
    assert one.name.isprintable()


def test_a_signature_is_one_bounded_line_without_comments() -> None:
    one = symbol("def refund(  # why\n    order,\n    amount=1,\n) -> bool:\n    pass\n", "refund")
    assert one.signature == "def refund( order, amount=1, ) -> bool"
    long = symbol(f"def refund({', '.join(f'a{n}' for n in range(200))}): pass\n", "refund")
    assert len(long.signature) == 200
    assert long.signature.endswith("…")


def test_a_decorator_belongs_to_the_symbol() -> None:
    one = symbol("@cached\n@traced(1)\ndef refund():\n    pass\n", "refund")
    assert (one.first_line, one.last_line) == (1, 4)
    assert one.signature == "def refund()"


def test_a_comment_after_the_last_statement_is_no_part_of_the_symbol() -> None:
    one = symbol("def refund():\n    pass\n\n    # later\n    # more\n\nx = 1\n", "refund")
    assert (one.first_line, one.last_line, one.comment_hash) == (1, 2, b"")


BODY = "def refund(order):\n    if order:\n        a = f(1, 'x  y')\n    return a\n"
SAME = {
    "comments": BODY.replace("return a", "# why\n    return a  # so"),
    "blank lines": BODY.replace("\n    return", "\n\n\n    return"),
    "spacing": BODY.replace("1, 'x", "1,'x"),
    "wrapping": BODY.replace("f(1, ", "f(\n            1,\n            "),
    "line ends": BODY.replace("\n", "\r\n"),
    "indentation": BODY.replace("    ", "\t"),
    "the name": BODY.replace("refund", "give_back"),
}
OTHER = {
    "white space in a string": BODY.replace("x  y", "x y"),
    "a statement that leaves its block": BODY.replace("    return", "        return"),
    "a value": BODY.replace("1,", "2,"),
    "a hash in a string": BODY.replace("x  y", "x # y"),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_a_body_is_the_same_but_for(text: str) -> None:
    name = "give_back" if "give_back" in text else "refund"
    assert symbol(text, name).body_hash == symbol(BODY, "refund").body_hash


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_a_body_is_another_for(text: str) -> None:
    assert symbol(text, "refund").body_hash != symbol(BODY, "refund").body_hash


def test_words_of_a_shell_command_stay_apart() -> None:
    text = "f() {\n    rm -r a/ b\n}\n"
    assert (
        symbol(text, "f", "Bash").body_hash
        != symbol(text.replace("/ b", "/b"), "f", "Bash").body_hash
    )
    assert (
        symbol(text, "f", "Bash").body_hash
        == symbol(text.replace("r a", "r   a"), "f", "Bash").body_hash
    )


def test_a_body_does_not_depend_on_its_place() -> None:
    alone = symbol("class A:\n    def f(self):\n        if 1:\n            g()\n", "A.f")
    among = symbol(
        "class A:\n    def f(self):\n        if 1:\n            g()\n\n    x = 1\n", "A.f"
    )
    assert (alone.body_hash, alone.text_hash) == (among.body_hash, among.text_hash)


def test_what_a_class_holds_itself_is_apart_from_its_methods() -> None:
    one = symbol("class A:\n    x = 1\n    def f(self):\n        return 1\n", "A")
    method = symbol("class A:\n    x = 1\n    def f(self):\n        return 2\n", "A")
    more = symbol(
        "class A:\n    x = 1\n    def f(self):\n        return 1\n    def g(self): ...\n", "A"
    )
    own = symbol("class A:\n    x = 2\n    def f(self):\n        return 1\n", "A")
    assert one.own_hash == method.own_hash == more.own_hash != own.own_hash
    assert one.body_hash != method.body_hash


def test_the_innermost_symbols_are_touched() -> None:
    table = extract(FILES["Python"].read_bytes(), PYTHON)

    def names(first: int, last: int) -> list[str]:
        return [table.symbols[number].name for number in symbols_touched(table, first, last)]

    assert names(7, 7) == ["refund.check"]
    assert names(7, 9) == ["refund", "refund.check"]
    assert names(21, 26) == ["Ledger", "Ledger.add"]
    assert names(1, 3) == []
    assert names(10, 9) == ["refund"]  # between two lines, after line 9


def test_a_table_is_cheap_to_hand_over() -> None:
    data = FILES["Python"].read_bytes() * 20
    table = extract_named(data, "Python")
    assert pickle.loads(pickle.dumps(table)) == table  # noqa: S301  # our own
    assert isinstance(table.symbols[0].kind, SymbolKind)
    assert len(pickle.dumps(table)) < 40 * len(data)
