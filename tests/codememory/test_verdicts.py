"""One test for each rule over added and modified lines, in the order in which they are asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codememory.verdicts import (
    METHOD_KINDS,
    Flag,
    HunkCase,
    Inverse,
    Method,
    Source,
    VerdictKind,
    judge_deletion,
    judge_hunk,
)
from collectors.values import PathClass
from tests.codememory.verdict_worlds import BASE, PATH, TextWorld, case_of, judge

TAXED = BASE.replace(
    b"return sum(row.price for row in self.rows)",
    b"net = sum(row.price for row in self.rows)\n        return net * decimal.Decimal('1.20')",
)
CHECKOUT = b"""\

    def checkout(self, gateway):
        receipt = gateway.charge(self.owner, self.total())
        gateway.record(receipt, rows=len(self.rows))
        self.clear()
        return receipt
"""
WITH_CHECKOUT = BASE + CHECKOUT
LATER = b"\n\nclass Basket(Cart):\n    colour = 'wicker brown'\n"


def test_every_method_belongs_to_one_verdict() -> None:
    assert set(METHOD_KINDS) == set(Method)


def test_a_generated_file_is_not_judged() -> None:
    case = replace(case_of(BASE, TAXED), path_class=PathClass.GENERATED)
    assert judge_hunk(case, TextWorld({PATH: TAXED})).method is Method.NOT_JUDGED


def test_a_missing_image_is_said_and_not_guessed() -> None:
    case = replace(case_of(BASE, TAXED), old_content=None)
    verdict = judge_hunk(case, TextWorld({PATH: TAXED}))
    assert verdict.verdict is VerdictKind.UNKNOWN
    assert verdict.method is Method.SOURCE_UNAVAILABLE


def test_an_unreachable_change_is_judged_by_its_reachable_twin() -> None:
    twin = replace(case_of(BASE, TAXED), commit_oid="d" * 40)
    world = TextWorld({PATH: TAXED + LATER}, known_twin=twin)
    verdict = judge_hunk(replace(case_of(BASE, TAXED), is_reachable=False), world)
    assert verdict.method is Method.LINES_IN_PLACE
    assert (verdict.cites, verdict.flags) == ("d" * 40, (Flag.TWIN,))


def test_an_unreachable_change_without_traces_says_so() -> None:
    case = replace(case_of(BASE, TAXED), is_reachable=False)
    rewritten = BASE.replace(b"sum(row.price for row in self.rows)", b"ledger.balance()")
    assert judge_hunk(case, TextWorld({PATH: rewritten})).method is Method.NOT_REACHABLE


def test_new_quotes_and_wrapping_decide_nothing() -> None:
    old = b"colours = ['red', 'green', 'blue']\n"
    new = b'colours = [\n    "red",\n    "green",\n    "blue",\n]\n'
    assert judge(old, new, new).method is Method.FORMAT_ONLY


def test_the_very_blob_is_current() -> None:
    assert judge(BASE, TAXED, TAXED).method is Method.BLOB_MATCH


def test_lines_kept_in_place_are_current_whatever_else_changed() -> None:
    verdict = judge(BASE, TAXED, b"# Shop\n" + TAXED.replace(b"        ", b"\t\t") + LATER)
    assert verdict.verdict is VerdictKind.CURRENT_SUPPORTED
    assert verdict.method is Method.LINES_IN_PLACE


def test_a_weak_line_is_current_in_its_place() -> None:
    new = BASE.replace(b"import decimal\n", b"import decimal\nVERSION = 4\n")
    assert judge(BASE, new, new + LATER).method is Method.LINES_WEAK_IN_PLACE


def test_a_weak_line_that_was_there_before_proves_too_little() -> None:
    old = b"first()\nreturn None\nsecond()\n"
    new = b"first()\nreturn None\nsecond()\nreturn None\n"
    assert judge(old, new, new + LATER).method is Method.WEAK_ONLY


def test_a_line_elsewhere_in_the_file_is_not_in_place() -> None:
    new = BASE.replace(b"self.owner = owner", b"self.owner = owner.strip().lower()")
    moved = BASE + b"\n    def rename(self, owner):\n        self.owner = owner.strip().lower()\n"
    verdict = judge(BASE, new, moved)
    assert verdict.verdict is VerdictKind.RECHECK_REQUIRED
    assert verdict.method is Method.LINES_PARTIAL


def test_a_copy_that_was_there_all_along_is_no_trace_of_the_change() -> None:
    line = b"        self.rows.sort(key=by_price)\n"
    old = BASE + b"\n    def order(self):\n" + line
    new = old.replace(b"        return sum", line + b"        return sum")
    verdict = judge(old, new, old + LATER)
    assert verdict.verdict is VerdictKind.HISTORICAL
    assert verdict.method is Method.REMOVED


def test_a_repeated_line_needs_a_kept_neighbour_to_be_in_place() -> None:
    old = b"def one():\n    check(alpha)\n\ndef two():\n    check(beta)\n"
    new = old.replace(b"    check(beta)\n", b"    check(beta)\n    assert_closed(ledger)\n")
    copies = b"assert_closed(ledger)\n    rest()\n", b"assert_closed(ledger)\n    sleep()\n"
    now = b"def six():\n    %b\ndef ten():\n    %b" % copies
    assert judge(old, new, now).verdict is VerdictKind.RECHECK_REQUIRED


def test_a_line_only_moved_by_the_change_is_no_proof_that_it_holds() -> None:
    line = b"    audit.write(cart, total)\n"
    old, new = b"def a():\n" + line + b"    go()\n", b"def a():\n    go()\n" + line
    verdicts = [judge(old, new, now).verdict for now in (old, old + LATER)]
    assert VerdictKind.CURRENT_SUPPORTED not in verdicts


def test_of_two_files_that_continue_one_the_nearer_is_judged() -> None:
    class Split(TextWorld):
        def followed_paths(self, path: bytes, _case: HunkCase) -> tuple[bytes, ...]:
            return (path, b"shop/base.py")

    world = Split({PATH: b"from shop.base import Cart\n", b"shop/base.py": TAXED + LATER})
    verdict = judge_hunk(case_of(BASE, TAXED), world)
    assert (verdict.method, verdict.path) == (Method.LINES_IN_PLACE, b"shop/base.py")


def test_lines_moved_in_the_file_as_a_run_are_current() -> None:
    new = BASE.replace(b"    def __init__", CHECKOUT[1:] + b"\n    def __init__") + LATER
    verdict = judge(BASE + LATER, new, BASE + LATER + CHECKOUT)
    assert verdict.method is Method.LINES_MOVED_IN_FILE


def test_a_rewrapped_statement_is_current() -> None:
    new = BASE + b"\nreport = Report(title='Monthly sales', rows=cart.rows)\n"
    now = BASE + b'\nreport = Report(\n    title="Monthly sales",\n    rows=cart.rows,\n)\n'
    assert judge(BASE, new, now).method is Method.REFORMATTED


def test_lines_moved_to_a_file_that_lacked_them_are_current_there() -> None:
    world = TextWorld({PATH: BASE, b"shop/pay.py": b"class Pay:\n" + CHECKOUT}, {PATH: BASE})
    verdict = judge_hunk(case_of(BASE, WITH_CHECKOUT), world)
    assert verdict.method is Method.LINES_MOVED_FILE
    assert verdict.path == b"shop/pay.py"


def test_a_file_that_had_the_lines_before_is_no_new_home() -> None:
    old_copy = b"class Pay:\n" + CHECKOUT
    world = TextWorld({PATH: BASE, b"pay.py": old_copy}, {PATH: BASE, b"pay.py": old_copy})
    assert judge_hunk(case_of(BASE, WITH_CHECKOUT), world).method is Method.REMOVED


def test_a_renamed_file_is_followed() -> None:
    world = TextWorld({b"src/cart.py": TAXED + LATER}, renames={PATH: b"src/cart.py"})
    verdict = judge_hunk(case_of(BASE, TAXED), world)
    assert verdict.method is Method.LINES_IN_PLACE
    assert verdict.path == b"src/cart.py"


def test_a_partly_kept_hunk_is_rechecked_with_its_share() -> None:
    now = TAXED.replace(b"return net * decimal.Decimal('1.20')", b"return net.gross()")
    verdict = judge(BASE, TAXED, now)
    assert verdict.method is Method.LINES_PARTIAL
    assert verdict.share == pytest.approx(0.53, abs=0.02)


def test_one_telling_line_in_another_file_asks_for_a_recheck() -> None:
    other = b"def charge(gateway):\n    gateway.record(receipt, rows=len(self.rows))\n"
    world = TextWorld({PATH: BASE, b"pay.py": other}, {PATH: BASE})
    verdict = judge_hunk(case_of(BASE, WITH_CHECKOUT), world)
    assert (verdict.method, verdict.path) == (Method.CONTENT_ELSEWHERE, b"pay.py")


def test_the_before_side_come_back_is_a_revert_citing_its_commit() -> None:
    world = TextWorld({PATH: BASE + LATER}, undone=Inverse("e" * 40, 1.0))
    verdict = judge_hunk(case_of(BASE, TAXED), world)
    assert verdict.verdict is VerdictKind.HISTORICAL
    assert (verdict.method, verdict.cites) == (Method.REVERTED, "e" * 40)


def test_a_short_value_come_back_is_said_to_be_only_that() -> None:
    old, new = b"name = 'shop'\nversion = 1\n", b"name = 'shop'\nversion = 2\n"
    verdict = judge(old, new, old + LATER)
    assert (verdict.method, verdict.flags) == (Method.REVERTED, (Flag.VALUE_RESTORED,))


@pytest.mark.parametrize(("share", "method"), [(0.5, Method.REMOVED), (1.0, Method.REVERTED)])
def test_a_gone_addition_is_reverted_only_with_its_commit(share: float, method: Method) -> None:
    world = TextWorld({PATH: BASE + LATER}, undone=Inverse("e" * 40, share))
    assert judge_hunk(case_of(BASE, WITH_CHECKOUT), world).method is method


def test_lines_replaced_by_others_are_historical() -> None:
    now = BASE.replace(b"return sum(row.price for row in self.rows)", b"return ledger.balance()")
    verdict = judge(BASE, TAXED, now)
    assert (verdict.verdict, verdict.method) == (VerdictKind.HISTORICAL, Method.REPLACED)


def test_lines_of_a_file_that_is_gone_are_historical() -> None:
    assert judge(BASE, TAXED, None).method is Method.FILE_GONE


def test_a_change_in_place_again_after_its_revert_is_flagged() -> None:
    world = TextWorld({PATH: TAXED + LATER}, undone=Inverse("e" * 40, 1.0))
    verdict = judge_hunk(case_of(BASE, TAXED), world)
    assert verdict.verdict is VerdictKind.CURRENT_SUPPORTED
    assert verdict.flags == (Flag.REAPPLIED,)


@pytest.mark.parametrize(
    ("source", "is_dirty", "flags"),
    [
        (Source.HEAD, False, (Flag.HEAD_ONLY,)),
        (Source.WORKTREE, True, (Flag.DIRTY,)),
        (Source.WORKTREE, False, ()),
    ],
)
def test_what_was_judged_is_flagged(source: Source, is_dirty: bool, flags: tuple[Flag]) -> None:
    world = TextWorld({PATH: TAXED}, source=source, is_dirty=is_dirty)
    assert judge_hunk(case_of(BASE, TAXED), world).flags == flags


def test_the_change_does_not_hold_at_its_own_parent() -> None:
    """The first control: before the change nothing of it may be called current."""
    verdicts = [judge(BASE, new, BASE) for new in (TAXED, WITH_CHECKOUT)]
    assert {verdict.verdict for verdict in verdicts} == {VerdictKind.HISTORICAL}


def test_the_change_does_not_hold_once_its_hunk_is_undone() -> None:
    """The second control: the file went on, and only this hunk was taken back."""
    undone = b"# Shop\n" + BASE + LATER
    verdicts = [judge(BASE, new, undone) for new in (TAXED, WITH_CHECKOUT)]
    assert {verdict.verdict for verdict in verdicts} == {VerdictKind.HISTORICAL}


def test_steps_name_the_rules_and_hold_no_text() -> None:
    verdict = judge(BASE, TAXED, BASE)
    assert verdict.steps[0].rule == "5 in place"
    assert all("decimal" not in step.compared + step.answer for step in verdict.steps)


def test_a_binary_change_is_judged_by_its_blobs() -> None:
    case = replace(case_of(BASE, TAXED), hunk=None, old_content=None, new_content=None)
    verdicts = [judge_hunk(case, TextWorld({PATH: now})) for now in (TAXED, BASE, LATER)]
    methods = [verdict.method for verdict in verdicts]
    assert methods == [Method.BLOB_MATCH, Method.REVERTED, Method.REPLACED]


def test_a_hunk_that_adds_lines_is_no_deletion() -> None:
    with pytest.raises(ValueError, match="adds no lines"):
        judge_deletion(case_of(BASE, TAXED), TextWorld({PATH: TAXED}))
