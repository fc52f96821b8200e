"""One test for each rule over removed lines and deleted files."""

from __future__ import annotations

from dataclasses import replace

from codememory.verdicts import Method, VerdictKind, judge_deletion, judge_hunk
from tests.codememory.verdict_worlds import BASE, PATH, TextWorld, case_of, judge

AUDIT = b"        audit.write('cart cleared', self.owner)\n        audit.flush(timeout=30)\n"
AUDITED = BASE.replace(b"    def clear(self):\n", b"    def clear(self):\n" + AUDIT)
BODY = b"        self.rows = []\n"


def test_a_place_still_closed_is_current() -> None:
    verdict = judge(AUDITED, BASE, b"# Shop\n" + BASE)
    assert verdict.verdict is VerdictKind.CURRENT_SUPPORTED
    assert verdict.method is Method.SITE_INTACT


def test_a_place_with_something_new_in_it_is_current() -> None:
    now = BASE.replace(b"clear(self):\n", b"clear(self):\n        log.debug('clearing %s', self)\n")
    assert judge(AUDITED, BASE, now).method is Method.SITE_EDITED


def test_removed_lines_that_are_back_end_the_deletion() -> None:
    verdict = judge(AUDITED, BASE, AUDITED + b"\n# end of the cart\n")
    assert verdict.verdict is VerdictKind.HISTORICAL
    assert verdict.method is Method.RESTORED


def test_some_lines_back_ask_for_a_recheck() -> None:
    now = BASE.replace(b"clear(self):\n", b"clear(self):\n" + AUDIT.splitlines(True)[0])
    assert judge(AUDITED, BASE, now).method is Method.PARTLY_RESTORED


def test_weak_lines_are_back_only_at_their_place() -> None:
    old = BASE.replace(b"import decimal\n", b"import decimal\nDEBUG = 1\n")
    elsewhere = judge(old, BASE, BASE + b"\nDEBUG = 1\n")
    there = judge(old, BASE, old + b"\n# end of the cart\n")
    assert elsewhere.method is Method.SITE_INTACT
    assert there.method is Method.RESTORED


def test_absent_lines_hold_without_their_neighbours() -> None:
    now = BASE.replace(b"    def clear(self):\n", b"    def empty(self):\n")
    assert judge(AUDITED, BASE, now).method is Method.ABSENT


def test_absent_weak_lines_without_neighbours_ask_for_a_recheck() -> None:
    old = BASE.replace(b"clear(self):\n", b"clear(self):\n        flush()\n")
    now = BASE.replace(b"    def clear(self):\n", b"    def empty(self):\n")
    assert judge(old, BASE, now).method is Method.WEAK_ONLY


def test_lines_that_also_stand_elsewhere_are_judged_by_the_place_alone() -> None:
    old = BASE + BODY
    assert judge(old, BASE, b"# Shop\n" + BASE).method is Method.SITE_INTACT
    assert judge(old, BASE, BASE + b"        self.owner = None\n").method is Method.DUPLICATED_LINES


def test_a_deletion_loses_its_meaning_with_its_file() -> None:
    verdict = judge(AUDITED, BASE, None)
    assert (verdict.verdict, verdict.method) == (VerdictKind.HISTORICAL, Method.CONTEXT_GONE)


def test_a_removal_that_left_only_punctuation_is_judged_as_a_deletion() -> None:
    old = b"start()\nlaunch(rockets, target=moon)\nstop()\n"
    new = b"start()\n)\nstop()\n"
    assert judge(old, new, new + b"rest()\n").method is Method.SITE_EDITED


def test_a_move_within_the_commit_is_judged_on_the_other_side() -> None:
    case = replace(case_of(AUDITED, BASE), moved_to=b"shop/audit.py")
    verdict = judge_deletion(case, TextWorld({PATH: BASE}))
    assert (verdict.method, verdict.path) == (Method.MOVED_BY_CHANGE, b"shop/audit.py")


def test_a_deleted_file_stays_deleted_while_its_path_is_absent() -> None:
    assert judge(BASE, None, None).method is Method.ABSENT


def test_a_deleted_file_that_is_back_is_restored() -> None:
    assert judge(BASE, None, BASE + b"# back\n").method is Method.RESTORED


def test_another_file_under_a_deleted_path_does_not_undo_the_deletion() -> None:
    verdict = judge(BASE, None, b"class Basket:\n    colour = 'wicker brown'\n")
    assert verdict.verdict is VerdictKind.CURRENT_SUPPORTED


def test_a_deleted_file_partly_back_asks_for_a_recheck() -> None:
    half = b"".join(BASE.splitlines(True)[8:10]) + b"    colour = 'wicker brown'\n"
    assert judge(BASE, None, half).verdict is VerdictKind.RECHECK_REQUIRED


def test_a_deleted_binary_that_is_back_is_restored() -> None:
    case = replace(case_of(BASE, None), hunk=None)
    assert judge_hunk(case, TextWorld({PATH: BASE})).method is Method.RESTORED
    assert judge_hunk(case, TextWorld({})).method is Method.ABSENT
