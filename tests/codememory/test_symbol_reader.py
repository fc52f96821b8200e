"""Batches of pairs are read ahead; a blob that cannot be read costs itself and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from codememory import symbol_reader
from codememory.symbol_lanes import SymbolLanes
from codememory.symbol_reader import Reading, Sides, SymbolReader
from collectors.symbol_pairs import PairsAnswer, SymbolPair, read_pairs
from collectors.values import GapReason
from tests.collectors.test_history import reading
from tests.repos import RepoBuilder

CONTENTS = {
    "old": b"def a():\n    return 1\n",
    "new": b"def a():\n    return 2\n",
    "hanging": b"# hang\ndef a():\n    return 3\n",
}
RANGES = [2, 1, 2, 1, 9, 22, 9, 22]


def read_hanging(
    content: bytes, pairs: Sequence[SymbolPair], contents: Mapping[str, bytes]
) -> PairsAnswer:
    """Runs in the other process."""
    while CONTENTS["hanging"] in contents.values():
        pass
    return read_pairs(content, pairs, contents)


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "repo")
    for name, content in CONTENTS.items():
        repo.write(f"{name}.py", content)
    repo.commit()
    return repo


@pytest.fixture
def symbols(repo: RepoBuilder, tmp_path: Path) -> Iterator[SymbolReader]:
    with reading(repo, tmp_path) as (_, reader), SymbolReader(reader, 1 << 20) as symbols:
        yield symbols


def sides(repo: RepoBuilder, *names: str | None) -> Sides:
    before, after = ((repo.blob(f"{n}.py"), b"a.py") if n else None for n in names)
    return Sides(before, after, RANGES if before else [1, 0, 1, 2, 0, 0, 0, 22])


def told(readings: list[Reading]) -> list[tuple[str, ...]]:
    return [tuple(change.kind.value for change in one.found.changes) for one in readings]


def test_a_pair_is_compared_where_it_is_parsed(repo: RepoBuilder, symbols: SymbolReader) -> None:
    asked = [sides(repo, None, "old"), sides(repo, "old", "new")]
    assert told(symbols.finish(symbols.start(asked))) == [("ADDED",), ("MODIFIED",)]


def test_a_blob_is_parsed_once(repo: RepoBuilder, symbols: SymbolReader) -> None:
    for _ in range(3):
        symbols.finish(symbols.start([sides(repo, "old", "new")]))
    assert (symbols.parsed, symbols.hits) == (2, 4)


def test_a_blob_that_hangs_is_a_gap_and_the_others_are_read(
    repo: RepoBuilder, symbols: SymbolReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbol_reader, "_FUNCTION", f"{__name__}:read_hanging")
    monkeypatch.setattr(symbol_reader, "PART_SECONDS", 1.0)
    monkeypatch.setattr(symbol_reader, "PARSE_SECONDS", 1.0)
    asked = [sides(repo, "old", "new"), sides(repo, "old", "hanging"), sides(repo, None, "new")]
    readings = symbols.finish(symbols.start(asked))
    assert told(readings) == [("MODIFIED",), (), ("ADDED",)]
    assert [gap.reason for one in readings for gap, _ in one.gaps] == [GapReason.DEADLINE]


def test_what_the_process_forgot_is_handed_over_again(
    repo: RepoBuilder, symbols: SymbolReader
) -> None:
    symbols.finish(symbols.start([sides(repo, "old", "new")]))
    symbols._pool.close()  # as if it had been killed
    readings = symbols.finish(symbols.start([sides(repo, "old", "new")]))
    assert told(readings) == [("MODIFIED",)]


def test_lanes_answer_in_the_order_they_were_asked(repo: RepoBuilder, tmp_path: Path) -> None:
    names = [f"{n}.py".encode() for n in range(20)]
    oid = repo.blob("new.py")
    asked = [Sides(None, (oid, name), [1, 0, 1, 2, 0, 0, 0, 22]) for name in names]
    asked[7] = sides(repo, "old", "new")
    with reading(repo, tmp_path) as (_, reader), SymbolLanes(reader, 1 << 20) as lanes:
        readings = lanes.finish(lanes.start(asked))
        assert told(readings) == [("MODIFIED",) if n == 7 else ("ADDED",) for n in range(20)]
        assert lanes.counts[0] == 3  # the one blob in both processes, and the older one


def test_lanes_have_nothing_to_say_of_nothing(repo: RepoBuilder, tmp_path: Path) -> None:
    with reading(repo, tmp_path) as (_, reader), SymbolLanes(reader, 1 << 20) as lanes:
        assert lanes.finish(lanes.start([])) == []
