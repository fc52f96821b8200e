"""The history of files and symbols is true where they were swapped, renamed, undone in rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.timeline import history_of
from tests.collected import collect
from tests.commands import said
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db


def function(name: str, rate: str = "order.fee") -> str:
    return (
        f"def {name}(order, shop):\n    total = order.total - {rate}\n"
        f"    return shop.book(order, '{name}', total)\n\n\n"
    )


REFUND, CHARGE, SHIP = (function(name) for name in ("refund", "charge", "ship"))
DEARER = function("refund", "order.fee * shop.rate(order)")
TAXED = function("charge", "shop.tax(order)")


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "shop")


def versions(repo: RepoBuilder, path: str, *texts: str | bytes) -> list[str]:
    commits = []
    for text in texts:
        repo.write(path, text)
        commits.append(repo.commit())
    return commits


def events(repo: RepoBuilder, subject: str) -> dict[str, dict[str, Any]]:
    """The events of a subject by commit, the newest first."""
    found = history_of(collect(repo, ("git",)), subject)
    return {event["commit"]: event for event in found["events"]}


def ends(event: dict[str, Any], key: str) -> set[str]:
    return {end["commit"] for end in event[key]}


def test_what_was_taken_back_in_between_is_not_taken_back_again(repo: RepoBuilder) -> None:
    before, dearer = REFUND + CHARGE, DEARER + CHARGE
    _, tried, back, again, _, untaxed = versions(
        repo, "pay.py", before, dearer, before, dearer, DEARER + TAXED, dearer
    )
    found = events(repo, "pay.py")
    assert ends(found[tried], "reverted_by") == {back}
    assert ends(found[again], "reverted_by") == set()
    assert untaxed not in ends(found[back], "reverted_by")


def test_a_round_with_another_edit_in_it_is_no_reversal_of_what_stayed(repo: RepoBuilder) -> None:
    noted = "NOTE = 'booked at the end of each day'\n"
    _, _, _, again, taxed, end = versions(
        repo,
        "pay.py",
        REFUND + CHARGE,
        DEARER + CHARGE,
        REFUND + CHARGE + noted,
        DEARER + CHARGE + noted,
        DEARER + TAXED,
        DEARER + CHARGE,
    )
    found = events(repo, "pay.py")
    assert ends(found[again], "reverted_by") == set()
    assert ends(found[taxed], "reverted_by") == {end}


def test_only_what_was_taken_back_is_restored(repo: RepoBuilder) -> None:
    noted = "NOTE = 'booked at the end of each day'\n"
    _, note, taxed, _ = versions(
        repo,
        "pay.py",
        REFUND + CHARGE,
        REFUND + CHARGE + noted,
        REFUND + TAXED,
        REFUND + CHARGE + "# another end\n",
    )
    found = events(repo, "pay.py")
    assert ends(found[note], "reverted_by") == {taxed}
    assert ends(found[note], "restored_by") == set()


def test_the_churn_of_a_symbol_is_of_its_own_lines(repo: RepoBuilder) -> None:
    versions(repo, "pay.py", REFUND + CHARGE + SHIP, REFUND + TAXED + SHIP)
    found = history_of(collect(repo, ("git",)), "charge")
    assert found["churn"] == {"changes": 2, "added_lines": 4, "removed_lines": 1}
    assert found["events"][1]["added_lines"] == 3


def test_an_earlier_name_tells_the_whole_life(repo: RepoBuilder) -> None:
    versions(repo, "Pay.py", REFUND + CHARGE)
    repo.rename("Pay.py", "pay.py")
    repo.commit()
    versions(repo, "pay.py", REFUND + TAXED)
    project = collect(repo, ("git",))
    assert history_of(project, "Pay.py") == history_of(project, "pay.py") | {
        "subject": {
            "kind": "file",
            "path": "Pay.py",
            "symbol": None,
        }
    }
    assert history_of(project, "Pay.py")["total"] == 3


@pytest.mark.parametrize("subject", ["ship", "new/pay.py:ship", "old/pay.py:ship"])
def test_a_symbol_that_never_changed_is_told_where_its_file_is(
    repo: RepoBuilder, subject: str
) -> None:
    versions(repo, "old/pay.py", REFUND + CHARGE + SHIP)
    repo.rename("old/pay.py", "new/pay.py")
    versions(repo, "new/pay.py", REFUND + TAXED + SHIP)
    found = history_of(collect(repo, ("git",)), subject)
    assert found["subject"] == {"kind": "symbol", "path": "new/pay.py", "symbol": "ship"}
    assert [one["path"] for one in found["names"] if one["path"]] == ["old/pay.py", "new/pay.py"]


def test_a_symbol_of_swapped_files_has_one_life(repo: RepoBuilder) -> None:
    repo.write("a.py", REFUND + function("first"))
    versions(repo, "b.py", CHARGE + function("second"))
    repo.write("a.py", CHARGE + function("second"))
    versions(repo, "b.py", REFUND + function("first"))
    project = collect(repo, ("git",))
    for symbol, path in (("second", "a.py"), ("first", "b.py")):
        found = history_of(project, symbol)
        assert found["choices"] == []
        assert (found["subject"]["path"], found["total"]) == (path, 2)


def test_two_files_under_one_name_are_told_apart(repo: RepoBuilder) -> None:
    versions(repo, "app.py", REFUND + CHARGE + SHIP)
    repo.rename("app.py", "base/app.py")
    left = repo.commit()
    versions(repo, "app.py", "".join(function(f"other_{n}", f"fee_{n}") for n in range(4)))
    assert events(repo, "app.py")[left]["new_path"] == "base/app.py"
    assert "renamed to base/app.py" in said("history", "app.py", "--project", "shop").out


def test_a_file_that_becomes_a_link_says_so(repo: RepoBuilder) -> None:
    versions(repo, "pay.py", REFUND)
    (repo.root / "pay.py").unlink()
    repo.symlink("pay.py", "elsewhere.py")
    repo.commit()
    collect(repo, ("git",))
    assert "became another kind of file" in said("history", "pay.py", "--project", "shop").out


def test_what_was_not_read_of_a_file_is_a_gap_of_its_history(repo: RepoBuilder) -> None:
    versions(repo, "big.txt", "x" * (1 << 20) + "\n", "y" + "x" * (1 << 20) + "\n")
    gaps = history_of(collect(repo, ("git",)), "big.txt")["gaps"]
    assert [gap["count"] for gap in gaps if gap["reason"] == "SKIPPED_FILES"] == [2]


def test_what_changes_no_code_says_so(repo: RepoBuilder) -> None:
    noted = "# Fees are those of the day\n" + REFUND
    _, comment, spacing = versions(repo, "pay.py", REFUND, noted, noted + "\n\n")
    found = events(repo, "pay.py")
    assert [found[one]["difference"] for one in (comment, spacing)] == [
        "COMMENT_ONLY",
        "FORMATTING_ONLY",
    ]
    out = said("history", "pay.py", "--project", "shop").out
    assert out.index("spacing only") < out.index("comments only")


@pytest.mark.parametrize("subject", ["Till.open", "Till::open", "Till#open", "till.py:Till::open"])
def test_a_symbol_is_found_as_any_language_writes_it(repo: RepoBuilder, subject: str) -> None:
    versions(repo, "till.py", "class Till:\n    def open(self):\n        return self.drawer\n")
    assert len(events(repo, subject)) == 1


def test_a_name_with_colons_is_found_in_its_file(repo: RepoBuilder) -> None:
    text = "@implementation Ledger\n- (int)add:(int)sum {\n  return total + sum;\n}\n@end\n"
    versions(repo, "ledger.m", text)
    assert len(events(repo, "ledger.m:Ledger.add:")) == 1


def test_what_became_of_the_methods_is_history_of_their_class(repo: RepoBuilder) -> None:
    till = "class Till:\n    def open(self, key):\n        return self.lock.turn(key)\n"
    closing = "\n    def close(self):\n        self.lock.turn(None)\n"
    logged = till.replace("return ", "self.log(key)\n        return ")
    _, changed, removed = versions(repo, "till.py", till + closing, logged + closing, logged)
    found = events(repo, "Till")
    assert [one["name"] for one in found[changed]["symbols"]] == ["Till.open"]
    assert next(iter(found)) == removed
    assert next(iter(events(repo, "Till.open"))) == changed


def merge_with_an_edit(repo: RepoBuilder) -> tuple[str, str]:
    """A branch that changed `charge`; the merge of it, in which somebody changed `ship` too."""
    before = REFUND + CHARGE + SHIP
    versions(repo, "pay.py", before)
    repo.branch("side")
    (side,) = versions(repo, "pay.py", before.replace(CHARGE, TAXED))
    repo.checkout("main")
    versions(repo, "other.py", "RATE = 1\n")
    repo.git("merge", "-q", "--no-commit", "--no-ff", "side")
    text = before.replace(CHARGE, TAXED).replace(SHIP, function("ship", "shop.insurance(order)"))
    (merge,) = versions(repo, "pay.py", text)
    return side, merge


def test_a_merge_changed_no_symbol_but_those_of_its_own_content(repo: RepoBuilder) -> None:
    side, merge = merge_with_an_edit(repo)
    assert [one["name"] for one in events(repo, "pay.py")[merge]["symbols"]] == ["ship"]
    assert next(iter(events(repo, "charge"))) == side
    assert next(iter(events(repo, "ship"))) == merge


def test_whoever_takes_a_merge_back_takes_back_what_it_brought(repo: RepoBuilder) -> None:
    side, merge = merge_with_an_edit(repo)
    repo.git("revert", "--no-edit", "-m", "1", merge)
    undone = repo.git("rev-parse", "HEAD").strip()
    found = events(repo, "pay.py")
    assert ends(found[side], "reverted_by") == {undone}
    assert ends(found[merge], "reverted_by") == {undone}
    assert ends(events(repo, "charge")[side], "reverted_by") == {undone}


@pytest.mark.parametrize("subject", ["gone\udce9", "pay.py:gone\udce9", "\ud800"])
def test_a_name_of_other_bytes_is_just_not_found(repo: RepoBuilder, subject: str) -> None:
    versions(repo, "pay.py", REFUND)
    assert history_of(collect(repo, ("git",)), subject)["subject"] is None


def test_a_path_is_told_as_it_is_and_not_as_it_was_typed(repo: RepoBuilder) -> None:
    versions(repo, "new\nline.py", REFUND)
    found = history_of(collect(repo, ("git",)), "./new\nline.py")
    assert found["subject"]["path"] == "new\\x0aline.py"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pay.py", "    if shop:\n        shop.book(order)\n        shop.tell(order)\n",
         "    if shop:\n        shop.book(order)\n    shop.tell(order)\n"),
        ("pay.py", '    return "refunded to {}".format(order)\n',
         '    return "refunded  to  {}".format(order)\n'),
    ],
)  # fmt: skip
def test_spacing_that_means_something_is_taken_back(
    repo: RepoBuilder, path: str, before: str, after: str
) -> None:
    head = "def refund(order, shop):\n"
    _, tried, undone = versions(repo, path, head + before, head + after, head + before)
    assert ends(events(repo, path)[tried], "reverted_by") == {undone}


def test_spacing_that_means_nothing_comes_and_goes(repo: RepoBuilder) -> None:
    wide = REFUND.replace(" - ", "   -   ")
    versions(repo, "pay.py", REFUND, wide, REFUND)
    assert all(not event["reverts"] for event in events(repo, "pay.py").values())
