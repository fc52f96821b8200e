"""Symbols read from pieces and edited trees are those that are read from the whole blob."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from collectors.differences import find_hunks
from collectors.symbol_changes import compare, difference
from collectors.symbol_languages import LANGUAGES, Language, language_named
from collectors.symbol_pairs import PairReading, SymbolPair, read_with
from collectors.symbol_pieces import PieceStore, is_cut
from collectors.symbol_versions import VersionStore
from collectors.symbols import extract
from collectors.values import Hunk
from tests.collectors.test_symbols import FILES

VERSIONS = 12
PYTHON = language_named("Python")


def edited(lines: list[bytes], dice: random.Random) -> list[bytes]:
    """A few lines taken out, put twice, moved, or changed, as in a real history."""
    found = list(lines)
    for _ in range(dice.randint(1, 3)):
        at, to = dice.randrange(len(found)), dice.randrange(len(found))
        line = found[at]
        if dice.random() < 0.5:
            found[at] = line.replace(b"(", b"(b", 1)
        elif dice.random() < 0.5:
            found.insert(to, line)
        elif len(found) > 3:
            found.insert(to, found.pop(at))
    return found


def history(language: Language) -> list[bytes]:
    """Versions of a file with some hundred lines; some cannot be parsed."""
    dice = random.Random(language.name)  # noqa: S311 -- not for secrets
    whole = FILES[language.name].read_bytes().splitlines(keepends=True) * 3
    versions = [whole]
    while len(versions) < VERSIONS:
        sound = versions[-1] if dice.random() < 0.6 else whole
        versions.append(edited(sound, dice))
    return [b"".join(lines) for lines in versions]


def ranges(hunks: list[Hunk]) -> list[int]:
    return [
        number
        for hunk in hunks
        for number in (
            *(hunk.old_line, hunk.old_lines, hunk.new_line, hunk.new_lines),
            *(hunk.old_start, hunk.old_end, hunk.new_start, hunk.new_end),
        )
    ]


def read(store: VersionStore, old: bytes, new: bytes, language: Language = PYTHON) -> PairReading:
    keys = (str(hash(old)), language.name), (str(hash(new)), language.name)
    pair = SymbolPair(*keys, ranges(find_hunks(old, new)))
    contents = {keys[0][0]: old, keys[1][0]: new}
    return read_with(store, [pair], contents).readings[0]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_versions_have_the_symbols_of_the_whole_blob(language: Language) -> None:
    store = VersionStore()
    for old, new in pairwise(history(language)):
        read(store, old, new, language)
        version = store.get((str(hash(new)), language.name))
        assert version is not None
        assert version.table() == extract(new, language)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_pairs_differ_as_their_tables_do(language: Language) -> None:
    store = VersionStore()
    for old, new in pairwise(history(language)):
        found = read(store, old, new, language)
        before, after = extract(old, language), extract(new, language)
        assert found.changes == compare(before, after)
        assert found.difference == difference(before, after)


def test_trees_are_edited_where_both_sides_are_understood() -> None:
    store = VersionStore()
    text = b"def a():\n    return 1\n\n\ndef b():\n    return 2\n"
    read(store, text, text.replace(b"2", b"3"))
    assert store.edited == 1


def test_the_hunks_of_a_change_are_those_in_its_symbol() -> None:
    text = b"def a():\n    return 1\n\n\ndef b():\n    return 2\n"
    found = read(VersionStore(), text, text.replace(b"return", b"yield"))
    assert [change.after.name for change in found.changes if change.after] == ["a", "b"]
    assert found.touched == ((1,), (2,))


def test_ranges_that_are_not_true_do_no_harm() -> None:
    store = VersionStore()
    old, new = b"def a():\n    return 1\n", b"def b(c):\n    return 1\n"
    pair = SymbolPair(("1", "Python"), ("2", "Python"), [2, 1, 2, 1, 9, 21, 9, 22])
    read_with(store, [pair], {"1": old, "2": new})
    version = store.get(("2", "Python"))
    assert version is not None
    assert (version.table(), store.edited) == (extract(new, PYTHON), 0)


def test_a_small_store_forgets_and_says_so() -> None:
    store = VersionStore(kept_bytes=5_000)
    old, new = b"def a():\n    return 1\n", b"def b():\n    return 1\n"
    pair = SymbolPair(("1", "Python"), ("2", "Python"), ranges(find_hunks(old, new)))
    assert read_with(store, [pair], {"1": old, "2": new}).forgotten == [("1", "Python")]


def test_a_comment_at_the_end_of_a_class_is_no_part_of_it() -> None:
    text = (
        b"class A:\n" + b"    def f(self):\n        return 1\n" * 40 + b"        # end\n\nx = 1\n"
    )
    store = VersionStore()
    read(store, b"x = 1\n", text)
    version = store.get((str(hash(text)), "Python"))
    assert version is not None
    assert version.table() == extract(text, PYTHON)


def test_pieces_do_not_fill_the_memory() -> None:
    store = PieceStore(kept_bytes=10_000)
    language = language_named("Go")
    assert is_cut(language)
    versions = VersionStore(pieces=store)
    texts = [b"package a\n\nfunc f() int {\n\treturn %d\n}\n" % n for n in range(40)]
    for old, new in pairwise(texts):
        read(versions, old, new, language)
    assert store.size <= 10_000
