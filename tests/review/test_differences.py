"""Word differences in one line and side by side."""

from __future__ import annotations

from review.differences import Part, side_by_side, word_difference
from review.templatetags.review_extras import marked


def test_only_the_words_that_differ_are_marked() -> None:
    parts = word_difference("Keys live for 90 days.", "Keys live for 400 days.")
    assert parts == [
        Part("same", "Keys live for "),
        Part("old", "90"),
        Part("new", "400"),
        Part("same", " days."),
    ]


def test_a_space_between_two_differences_is_no_island() -> None:
    parts = word_difference(
        "It may make one and the same call.", "It never made one and the same call."
    )
    assert parts[1:3] == [Part("old", "may make"), Part("new", "never made")]


def test_what_has_little_in_common_is_shown_whole() -> None:
    parts = word_difference("Keys live for 90 days.", "Refunds are never partial, he said.")
    assert [part.kind for part in parts] == ["old", "same", "new"]


def test_both_sides_can_be_read_back_from_the_parts() -> None:
    old, new = "Önce öğle, sonra 👩‍💻 iade.", "Önce iade, sonra öğle; kalan 👩‍💻 iade."
    parts = word_difference(old, new)
    assert "".join(p.text for p in parts if p.kind != "new").strip() == old
    assert "".join(p.text for p in parts if p.kind != "old").strip() == new


def test_lines_that_are_equal_stand_beside_each_other() -> None:
    rows = side_by_side([(1, "a"), (2, "b c d e")], [(5, "a"), (6, "b c d f")])
    assert [(r.old and r.old.number, r.new and r.new.number) for r in rows] == [(1, 5), (2, 6)]
    assert [r.old and r.old.is_changed for r in rows] == [False, True]


def test_a_line_without_a_counterpart_has_an_empty_side() -> None:
    (first, second) = side_by_side([(1, "a")], [(1, "a"), (2, "b")])
    assert first.old is not None
    assert second.old is None


def test_markup_in_a_difference_stays_text() -> None:
    shown = marked(word_difference("keep <b>this</b> one here", "keep <i>this</i> one here"))
    assert "<b>" not in shown
    assert "<del>b</del>" in shown


def test_invisible_characters_are_boxed_in_a_difference() -> None:
    assert "U+202E" in marked([Part("new", "allow\u202elist")])


def test_a_very_long_text_is_one_difference() -> None:
    old, new = "a " * 3000, "b " * 3000
    assert len(word_difference(old, new)) <= 3
