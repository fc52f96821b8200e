"""The short form: each fault once, by real processes, as part of every test run."""

from __future__ import annotations

from collections.abc import Iterator
from random import SystemRandom

import pytest

from tests.faults import kills, people, surroundings
from tests.faults.trial import FAULTS, Fault, try_fault
from tests.faults.world import World, opened

pytestmark = pytest.mark.queue
MODULES = (kills, people, surroundings)  # they fill FAULTS
SHORT = [tried for tried in FAULTS.values() if tried.in_short]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with opened("faults") as opened_world:
        yield opened_world


@pytest.mark.parametrize("tried", SHORT, ids=lambda tried: tried.name.replace(" ", "-"))
def test_the_invariants_hold_after(world: World, tried: Fault) -> None:
    seed = SystemRandom().randrange(10**6)
    outcome = try_fault(world, tried, 1, seed, is_long=False)
    if outcome.result == "SKIPPED":
        pytest.skip(outcome.note)
    assert outcome.result == "PASSED", f"seed {seed}: {outcome.note}"
