"""What is kept beside the terms of an entry: its shape and the words that are neighbours in it."""

from __future__ import annotations

import pytest

from codememory.search import ranking
from codememory.search.change_fields import ChangedFile, change_fields
from codememory.search.neighbours import are_neighbours, asked_neighbours, neighbours_of
from codememory.search.shape import COUNT_LIMIT, COUNTS, FEATURES, Shape, features, verbs
from collectors.values import Hunk


def shape_of(*files: ChangedFile) -> dict[str, int]:
    return dict(zip(COUNTS, change_fields(files).shape, strict=True))


def hunk(old_lines: int, new_lines: int) -> Hunk:
    return Hunk(1, old_lines, 1, new_lines, 0, 0, 0, 0, b"", b"")


def test_it_knows_words_that_stand_side_by_side_or_two_apart() -> None:
    kept = neighbours_of(["set the pool lock", "lazily"])
    asked = [("pool", "lock"), ("set", "pool"), ("lock", "lazili"), ("set", "lock")]
    assert are_neighbours(kept, asked) == [True, True, True, False]


def test_it_takes_identifiers_for_the_words_in_them() -> None:
    kept = neighbours_of(["def get_user_by_id(): ..."])
    assert all(are_neighbours(kept, asked_neighbours("user by id")))


def test_it_seldom_sees_neighbours_that_are_none() -> None:
    kept = neighbours_of([" ".join(f"left{n}x right{n}x" for n in range(60))])
    asked = [(f"wrong{n}", f"pair{n}") for n in range(2_000)]
    assert sum(are_neighbours(kept, asked)) < 100


@pytest.mark.parametrize("text", ["", " ", "word", "今天玩成语", "\ud800 a", "x" * 100_000])
def test_it_keeps_the_neighbours_of_any_text(text: str) -> None:
    assert are_neighbours(neighbours_of([text]), [("a", "b")]) == [False]


def test_it_asks_for_neighbours_without_stop_words_and_each_word_once() -> None:
    assert asked_neighbours("fix the typo in docs, fix it") == [("fix", "typo"), ("typo", "doc")]


def test_it_counts_what_became_of_files_and_lines() -> None:
    found = shape_of(
        ChangedFile(None, b"src/a.py", None, b"# why\nx = 1\n", (hunk(0, 2),)),
        ChangedFile(b"tests/test_a.py", None),
        ChangedFile(b"docs/a.md", b"docs/b.md"),
        ChangedFile(b"CHANGES.md", b"CHANGES.md", b"a\n", b"b\n", (hunk(1, 1),)),
    )
    assert (found["files"], found["new"], found["deleted"], found["renamed"]) == (4, 1, 1, 1)
    kinds = (found["code"], found["tests"], found["documents"], found["change_logs"])
    assert kinds == (1, 1, 1, 1)
    lines = (found["added_lines"], found["removed_lines"], found["comment_lines"], found["hunks"])
    assert lines == (3, 1, 1, 2)


def test_it_keeps_every_count_in_a_smallint() -> None:
    assert max(Shape(added_lines=1 << 40).counts()) == COUNT_LIMIT


@pytest.mark.parametrize("counts", [[0] * len(COUNTS), [COUNT_LIMIT] * len(COUNTS)])
def test_every_shape_has_its_features(counts: list[int]) -> None:
    found = features(counts)
    assert len(found) == len(FEATURES)
    assert all(0.0 <= number < 10.0 for number in found)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Remove the legacy token", {"remove": 1.0}),
        ("docs: fix a typo", {"document": 1.0, "fix": 1.0, "typo": 0.6}),
        ("legacy token of users", {"none": 1.0}),
        ("", {"none": 1.0}),
    ],
)
def test_it_reads_the_verbs_of_a_question(question: str, found: dict[str, float]) -> None:
    assert verbs(question) == found


def test_the_second_score_is_the_first_where_nothing_is_kept() -> None:
    weights = ranking.shape_weights(verbs("remove it"))
    assert ranking.second_score(3.5, [], None, weights) == 3.5


def test_it_explains_the_very_shape_it_scores() -> None:
    counts = Shape(added_lines=3, files=1, code=1, hunks=1).counts()
    weights = ranking.shape_weights(verbs("add a token"))
    explained = sum(ranking.explain_shape(counts, weights).values())
    assert ranking.second_score(1.0, [2.0], counts, weights) == pytest.approx(
        1.0 + 2.0 * ranking.NEIGHBOUR_WEIGHT + explained
    )
