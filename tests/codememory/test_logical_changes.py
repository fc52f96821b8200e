"""What a commit itself did: its whole difference, or of a merge only what no parent had."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from codememory.logical_changes import (
    Comparison,
    Pair,
    assign_identities,
    group_comparisons,
    identity_of,
)
from collectors.values import ContentChange, ContentClass, Hunk, RawChange


def oid(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def row(commit: str, old: str, new: str, path: bytes = b"a.py", parent: int = 0) -> RawChange:
    return RawChange(commit, parent, "M", 0o100644, 0o100644, oid(old), oid(new), path, path)


def hunk(new_line: int, new_lines: int) -> Hunk:
    return Hunk(new_line, 1, new_line, new_lines, 0, 1, 0, 1, b"o" * 32, b"n" * 32)


def content(old: str, new: str, *hunks: Hunk) -> dict[Pair, ContentChange]:
    pair = (oid(old), oid(new))
    return {pair: ContentChange(*pair, ContentClass.TEXT, hunks=hunks)}


def assigned(
    rows: list[RawChange],
    contents: dict[Pair, ContentChange],
    known: frozenset[bytes] = frozenset(),
) -> list[Comparison]:
    comparisons = group_comparisons(rows)
    assign_identities(comparisons, contents.get, lambda asked: asked & known)
    return comparisons


def identity(rows: list[RawChange], contents: dict[Pair, ContentChange] | None = None) -> bytes:
    return identity_of(rows, (contents or {}).get)


def test_the_same_content_on_two_commits_has_one_identity() -> None:
    assert identity([row("c1", "1", "2")]) == identity([row("c2", "1", "2")])


def test_the_order_of_rows_does_not_matter() -> None:
    one, two = row("c", "1", "2", b"a"), row("c", "3", "4", b"b")
    assert identity([one, two]) == identity([two, one])


def test_another_path_is_another_change() -> None:
    assert identity([row("c", "1", "2", b"a")]) != identity([row("c", "1", "2", b"b")])


def test_the_same_lines_elsewhere_in_another_version_are_the_same_change() -> None:
    contents = content("1", "2", hunk(3, 1)) | content("5", "6", hunk(90, 1))
    picked, original = row("c2", "5", "6"), row("c1", "1", "2")
    assert identity([picked], contents) == identity([original], contents)


def test_other_lines_are_another_change() -> None:
    other = replace(hunk(3, 1), new_sha256=b"x" * 32)
    contents = content("1", "2", hunk(3, 1)) | content("5", "6", other)
    assert identity([row("c", "1", "2")], contents) != identity([row("c", "5", "6")], contents)


def test_a_patch_that_is_not_whole_is_told_apart_by_its_blobs() -> None:
    one, two = content("1", "2", hunk(3, 1)), content("5", "6", hunk(3, 1))
    cut = {pair: replace(found, hunks_cut=1) for pair, found in (one | two).items()}
    assert identity([row("c", "1", "2")], cut) != identity([row("c", "5", "6")], cut)


def test_an_ordinary_commit_owns_all_its_rows() -> None:
    (only,) = assigned([row("c", "1", "2")], {})
    assert only.owned == {0: None}
    assert only.identity is not None


def test_a_merge_of_one_commit_is_a_view_of_it() -> None:
    rows = [row("c", "1", "2"), row("m", "1", "2", parent=0), row("m", "3", "4", b"b.py", parent=1)]
    commit, merge, other = assigned(rows, {})
    assert merge.identity == commit.identity
    assert other.owned == {}


def test_a_merge_view_is_recognised_from_an_earlier_page() -> None:
    rows = [row("m", "1", "2", parent=0), row("m", "3", "4", b"b.py", parent=1)]
    known = frozenset([identity(rows[:1])])
    assert assigned(rows, {}, known)[0].identity in known


def test_a_clean_merge_owns_nothing() -> None:
    rows = [row("m", "1", "5", parent=0), row("m", "2", "5", parent=1)]
    contents = content("1", "5", hunk(3, 1)) | content("2", "5", hunk(9, 1))
    assert all(comparison.owned == {} for comparison in assigned(rows, contents))


def nothing_known(asked: set[bytes]) -> set[bytes]:
    return set()


def test_a_merge_that_equals_a_parent_owns_nothing() -> None:
    comparisons = group_comparisons([row("m", "1", "5", parent=0), row("m", "2", "6", b"b.py")])
    assign_identities(comparisons, content("1", "5", hunk(3, 1)).get, nothing_known, {"m": 2})
    assert [comparison.owned for comparison in comparisons] == [{}]


def test_a_merge_that_equals_a_parent_is_still_a_view() -> None:
    rows = [row("m", "1", "2", parent=1)]
    comparisons = group_comparisons(rows)
    known = {identity(rows)}
    assign_identities(comparisons, content("8", "9").get, known.intersection, {"m": 2})
    assert comparisons[0].owned == {0: None}


def test_an_evil_merge_owns_the_lines_no_parent_has() -> None:
    rows = [row("m", "1", "5", parent=0), row("m", "2", "5", parent=1)]
    contents = content("1", "5", hunk(3, 1), hunk(20, 2)) | content("2", "5", hunk(20, 2))
    first, second = assigned(rows, contents)
    assert first.owned == {0: (2,)}
    assert second.owned == {}
