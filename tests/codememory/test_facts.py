"""Facts are read out of stored history: symbols of each version, and what later changes undo."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory import symbol_reader
from codememory.facts import are_facts_complete
from codememory.models import CodeFacts, FactsProgress, GapRecord, Reversal, SymbolChange
from tests.collected import collect
from tests.fingerprint import fingerprint
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


def test_other_rules_read_all_anew_and_find_the_same(repo: RepoBuilder) -> None:
    repo.write("shop/refund.py", CHANGED)
    repo.commit()
    repo.write("shop/refund.py", REFUND)
    repo.commit()
    project = collect(repo, ("git",))
    before = fingerprint(project.scope_id)
    FactsProgress.objects.update(revision=0)
    collect(repo, ("git",))
    assert fingerprint(project.scope_id) == before
    assert are_facts_complete(project.scope_id, 1)


def test_new_commits_are_read_from_where_the_last_run_stopped(repo: RepoBuilder) -> None:
    project = collect(repo, ("git",))
    first = set(SymbolChange.objects.values_list("pk", flat=True))
    repo.write("shop/refund.py", CHANGED)
    repo.commit()
    assert are_facts_complete(project.scope_id, 1)
    collect(repo, ("git",))
    assert first < set(SymbolChange.objects.values_list("pk", flat=True))


@pytest.mark.usefixtures("fresh_processes")
def test_a_parser_that_hangs_is_a_gap_and_stops_nothing(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbol_reader, "PARSE_SECONDS", 1e-6)
    monkeypatch.setattr(symbol_reader, "PART_SECONDS", 1e-6)
    collect(repo, ("git",))
    assert list(GapRecord.objects.values_list("reason", flat=True)) == ["DEADLINE"]
    assert CodeFacts.objects.get().coverage == "TEXTUAL_ONLY"
