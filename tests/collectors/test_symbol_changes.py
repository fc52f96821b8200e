"""What is told of symbols between two versions of a file, and between the files of a commit."""

from __future__ import annotations

import pytest

from collectors.symbol_changes import compare, difference
from collectors.symbol_languages import Language, language_named
from collectors.symbol_moves import match_moved
from collectors.symbol_values import Symbol, SymbolTable
from collectors.symbols import extract

PYTHON, JAVA = language_named("Python"), language_named("Java")
REFUND = "def refund(order):\n    check(order)\n    return order.amount * 2\n"
RING = "def ring(till, times=1):\n    for _ in range(times):\n        till.open()\n"
LEDGER = (
    "class Ledger:\n    limit = 5\n\n    def add(self, entry):\n"
    "        self.entries.append(entry)\n        self.total += entry.amount\n\n"
    "    def close(self):\n        self.file.close()\n"
)


def table(text: str, language: Language = PYTHON) -> SymbolTable:
    return extract(text.encode(), language)


def told(before: str | None, after: str | None, language: Language = PYTHON) -> list[str]:
    changes = compare(
        None if before is None else table(before, language),
        None if after is None else table(after, language),
    )
    return [
        f"{one.kind} {' -> '.join(side.name for side in (one.before, one.after) if side)}"
        if one.before is None or one.after is None or one.before.name != one.after.name
        else f"{one.kind} {one.after.name}"
        for one in changes
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, LEDGER, ["ADDED Ledger", "ADDED Ledger.add", "ADDED Ledger.close"]),
        (REFUND, None, ["REMOVED refund"]),
        (REFUND, REFUND, []),
        (REFUND + RING, RING + REFUND, []),
        (REFUND, REFUND.replace("2", "3"), ["MODIFIED refund"]),
        (REFUND, REFUND.replace("order)", "order, by)", 1), ["SIGNATURE refund"]),
        (REFUND, "@cached\n" + REFUND, ["SIGNATURE refund"]),
        (REFUND, REFUND.replace("def refund", "def give_back"), ["RENAMED refund -> give_back"]),
        (
            LEDGER,
            LEDGER.replace("close(self)", "shut(self)"),
            ["RENAMED Ledger.close -> Ledger.shut"],
        ),
        (LEDGER, LEDGER.replace("5", "6"), ["MODIFIED Ledger"]),
        (LEDGER, LEDGER.replace("entry.amount", "entry"), ["MODIFIED Ledger.add"]),
        (LEDGER, LEDGER + "\n    def new(self): ...\n", ["ADDED Ledger.new"]),
        (REFUND, REFUND.replace("check(order)", "check( order )"), ["FORMATTING_ONLY refund"]),
        (REFUND, REFUND.replace("check(order)", "check(order)  # why"), ["COMMENT_ONLY refund"]),
        (
            LEDGER,
            LEDGER.replace("entry.amount", "entry.amount  # why"),
            ["COMMENT_ONLY Ledger.add"],
        ),
        (LEDGER, LEDGER.replace("5\n", "5  # why\n"), ["COMMENT_ONLY Ledger"]),
    ],
)
def test_what_happened(before: str | None, after: str | None, expected: list[str]) -> None:
    assert told(before, after) == expected


def test_a_renamed_class_takes_its_methods_along() -> None:
    assert told(LEDGER, LEDGER.replace("Ledger", "Book")) == [
        "RENAMED Ledger -> Book",
        "RENAMED Ledger.add -> Book.add",
        "RENAMED Ledger.close -> Book.close",
    ]


def test_a_renamed_class_is_known_by_most_of_its_methods() -> None:
    more = LEDGER + "\n    def open(self, path):\n        self.file = open(path)\n"
    after = more.replace("Ledger", "Book").replace("self.file.close()", "self.file = None")
    assert "RENAMED Ledger -> Book" in told(more, after)
    assert "RENAMED Ledger.close -> Book.close" in told(more, after)


def test_a_function_that_calls_itself_is_renamed() -> None:
    before = "def walk(node):\n    for child in node.children:\n        walk(child)\n"
    assert told(before, before.replace("walk", "visit")) == ["RENAMED walk -> visit"]


def test_one_of_several_equal_bodies_is_never_chosen() -> None:
    body = "(order):\n    return order.amount * 2 + fees(order)\n"
    after = f"def b(x, order):\n    return order.amount * 2 + fees(order)\ndef c{body}def d{body}"
    changes = compare(table(f"def a{body}"), table(after))
    assert {one.kind for one in changes} == {"ADDED", "REMOVED"}
    assert {one.confidence for one in changes} == {0.5}


def test_a_body_that_says_nothing_is_no_rename() -> None:
    assert told("def a(x):\n    pass\n", "def b(y, z):\n    pass\n") == ["ADDED b", "REMOVED a"]


def test_an_overload_that_is_added_before_others_is_the_added_one() -> None:
    old = "class A {\n  void f(int x) { g(x); }\n  void f(String x) { h(x); }\n}\n"
    new = old.replace("  void f(int", "  void f() { }\n  void f(int")
    (change,) = compare(table(old, JAVA), table(new, JAVA))
    assert change.kind == "ADDED"
    assert change.after is not None
    assert change.after.signature == "void f()"


def test_a_changed_body_beside_a_changed_signature_is_said() -> None:
    (change,) = compare(table(REFUND), table(REFUND.replace("order", "sale")))
    assert change.kind == "SIGNATURE"
    assert (change.is_signature_changed, change.is_body_changed) == (True, True)


def test_a_broken_side_lowers_confidence() -> None:
    changes = compare(None, table("def ((:\n" + RING))
    assert changes
    assert all(one.confidence <= 0.8 for one in changes)


def test_a_side_without_symbols_gives_no_changes() -> None:
    assert compare(extract(b"x", None), table(REFUND)) == ()
    assert difference(extract(b"x", None), table(REFUND)) == "UNKNOWN"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (REFUND, "NONE"),
        ("\n\n" + REFUND, "FORMATTING_ONLY"),
        ("# why\n" + REFUND, "COMMENT_ONLY"),
        ("import os\n" + REFUND, "CODE"),
        (
            REFUND.replace("    return", "  return").replace("    check", "  check"),
            "FORMATTING_ONLY",
        ),
    ],
)
def test_files_differ_in(after: str, expected: str) -> None:
    assert difference(table(REFUND), table(after)) == expected


def at(path: bytes, text: str) -> list[tuple[bytes, Symbol]]:
    return [(path, one) for one in table(text).symbols]


def test_a_class_moves_with_its_methods() -> None:
    moves = match_moved(at(b"a.py", LEDGER + RING), at(b"b.py", REFUND + LEDGER))
    assert [one.after.name for _, _, one in moves if one.after] == [
        *("Ledger", "Ledger.add", "Ledger.close")
    ]
    assert {one.kind for _, _, one in moves} == {"MOVED"}


def test_a_function_moves_under_another_name_if_its_body_tells() -> None:
    ((old, new, change),) = match_moved(
        at(b"a.py", REFUND), at(b"b.py", RING + REFUND.replace("def refund", "def give_back"))
    )
    assert (old, new) == (0, 1)
    assert change.confidence < 0.99


def test_a_copy_to_two_places_is_not_chosen() -> None:
    assert match_moved(at(b"a.py", REFUND), at(b"b.py", REFUND) + at(b"c.py", REFUND)) == ()


def test_nothing_moves_within_one_path() -> None:
    assert match_moved(at(b"a.py", REFUND), at(b"a.py", REFUND)) == ()
