"""The parts the rules stand on: line strength, the comparison, the index, names, segments, sums."""

from __future__ import annotations

import pytest

from codememory.verdicts import (
    CurrentFile,
    LineIndex,
    Method,
    PathHistory,
    TextCache,
    Verdict,
    VerdictKind,
    aggregate,
    contains_segment,
    judge_segment,
    line_hash,
    normalise,
)
from codememory.verdicts.lines import TextFacts, has_alnum, is_import, is_strong, squash
from codememory.verdicts.values import METHOD_KINDS

RULE = b"A cart must be cleared after every checkout,\nand the receipt kept for ten years.\n"
DOCUMENT = b"# Cart\n\nIntro.\n\n" + RULE + b"\nThe end.\n"


@pytest.mark.parametrize(
    ("line", "strong"),
    [
        (b"    total = sum(prices)", True),
        (b"    return None", False),
        (b"    hex_to_sha,", False),
        (b"__version__ = (0, 20, 40)", True),
        ("sepet her ödemeden sonra temizlenmeli".encode(), True),
        ("購物車必須在結帳後清空".encode(), True),
        (b"}", False),
    ],
)
def test_a_line_is_strong_when_it_says_enough_to_be_recognised(line: bytes, strong: bool) -> None:
    assert is_strong(line) is strong


def test_an_import_is_known_in_several_languages() -> None:
    lines = (b"from a import b", b"import os", b"#include <x.h>", b"const a = require('a')")
    assert all(is_import(line) for line in lines)
    assert not is_import(b"from_date = important_date")


def test_bytes_that_are_not_utf8_are_compared_all_the_same() -> None:
    assert normalise(b"caf\xe9 = 1\r") == b"caf\xe9=1"
    assert has_alnum(b"\xe9a")


def test_quotes_and_trailing_commas_are_formatting() -> None:
    assert squash(b"f('a','b',)") == squash(b'f("a","b")')


def test_the_comparison_ignores_whitespace_and_keeps_places() -> None:
    kept = TextCache().kept(b"a\n\tb b\nc\nd\n", b"new\na\n  bb\nd\n")
    assert kept == [1, 2, -1, 3]


def test_a_cache_gives_the_same_map_without_comparing_again() -> None:
    cache = TextCache()
    assert cache.kept(b"a\nb\n", b"b\n") is cache.kept(b"a\nb\n", b"b\n")


def test_a_cache_lets_go_of_old_texts() -> None:
    cache = TextCache(budget=100)
    first = cache.facts(b"x" * 90)
    cache.facts(b"y" * 90)
    assert cache.facts(b"x" * 90) is not first


def test_joined_text_starts_and_ends_where_lines_do() -> None:
    facts = TextFacts(b"call(\n    alpha,\n    beta,\n)\n")
    assert facts.has_joined(b"call(alpha,beta)", anywhere=False)
    assert not facts.has_joined(b"all(alpha,beta)", anywhere=False)


def test_the_index_counts_files_and_names_three() -> None:
    line = b"total = sum(prices)\n"
    index = LineIndex((b"%d.py" % number, line * 2) for number in range(5))
    places = index.where(line_hash(normalise(line)))
    assert (places.count, len(places.paths)) == (5, 3)
    assert index.where(1).count == 0


def test_the_index_leaves_binary_files_and_weak_lines_out() -> None:
    assert len(LineIndex([(b"a", b"\0total = sum(prices)\n"), (b"b", b"return None\n")])) == 0


def test_names_are_followed_through_every_rename() -> None:
    renames = [(3, b"a.py", b"b.py"), (7, b"b.py", b"c.py")]
    history = PathHistory(renames, [(1, b"a.py")], {b"c.py"}.__contains__)
    assert history.follow(b"a.py", 2) == (b"c.py",)
    assert (history.before(b"c.py", 5), history.before(b"c.py", 2)) == (b"b.py", b"a.py")


def test_a_new_file_under_an_old_name_is_another_file() -> None:
    additions = [(1, b"a.py"), (5, b"a.py")]
    history = PathHistory([(3, b"a.py", b"b.py")], additions, {b"a.py", b"b.py"}.__contains__)
    assert history.follow(b"a.py", 2) == (b"b.py", b"a.py")  # the likelier first
    assert history.follow(b"a.py", 6) == (b"a.py",)


