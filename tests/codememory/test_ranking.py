"""The formula: fields into impacts, impacts and rarity into a score."""

from __future__ import annotations

import pytest

from codememory.search import ranking
from codememory.search.change_fields import (
    COMMIT_LIMIT,
    ChangedFile,
    change_fields,
    change_impacts,
    text_impacts,
)
from collectors.values import Hunk, PathClass


def hunk(old: tuple[int, int], new: tuple[int, int]) -> Hunk:
    return Hunk(*old, *new, 0, 0, 0, 0, b"", b"")


def edit(path: bytes, old: bytes, new: bytes, *hunks: Hunk) -> ChangedFile:
    return ChangedFile(path, path, old, new, hunks)


SOURCE = b"import os\n\n\ndef refund(order):\n    total = order.total\n    return total\n"
FIXED = SOURCE.replace(b"return total\n", b"return max(total, 0)\n")
FIX = edit(b"shop/orders.py", SOURCE, FIXED, hunk((6, 1), (6, 1)))


def test_it_files_paths_changed_lines_and_their_surroundings() -> None:
    counts = change_fields([FIX]).counts
    assert set(counts["base"]) == {"order", "py"}
    assert "max" in counts["acode"]
    assert "refund" in counts["fn"]
    assert "total" in counts["ctx"]


def test_it_tells_what_is_on_one_side_only() -> None:
    counts = change_fields([FIX]).counts
    assert set(counts["dnew"]) == {"max", "0"}
    assert counts["dgone"] == {}


def test_it_files_comments_tests_documents_and_change_logs_apart() -> None:
    added = hunk((0, 0), (1, 1))
    files = [
        ChangedFile(None, b"a.py", None, b"# remember quokka\n", (added,)),
        ChangedFile(None, b"tests/test_a.py", None, b"def test_wombat(): ...\n", (added,)),
        ChangedFile(None, b"docs/a.rst", None, b"About numbats\n", (added,)),
        ChangedFile(None, b"CHANGES.md", None, b"Fix bilby\n", (added,)),
        ChangedFile(None, b"setup.cfg", None, b"name = dingo\n", (added,)),
    ]
    counts = change_fields(files).counts
    found = {name: set(counts[name]) for name in ("acmt", "tdef", "adoc", "achg", "acfg")}
    assert "quokka" in found["acmt"]
    assert "wombat" in found["tdef"]
    assert "numbat" in found["adoc"]
    assert "bilbi" in found["achg"]
    assert "dingo" in found["acfg"]


def test_it_weighs_a_path_above_a_line() -> None:
    impacts = change_impacts(change_fields([FIX]).weighed())
    assert impacts["order"] > impacts["max"]


def test_it_raises_a_term_the_project_never_had() -> None:
    fields = change_fields([FIX]).weighed()
    plain, first = change_impacts(fields), change_impacts(fields, {"max", "absent"})
    assert first["max"] > plain["max"]
    assert "absent" not in first


def test_it_reads_nothing_of_an_excluded_file_but_its_path() -> None:
    where = (hunk((1, 1), (1, 1)),)
    key = ChangedFile(b"a/key.pem", b"a/key.pem", b"x\n", b"secret\n", where, PathClass.EXCLUDED)
    assert set(change_impacts(change_fields([key]).weighed())) == {"a", "key", "pem"}


def test_it_stops_at_the_limit_of_a_commit() -> None:
    text = b"".join(b"word%d = %d\n" % (n, n) for n in range(5_000))
    files = [
        ChangedFile(None, b"f%d.py" % n, None, text, (hunk((0, 0), (1, 5_000)),)) for n in range(99)
    ]
    read = sum(count for term, count in change_fields(files).added.items() if term == "word")
    assert read <= COMMIT_LIMIT / len("word0 = 0\n")


def test_it_survives_sides_that_are_missing_or_not_text() -> None:
    files = [
        ChangedFile(b"gone.bin", None),
        edit(b"\xff\xfe.py", b"\xff\x00\n", b"\xfe\n", hunk((1, 1), (1, 1))),
        edit(b"short.py", b"", b"a\n", hunk((90, 3), (70, 9))),
    ]
    assert change_impacts(change_fields(files).weighed())


def test_it_weighs_a_heading_above_a_body() -> None:
    impacts = text_impacts({"heading": "Refunds", "body": "An order can be returned."})
    assert impacts["refund"] > impacts["order"]


@pytest.mark.parametrize("impact", [0.001, 0.01, 0.3, 2.6, 40.0, 250.0])
def test_it_keeps_an_impact_within_two_percent(impact: float) -> None:
    assert ranking.dequantise(ranking.quantise(impact)) == pytest.approx(impact, rel=0.02)


def test_it_keeps_every_impact_in_a_smallint() -> None:
    assert 1 <= ranking.quantise(0.0) <= ranking.quantise(1e9) <= 32_767


def test_it_rates_rare_terms_higher_and_never_below_zero() -> None:
    rarities = [ranking.idf(1_000, n) for n in (1, 10, 500, 1_000, 2_000)]
    assert rarities == sorted(rarities, reverse=True)
    assert min(rarities) >= 0
