"""How alike two texts are."""

from __future__ import annotations

from collectors.likeness import bag_of, likeness

TEXT = b"".join(b"a line of its own, number %d\n" % n for n in range(10))


def test_the_same_lines_in_any_order_and_with_any_line_ends_are_the_same_text() -> None:
    turned = b"\r\n".join(TEXT.splitlines()[::-1])
    assert likeness(bag_of(TEXT), bag_of(turned)) == 100


def test_what_both_have_is_a_share_of_the_larger() -> None:
    assert likeness(bag_of(TEXT), bag_of(TEXT + TEXT.replace(b"line", b"word"))) == 50


def test_a_line_counts_as_often_as_both_have_it() -> None:
    assert likeness(bag_of(b"over and over\n" * 10), bag_of(b"over and over\n")) == 10


def test_nothing_is_like_nothing() -> None:
    assert likeness(bag_of(b""), bag_of(b"\n\n")) == 0
