"""Comparing two sides: hunks exact on the original bytes, and what kind of change it is."""

from __future__ import annotations

import random
from hashlib import sha256

import pytest

from collectors.differences import MAX_HUNKS, MAX_LINES, compare, find_hunks
from collectors.policy import Policy
from collectors.values import ContentChange, ContentClass, GapReason, Hunk

POLICY = Policy(redaction_key=b"k" * 32)
PIECES = [b"a\n", b"b\n", b"\n", b"a\r\n", b"c\rd\n", b" a\n", b"\0\n", b"xx\n", b"\r", b"end"]


def compared(old: bytes | None, new: bytes | None) -> ContentChange:
    return compare(old, new, None if old is None else "1", None if new is None else "2", POLICY)


def rebuilt(old: bytes, new: bytes, hunks: list[Hunk]) -> bytes:
    """The new side out of the old one and the hunks alone."""
    pieces, at = [], 0
    for hunk in hunks:
        pieces += [old[at : hunk.old_start], new[hunk.new_start : hunk.new_end]]
        at = hunk.old_end
    return b"".join([*pieces, old[at:]])


def lines_of(content: bytes, line: int, count: int) -> bytes:
    ends = content.split(b"\n")
    lines = [part + b"\n" for part in ends[:-1]] + ([ends[-1]] if ends[-1] else [])
    return b"".join(lines[line - 1 : line - 1 + count])


@pytest.mark.parametrize("seed", range(20))
def test_ranges_are_exact_on_whatever_bytes(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311 - reproducible inputs, not secrets
    for _ in range(300):
        old, new = (b"".join(source.choices(PIECES, k=source.randrange(12))) for _ in range(2))
        hunks = find_hunks(old, new)
        assert rebuilt(old, new, hunks) == new
        for hunk in hunks:
            before, after = old[hunk.old_start : hunk.old_end], new[hunk.new_start : hunk.new_end]
            assert before == lines_of(old, hunk.old_line, hunk.old_lines)
            assert after == lines_of(new, hunk.new_line, hunk.new_lines)
            assert (hunk.old_sha256, hunk.new_sha256) == (
                sha256(before).digest(), sha256(after).digest(),
            )  # fmt: skip


def test_an_insertion_stands_where_its_lines_would_be() -> None:
    (hunk,) = find_hunks(b"a\nb\n", b"a\nx\nb\n")
    assert (hunk.old_line, hunk.old_lines, hunk.old_start, hunk.old_end) == (2, 0, 2, 2)
    assert (hunk.new_line, hunk.new_lines, hunk.new_start, hunk.new_end) == (2, 1, 2, 4)


def test_a_deletion_stands_where_its_lines_were() -> None:
    (hunk,) = find_hunks(b"a\nx\nb\n", b"a\nb\n")
    assert (hunk.old_line, hunk.old_lines) == (2, 1)
    assert (hunk.new_line, hunk.new_lines, hunk.new_start, hunk.new_end) == (2, 0, 2, 2)


def test_a_new_file_is_one_hunk_of_all_its_lines() -> None:
    change = compared(None, b"a\nb")
    assert (change.added_lines, change.removed_lines, change.old_size) == (2, 0, None)
    assert change.hunks[0].new_end == 3


def test_an_empty_new_file_has_no_hunk() -> None:
    change = compared(None, b"")
    assert (change.content_class, change.hunks, change.new_size) == (ContentClass.TEXT, (), 0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"a\nb\n", b"a\nc\n", ContentClass.TEXT),
        (b"a\nb\n", b"a\r\nb\r\n", ContentClass.LINE_ENDINGS_ONLY),
        (b"a\rb\r", b"a\nb\n", ContentClass.LINE_ENDINGS_ONLY),
        (b"if x:\n  y\n", b"if x:\n    y\n", ContentClass.FORMATTING_ONLY),
        (b"f(a,\n  b)\n", b"f(a, b)\n", ContentClass.FORMATTING_ONLY),
        (b"a\nb\n", b"b\na\n", ContentClass.TEXT),
        (b"a\n", b"a", ContentClass.FORMATTING_ONLY),
        (b"a\n", None, ContentClass.TEXT),
        (b"a\0", b"b", ContentClass.BINARY),
    ],
)
def test_a_change_says_what_kind_it_is(
    old: bytes, new: bytes | None, expected: ContentClass
) -> None:
    assert compared(old, new).content_class is expected


def test_equal_sides_are_a_change_of_modes_or_paths_only() -> None:
    assert compare(b"a", b"a", "1", "1", POLICY).content_class is ContentClass.MODE_ONLY


def test_binary_content_is_a_gap_with_its_sizes() -> None:
    change = compared(b"a\0", b"\0bc")
    assert [gap.reason for gap in change.gaps] == [GapReason.BINARY]
    assert (change.old_size, change.new_size, change.hunks) == (2, 3, ())


def test_a_patch_over_the_limit_is_cut_and_counted() -> None:
    old = b"".join(b"%d %s\n" % (number, b"x" * 500) for number in range(2000))
    new = b"".join(
        b"%d %s\n" % (number, (b"y" if number % 2 else b"x") * 500) for number in range(2000)
    )
    change = compared(old, new)
    assert len(change.hunks) + change.hunks_cut == 1000
    assert change.hunks_cut > 0
    assert [gap.reason for gap in change.gaps] == [GapReason.BUDGET]
    assert (change.added_lines, change.removed_lines) == (1000, 1000)


def test_too_many_hunks_are_cut_and_counted() -> None:
    old = b"a\nb\n" * (MAX_HUNKS + 7)
    change = compared(old, old.replace(b"b", b"c"))
    assert (len(change.hunks), change.hunks_cut) == (MAX_HUNKS, 7)


def test_contents_of_nothing_but_line_ends_are_not_compared() -> None:
    change = compared(b"a\n" * (MAX_LINES + 1), b"b\n" * (MAX_LINES + 1))
    assert [gap.reason for gap in change.gaps] == [GapReason.BUDGET]
