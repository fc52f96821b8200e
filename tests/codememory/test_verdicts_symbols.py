"""The rule over the enclosing symbol: its body is now what the change made it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codememory.checkout import Checkout
from codememory.models import FileChange
from codememory.verdict_of import judge_file_change
from codememory.verdicts import Method, Verdict, VerdictKind, judge_hunk
from tests.codememory.test_verdicts import TAXED
from tests.codememory.test_verdicts_deletions import AUDITED
from tests.codememory.verdict_worlds import BASE, PATH, TextWorld, case_of
from tests.collected import collect
from tests.repos import RepoBuilder

OLD = b"""\
def refund(order, gateway):
    return gateway.refund(order.total, order.currency)
"""
NEW = b"""\
def refund(order, gateway):
    if order.is_paid:  # never twice
        ledger = open_ledger(order.shop, order.currency)
        return gateway.refund(order.total, ledger)
    return None
"""
OTHER_COMMENT = NEW.replace(b"# never twice", b"# only what was paid, and once")
CHANGED = NEW.replace(b"order.shop, order.currency", b"order.shop, order.currency, dry=True")


def judge(
    old: bytes, new: bytes, now: bytes, *, number: int = 0, at: bytes = PATH, has: bool = True
) -> Verdict:
    world = TextWorld({at: now}, {at: old}, {PATH: at}, has_symbols=has)
    return judge_hunk(case_of(old, new, number=number), world)


def test_a_body_with_another_comment_is_the_symbol_of_the_change() -> None:
    verdict = judge(OLD, NEW, b"# Shop\n" + OTHER_COMMENT)
    assert (verdict.verdict, verdict.method) == (VerdictKind.CURRENT_SUPPORTED, Method.SYMBOL_MATCH)
    assert verdict.steps[-1].compared == "refund in shop/cart.py"


def test_it_is_found_under_the_name_that_its_file_has_now() -> None:
    verdict = judge(OLD, NEW, OTHER_COMMENT, at=b"shop/refunds.py")
    assert (verdict.method, verdict.path) == (Method.SYMBOL_MATCH, b"shop/refunds.py")


def test_a_body_that_was_changed_since_is_not() -> None:
    now = CHANGED.replace(b"# never twice", b"# only what was paid, and once")
    assert judge(OLD, NEW, now).method is Method.LINES_PARTIAL


def test_the_same_body_under_another_name_is_not() -> None:
    now = OTHER_COMMENT.replace(b"def refund", b"def pay_back")
    assert judge(OLD, NEW, now).method is Method.LINES_PARTIAL


def test_two_copies_of_it_do_not_tell_which() -> None:
    assert (
        judge(OLD, NEW, OTHER_COMMENT + b"\n\n" + OTHER_COMMENT).method is not Method.SYMBOL_MATCH
    )


def test_nothing_is_current_at_its_own_parent_or_after_it_is_undone() -> None:
    assert judge(OLD, NEW, OLD).verdict is VerdictKind.HISTORICAL
    assert judge(OLD, NEW, b"# Shop\n" + OLD).verdict is VerdictKind.HISTORICAL


def test_a_changed_comment_is_not_held_by_the_body_around_it() -> None:
    head = NEW.replace(b"    if order.is_paid:  # never twice\n", b"    if order.is_paid:\n")
    said = head.replace(b"def refund", b"# Refunds need a ledger of their own\ndef refund")
    old = said.replace(b"# Refunds need a ledger of their own", b"# See the handbook, chapter four")
    verdict = judge(old, said, old.replace(b"chapter four", b"chapter five"))
    assert verdict.method is not Method.SYMBOL_MATCH


def test_a_small_body_may_be_equal_by_chance() -> None:
    old, new = b"def tax(net):\n    return 0\n", b"def tax(net):\n    return net * RATE_OF_TAX\n"
    now = b"def tax(net):\n    return net * RATE_OF_TAX  # as of today\n"
    assert judge(old, new, now).method is not Method.SYMBOL_MATCH


def test_without_symbols_the_lines_alone_are_asked() -> None:
    assert judge(OLD, NEW, OTHER_COMMENT, has=False).method is Method.LINES_PARTIAL


def test_lines_outside_of_every_symbol_are_not_held_by_one() -> None:
    new = b"LEDGERS = load_ledgers('shop', retries=3)  # all\n\n\n" + NEW
    now = b"LEDGERS = load_ledgers('shop', retries=3)  # each\n\n\n" + OTHER_COMMENT
    assert judge(b"import shop\n", new, now).method is Method.LINES_PARTIAL


def test_a_removal_loses_its_meaning_with_the_symbol_it_was_in() -> None:
    now = BASE.replace(b"    def clear(self):\n", b"    def empty(self):\n")
    world = TextWorld({PATH: now}, {PATH: AUDITED}, has_symbols=True)
    verdict = judge_hunk(case_of(AUDITED, BASE), world)
    assert verdict.method is Method.CONTEXT_GONE
    assert judge_hunk(case_of(AUDITED, BASE), replace(world, has_symbols=False)).method is (
        Method.ABSENT
    )


def test_a_name_that_is_only_called_is_no_symbol() -> None:
    now = BASE.replace(b"    def clear(self):\n", b"    def empty(self):  # was clear(self)\n")
    world = TextWorld({PATH: now}, {PATH: AUDITED}, has_symbols=True)
    assert judge_hunk(case_of(AUDITED, BASE), world).method is Method.CONTEXT_GONE


def test_lines_in_place_decide_before_any_symbol_is_asked() -> None:
    world = TextWorld({PATH: b"# Shop\n" + TAXED}, {PATH: BASE}, has_symbols=True)
    assert judge_hunk(case_of(BASE, TAXED), world).method is Method.LINES_IN_PLACE


@pytest.mark.django_db(transaction=True)
def test_a_collected_change_is_judged_by_its_stored_symbol(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("cart.py", OLD)
    repo.commit("fx")
    repo.write("cart.py", NEW)
    repo.commit("fx")
    project = collect(repo, ("git",))
    repo.write("cart.py", b"import shop\n\n\n" + OTHER_COMMENT)
    row = FileChange.objects.get(scope_id=project.scope_id, kind="M")
    with Checkout(project) as checkout:
        verdicts = judge_file_change(checkout, row)
    assert {verdict.method for verdict in verdicts} <= {Method.SYMBOL_MATCH, Method.LINES_IN_PLACE}
    assert Method.SYMBOL_MATCH in {verdict.method for verdict in verdicts}
