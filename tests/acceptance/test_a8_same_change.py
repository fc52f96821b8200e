"""A8: one change that several commits show is one change; a merge owns what no parent had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.models import FileChange, LogicalChange, SymbolChange
from codememory.timeline import history_of
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db
LINES = [f"    step_{n} = order.steps[{n}].amount\n" for n in range(30)]
HEAD = "def refund(order):\n"
PATH = "shop/refund.py"


def text(**changed: str) -> str:
    """The function with some of its steps (`s3="..."`) written otherwise."""
    steps = list(LINES)
    for name, line in changed.items():
        steps[int(name[1:])] = f"    {line}\n"
    return HEAD + "".join(steps)


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write(PATH, text())
    repo.commit()
    return repo


def write(repo: RepoBuilder, **changed: str) -> str:
    repo.write(PATH, text(**changed))
    return repo.commit()


def history(repo: RepoBuilder, subject: str = "refund") -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = history_of(collect(repo, ("git",)), subject)["events"]
    return events


def owners(repo: RepoBuilder, oid: str) -> int:
    """How many rows of a commit belong to a change that no earlier commit shows."""
    collect(repo, ("git",))
    rows = FileChange.objects.filter(commit__oid=oid, logical_change__isnull=False)
    first = (FileChange.objects.filter(logical_change_id=row.logical_change_id) for row in rows)
    return sum(found.order_by("commit_id")[0].commit.oid == oid for found in first)


def test_a_cherry_pick_is_one_event_with_both_commits(repo: RepoBuilder) -> None:
    repo.branch("side")
    picked = write(repo, s3="fee = order.fee * order.fee_share")
    repo.checkout("main")
    write(repo, s25="tax = order.tax * order.tax_share")
    repo.git("cherry-pick", picked)
    copy = repo.head()
    repo.git("merge", "-q", "-s", "ours", "-m", "fx", "side")
    found = history(repo)
    assert len(found) == 3  # the root, the one of main, and the picked one once
    assert [event for event in found if {picked, copy} <= set(event["commits"])]


def test_a_rebased_branch_is_the_same_changes(repo: RepoBuilder) -> None:
    repo.branch("side")
    olds = [
        write(repo, s3="fee = order.fee * order.fee_share"),
        write(repo, s3="fee = order.fee * order.fee_share", s5="vat = order.vat_of_fee"),
    ]
    repo.git("tag", "kept")
    repo.checkout("main")
    write(repo, s25="tax = order.tax * order.tax_share")
    repo.git("rebase", "-q", "main", "side")
    news = repo.git("rev-list", "--reverse", "main..side").split()
    repo.git("merge", "-q", "-s", "ours", "-m", "fx", "kept")
    found = history(repo)
    assert len(found) == 4  # the root, the one of main, and each of the branch once
    shown = [set(event["commits"]) for event in found]
    assert all(any({old, new} <= one for one in shown) for old, new in zip(olds, news, strict=True))


def test_a_squash_is_a_change_of_its_own(repo: RepoBuilder) -> None:
    repo.branch("side")
    write(repo, s3="fee = order.fee * order.fee_share")
    write(repo, s3="fee = order.fee * order.fee_share", s5="vat = order.vat_of_fee")
    repo.checkout("main")
    repo.git("merge", "-q", "--squash", "side")
    squash = repo.commit()
    assert owners(repo, squash) == 1
    assert history(repo)[0]["commits"] == [squash]


def test_a_merge_with_content_of_its_own_owns_just_that(repo: RepoBuilder) -> None:
    """`Content that is in no parent belongs to the merge (evil merges)`"""
    repo.branch("side")
    write(repo, s3="fee = order.fee * order.fee_share")
    repo.checkout("main")
    write(repo, s25="tax = order.tax * order.tax_share")
    repo.git("merge", "-q", "--no-commit", "--no-ff", "side")
    both = {"s3": "fee = order.fee * order.fee_share", "s25": "tax = order.tax * order.tax_share"}
    merge = write(repo, **both, s14="evil = order.nobody_wrote_this()")
    event = history(repo)[0]
    assert (event["commit"], event["added_lines"]) == (merge, 1)


def test_a_clean_merge_is_no_event(repo: RepoBuilder) -> None:
    repo.branch("side")
    write(repo, s3="fee = order.fee * order.fee_share")
    repo.checkout("main")
    write(repo, s25="tax = order.tax * order.tax_share")
    merge = repo.merge("side")
    assert all(event["commit"] != merge for event in history(repo))


def test_an_octopus_merge_is_no_event(repo: RepoBuilder) -> None:
    for number in (1, 2, 3):
        repo.branch(f"side{number}", "main")
        repo.write(f"shop/part_{number}.py", text(s3=f"part = order.part_number({number})"))
        repo.commit()
    repo.checkout("main")
    write(repo, s25="tax = order.tax * order.tax_share")
    merge = repo.merge("side1", "side2", "side3")
    assert owners(repo, merge) == 0
    assert SymbolChange.objects.filter(kind="ADDED").count() == 4


def test_a_criss_cross_merge_adds_nothing(repo: RepoBuilder) -> None:
    repo.branch("side")
    write(repo, s3="fee = order.fee * order.fee_share")
    repo.git("tag", "a")
    repo.checkout("main")
    write(repo, s25="tax = order.tax * order.tax_share")
    repo.git("tag", "b")
    first = repo.merge("a")
    repo.checkout("side")
    second = repo.merge("b")
    repo.checkout("main")
    last = repo.merge("side")
    assert [owners(repo, merge) for merge in (first, second, last)] == [0, 0, 0]
    assert LogicalChange.objects.count() == 3
