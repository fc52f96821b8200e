"""Facts are read out of stored history: symbols of each version, and what later changes undo."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.models import Reversal, SymbolChange
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)
REFUND = "def refund(order):\n    total = sum(order.lines)\n    return round_up(total)\n"
CHANGED = REFUND.replace("round_up(total)", "min(round_down(total), order.left)")


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop/refund.py", REFUND)
    repo.commit()
    return repo


def kinds(**wanted: object) -> list[tuple[str, str]]:
    rows = SymbolChange.objects.filter(**wanted).order_by("content_change_id", "position")
    return list(rows.values_list("kind", "name__qualified"))


def test_each_version_says_what_it_did_to_symbols(repo: RepoBuilder) -> None:
    repo.write("shop/refund.py", CHANGED)
    repo.commit()
    repo.write("shop/refund.py", CHANGED.replace("order)", "order, at)"))
    repo.commit()
    collect(repo, ("git",))
    assert kinds() == [("ADDED", "refund"), ("MODIFIED", "refund"), ("SIGNATURE", "refund")]


def test_a_name_after_wide_characters_is_not_shifted(repo: RepoBuilder) -> None:
    repo.write("shop/wide.py", "# é🙂\n" + REFUND)
    repo.commit()
    collect(repo, ("git",))
    change = SymbolChange.objects.order_by("pk").last()
    assert change
    assert (change.name.qualified, change.new_first_line, change.new_last_line) == ("refund", 2, 4)


def test_a_file_reversal_is_found_and_linked(repo: RepoBuilder) -> None:
    repo.write("shop/refund.py", CHANGED)
    tried = repo.commit()
    repo.write("shop/refund.py", REFUND)
    undone = repo.commit()
    collect(repo, ("git",))
    row = Reversal.objects.get()
    assert (row.earlier.commit.oid, row.later.commit.oid) == (tried, undone)
    assert (row.level, row.share, row.is_whole) == ("FILE", 100, True)
