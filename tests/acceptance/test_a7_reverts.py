"""A7: what was undone is found by content alone; every message says `fx`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.models import Reversal
from codememory.timeline import history_of
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db
PATH = "shop/refund.py"
REFUND = '''\
"""Refunds."""

RATE = 100


def amount(order):
    total = sum(line.price for line in order.lines)
    return round_up(total)


def keys(order):
    return [key for key in order.keys if key.is_fresh]


def notify(order, channel):
    channel.send(order.customer, "your refund is on its way")
'''
AMOUNT = "    return round_up(total)\n"
CAPPED = "    return min(round_down(total), order.left_to_refund)\n"
FRESH = "    return [key for key in order.keys if key.is_fresh]\n"
STALE = "    return [key for key in order.keys if not key.is_used(order)]\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write(PATH, REFUND)
    repo.commit()
    return repo


def change(repo: RepoBuilder, *pairs: tuple[str, str], path: str = PATH) -> str:
    """Replace texts in the file as it is now, and commit."""
    text = (repo.root / path).read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    repo.write(path, text)
    return repo.commit()


def reversals(repo: RepoBuilder) -> list[tuple[str, str, str]]:
    """(level, earlier commit, later commit) of all that was found."""
    collect(repo, ("git",))
    rows = Reversal.objects.order_by("later_id", "earlier_id", "level")
    return [(row.level, row.earlier.commit.oid, row.later.commit.oid) for row in rows]


def events(repo: RepoBuilder, subject: str) -> dict[str, dict[str, Any]]:
    found = history_of(collect(repo, ("git",)), subject)
    return {event["commit"]: event for event in found["events"]}


def test_a_whole_revert_links_both_ends(repo: RepoBuilder) -> None:
    """`a later change that restores the before side of an earlier one`"""
    tried = change(repo, (AMOUNT, CAPPED))
    undone = change(repo, (CAPPED, AMOUNT))
    assert reversals(repo) == [("FILE", tried, undone)]
    found = events(repo, PATH)
    assert found[undone]["reverts"][0]["commit"] == tried
    assert found[tried]["reverted_by"][0]["commit"] == undone


def test_all_steps_between_are_taken_back_at_once(repo: RepoBuilder) -> None:
    first = change(repo, (AMOUNT, CAPPED))
    second = change(repo, (FRESH, STALE))
    undone = change(repo, (CAPPED, AMOUNT), (STALE, FRESH))
    assert reversals(repo) == [("FILE", first, undone), ("FILE", second, undone)]


def test_one_hunk_is_taken_back_while_the_file_went_on(repo: RepoBuilder) -> None:
    tried = change(repo, (AMOUNT, CAPPED))
    change(repo, (FRESH, STALE))
    undone = change(repo, (CAPPED, AMOUNT))
    assert reversals(repo) == [("HUNK", tried, undone)]


def test_a_symbol_is_taken_back_though_its_lines_moved_and_comments_differ(
    repo: RepoBuilder,
) -> None:
    tried = change(repo, (AMOUNT, CAPPED), ("RATE = 100\n", "RATE = 101\n"))
    change(repo, ("RATE = 101\n", "RATE = 102\n"))
    undone = change(repo, (CAPPED, "    # as it was\n" + AMOUNT))
    assert reversals(repo) == [("SYMBOL", tried, undone)]
    assert events(repo, "amount")[tried]["reverted_by"][0]["symbol"] == "amount"


def test_a_revert_of_a_revert_restores_the_first(repo: RepoBuilder) -> None:
    first = change(repo, (AMOUNT, CAPPED))
    undone = change(repo, (CAPPED, AMOUNT))
    again = change(repo, (AMOUNT, CAPPED))
    assert reversals(repo) == [("FILE", first, undone), ("FILE", undone, again)]
    assert events(repo, PATH)[first]["restored_by"][0]["commit"] == again


def test_a_revert_is_found_after_the_file_was_renamed(repo: RepoBuilder) -> None:
    tried = change(repo, (AMOUNT, CAPPED))
    repo.rename(PATH, "shop/money.py")
    repo.commit()
    change(repo, (FRESH, STALE), path="shop/money.py")
    undone = change(repo, (CAPPED, AMOUNT), path="shop/money.py")
    assert reversals(repo) == [("HUNK", tried, undone)]


def test_a_commit_that_is_undone_in_all_its_files_is_undone_whole(repo: RepoBuilder) -> None:
    repo.write("shop/till.py", REFUND.replace("refund", "till"))
    repo.commit()
    repo.write("shop/till.py", "def till():\n    return open_drawer_of_the_till()\n")
    tried = change(repo, (AMOUNT, CAPPED))
    repo.git("revert", "--no-edit", tried)
    collect(repo, ("git",))
    assert set(Reversal.objects.values_list("level", "is_whole", "share")) == {("FILE", True, 100)}


def test_half_of_a_commit_that_is_undone_is_not_the_whole(repo: RepoBuilder) -> None:
    repo.write("shop/till.py", "def till():\n    return open_drawer_of_the_till()\n")
    tried = change(repo, (AMOUNT, CAPPED))
    undone = change(repo, (CAPPED, AMOUNT))
    assert reversals(repo) == [("FILE", tried, undone)]
    assert not Reversal.objects.get().is_whole


def test_an_added_file_that_goes_unchanged_is_taken_back(repo: RepoBuilder) -> None:
    repo.write("shop/voucher.py", REFUND.replace("refund", "voucher"))
    added = repo.commit()
    repo.remove("shop/voucher.py")
    removed = repo.commit()
    assert reversals(repo) == [("FILE", added, removed)]


def test_an_added_file_that_was_changed_before_it_went_is_only_removed(repo: RepoBuilder) -> None:
    repo.write("shop/voucher.py", REFUND.replace("refund", "voucher"))
    repo.commit()
    change(repo, (AMOUNT, CAPPED), path="shop/voucher.py")
    repo.remove("shop/voucher.py")
    repo.commit()
    assert reversals(repo) == []


def test_a_deleted_file_that_comes_back_is_restored(repo: RepoBuilder) -> None:
    repo.remove(PATH)
    gone = repo.commit()
    repo.write(PATH, REFUND)
    back = repo.commit()
    assert reversals(repo)[-1] == ("FILE", gone, back)


def test_lines_that_were_added_with_others_and_go_later_are_not_called_reverted(
    repo: RepoBuilder,
) -> None:
    more = [f"\n\ndef step_{n}(order):\n    return order.steps[{n}].amount\n" for n in range(9)]
    repo.write(PATH, REFUND + "".join(more))
    repo.commit()
    repo.write(PATH, REFUND + "".join(more[1:]))
    repo.commit()
    assert reversals(repo) == []


def test_what_a_merge_only_shows_is_no_end_of_a_reversal(repo: RepoBuilder) -> None:
    repo.branch("side")
    tried = change(repo, (AMOUNT, CAPPED))
    undone = change(repo, (CAPPED, AMOUNT))
    repo.checkout("main")
    change(repo, (FRESH, STALE))
    repo.merge("side")
    assert reversals(repo) == [("FILE", tried, undone)]


def test_only_what_is_in_its_past_is_taken_back(repo: RepoBuilder) -> None:
    """The same step on another branch, which this one never had, is not undone here."""
    repo.branch("side")
    change(repo, (AMOUNT, CAPPED), (FRESH, STALE))
    repo.checkout("main")
    tried = change(repo, (AMOUNT, CAPPED))
    undone = change(repo, (CAPPED, AMOUNT))
    repo.git("merge", "-q", "-s", "ours", "-m", "fx", "side")
    assert reversals(repo) == [("FILE", tried, undone)]
