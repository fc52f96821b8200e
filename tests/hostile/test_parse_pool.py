"""A parser that hangs, dies or lies costs its one document and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors.errors import ParserUnavailableError
from collectors.parse_pool import Crashed, Deadline, ParsePool
from collectors.values import Gap, GapReason
from tests.hostile.parsers import Counted

HERE = "tests.hostile.parsers:"


@pytest.fixture
def pool() -> Iterator[ParsePool]:
    with ParsePool() as found:
        yield found


def test_one_warm_worker_serves_item_after_item(pool: ParsePool) -> None:
    found = [pool.submit(HERE + "count", b"x" * size, 2.0, b"a.md") for size in (1, 5 << 20)]
    assert [each.size for each in found] == [1, 5 << 20]
    assert {each.worker for each in found} == {pool.pid}
    assert found[0].gaps == (Gap(GapReason.BINARY, b"a.md"),)


def test_a_parser_that_spins_is_killed_and_the_next_item_is_served(pool: ParsePool) -> None:
    assert pool.submit(HERE + "spin", b"x", 0.1) == Deadline(0.1)
    assert isinstance(pool.submit(HERE + "count", b"x", 2.0), Counted)
    assert pool.started == 2


def test_a_parser_that_waits_is_killed_by_the_clock(pool: ParsePool) -> None:
    pool.submit(HERE + "count", b"x", 2.0)
    first = pool.pid
    assert pool.submit(HERE + "sleep", b"x", 0.05) == Deadline(0.05)
    assert first is not None
    assert not Path(f"/proc/{first}").exists()


@pytest.mark.parametrize(
    ("function", "detail"),
    [("fail", "KeyError"), ("recurse", "RecursionError"), ("grow", "MemoryError")],
)
def test_a_parser_that_raises_is_told_by_its_error(
    function: str, detail: str, pool: ParsePool
) -> None:
    assert pool.submit(HERE + function, b"secret", 2.0) == Crashed(detail)
    assert isinstance(pool.submit(HERE + "count", b"x", 2.0), Counted)
    assert pool.started == 1


@pytest.mark.parametrize(("function", "detail"), [("die", "SIGSEGV"), ("leave", "status 3")])
def test_a_worker_that_dies_is_replaced(function: str, detail: str, pool: ParsePool) -> None:
    assert pool.submit(HERE + function, b"x", 2.0) == Crashed(detail)
    assert isinstance(pool.submit(HERE + "count", b"x", 2.0), Counted)


def test_code_that_is_not_there_is_no_document_s_fault(pool: ParsePool) -> None:
    with pytest.raises(ParserUnavailableError):
        pool.submit(HERE + "absent", b"x", 2.0)
    assert isinstance(pool.submit(HERE + "count", b"x", 2.0), Counted)


def test_nothing_a_worker_answers_is_carried_out(pool: ParsePool) -> None:
    assert pool.submit(HERE + "trap", b"x", 2.0) == Crashed("UnpicklingError")
    assert not Path("/tmp/codememory-canary").exists()  # noqa: S108


def test_a_worker_knows_nothing_of_ours(pool: ParsePool) -> None:
    found = pool.submit(HERE + "environment", b"", 2.0)
    assert set(found) <= {"PATH", "LC_ALL", "LC_CTYPE"}
    assert pool.submit(HERE + "descriptors", b"", 2.0) == 3


def test_a_worker_ends_with_its_pool() -> None:
    with ParsePool() as pool:
        pool.submit(HERE + "count", b"", 2.0)
        worker = pool.pid
    assert worker is not None
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