def test_a_branch_that_kept_the_old_name_is_followed_too() -> None:
    history = PathHistory([(3, b"a.py", b"b.py")], [(1, b"a.py")], {b"b.py"}.__contains__)
    assert history.follow(b"a.py", 4) == (b"b.py",)


def test_names_that_go_round_end_somewhere() -> None:
    renames = [(2, b"a", b"b"), (3, b"b", b"a"), (4, b"a", b"b")]
    history = PathHistory(renames, [], set[bytes]().__contains__)
    assert history.follow(b"a", 1) == ()
    assert history.before(b"b", 0) in {b"a", b"b"}


def _segment(content: bytes | None, moved_to: bytes | None = None) -> Verdict:
    document = None if content is None else CurrentFile(b"docs/cart.md", content)
    return judge_segment(RULE, document, lambda: moved_to)


def test_a_segment_in_its_document_is_current_however_wrapped() -> None:
    wrapped = RULE.replace(b"\n", b" ").replace(b" kept", b"\nkept")
    methods = {_segment(DOCUMENT).method, _segment(DOCUMENT.replace(RULE, wrapped)).method}
    assert methods == {Method.SEGMENT_MATCH}


def test_a_segment_in_another_document_is_current_there() -> None:
    verdict = _segment(b"# Cart\n", b"docs/rules.md")
    assert (verdict.method, verdict.path) == (Method.SEGMENT_MOVED, b"docs/rules.md")


@pytest.mark.parametrize("ending", [b"\r", b"\r\n", b"\n"])
def test_lines_end_as_markdown_ends_them(ending: bytes) -> None:
    document = b"\xef\xbb\xbf# Cart\n\n" + RULE + b"\nMore.\n"
    assert _segment(document.replace(b"\n", ending)).method is Method.SEGMENT_MATCH


def test_the_first_block_after_a_byte_order_mark_is_found() -> None:
    assert contains_segment(b"\xef\xbb\xbfKeep carts.", b"\xef\xbb\xbfKeep carts.\n\nNew.\n")


def test_a_piece_of_a_cut_line_need_not_be_a_whole_line() -> None:
    assert contains_segment(b"two three", b"one two three four\n", is_piece=True)
    assert not contains_segment(b"two three", b"one two three four\n")


def test_the_same_document_says_the_same_whatever_its_lines_look_like() -> None:
    document = CurrentFile(b"docs/cart.md", b"x\x0bRULE", "1" * 40)
    assert judge_segment(RULE, document, oid="1" * 40).method is Method.SEGMENT_MATCH


def test_a_changed_segment_asks_for_a_recheck() -> None:
    verdict = _segment(DOCUMENT.replace(b"ten years", b"two years"))
    assert (verdict.verdict, verdict.share) == (VerdictKind.RECHECK_REQUIRED, 0.933)


def test_a_segment_that_is_gone_is_historical() -> None:
    assert _segment(b"# Cart\n\nIntro.\n").method is Method.SEGMENT_GONE
    assert _segment(None).method is Method.FILE_GONE


def _made(*methods: Method) -> list[Verdict]:
    return [Verdict(METHOD_KINDS[method], method) for method in methods]


@pytest.mark.parametrize(
    ("methods", "kind"),
    [
        ((Method.BLOB_MATCH, Method.FORMAT_ONLY), VerdictKind.CURRENT_SUPPORTED),
        ((Method.REPLACED, Method.REMOVED), VerdictKind.HISTORICAL),
        ((Method.BLOB_MATCH, Method.REPLACED), VerdictKind.RECHECK_REQUIRED),
        ((Method.NOT_JUDGED, Method.FORMAT_ONLY), VerdictKind.UNKNOWN),
        ((), VerdictKind.UNKNOWN),
    ],
)
def test_a_commit_sums_up_its_hunks(methods: tuple[Method, ...], kind: VerdictKind) -> None:
    assert aggregate(_made(*methods)).verdict is kind


def test_a_sum_says_how_much_of_the_decided_holds() -> None:
    summed = aggregate(_made(Method.BLOB_MATCH, Method.REPLACED, Method.FORMAT_ONLY))
    assert summed.share == 0.5
    assert summed.counts[VerdictKind.UNKNOWN] == 1
