"""One round of one fault, and the list of faults that the modules beside this one fill."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.faults.invariants import ALL, recover
from tests.faults.world import Subject, World


class CannotBeTriedError(Exception):
    """What this machine or account cannot do, so that the fault is skipped with this reason."""


@dataclass(slots=True)
class Trial:
    """A world, chance, and what came of one round."""

    world: World
    chance: Random
    is_long: bool = False
    subject: Subject | None = None
    note: str = ""
    checked: tuple[str, ...] = field(default=())

    def begin(self, *arguments: str) -> Subject:
        """A new subject whose runs are queued."""
        self.subject = self.world.subject()
        self.world.collect(self.subject, *arguments)
        return self.subject

    def begin_at(self, point: str, first: int, action: str, times: int = 1) -> tuple[Subject, int]:
        """A new subject, and the pid of the worker that reached the point with its run."""
        self.world.ensure_up()
        self.world.plan(point, first, times, action)
        subject = self.begin()
        pid = self.world.wait_hit(times)
        self.struck()
        return subject, pid

    def held(self, first: int | None = None) -> tuple[Subject, int]:
        """A worker that has read a page, with git running, and waits before it writes it."""
        return self.begin_at("read", first or self.chance.randint(2, 4), "hold")

    def struck(self) -> None:
        """The fault is here: from now on the seconds count."""
        assert self.subject is not None
        self.subject.struck_at = time.monotonic()

    def recover(self, expected: str = "DONE") -> None:
        """Let everybody go on; everything ends well, and every invariant holds."""
        assert self.subject is not None
        self.world.forget_plan()
        self.checked = recover(self.world, self.subject, expected)

    @property
    def seconds(self) -> float | None:
        return self.subject.seconds if self.subject is not None else None


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the table. `in_short`: tried in every test run, not in the long form alone."""

    name: str
    strike: Callable[[Trial], None]
    in_short: bool


FAULTS: dict[str, Fault] = {}


def fault(name: str, *, in_short: bool = True) -> Callable[[Callable[[Trial], None]], None]:
    """Add a function to the faults under the name that the table shows."""

    def add(strike: Callable[[Trial], None]) -> None:
        assert name not in FAULTS
        FAULTS[name] = Fault(name, strike, in_short)

    return add


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one round came to; `result` is PASSED, FAILED or SKIPPED."""

    fault: str
    round: int
    checked: tuple[str, ...]
    seconds: float | None
    result: str
    note: str


def try_fault(world: World, tried: Fault, round: int, seed: int, *, is_long: bool) -> Outcome:  # noqa: A002
    """Strike once and check; a failure is an outcome, so that the other faults are tried too."""
    trial = Trial(world, Random(f"{seed} {round} {tried.name}"), is_long)  # noqa: S311
    try:
        tried.strike(trial)
    except CannotBeTriedError as reason:
        return Outcome(tried.name, round, (), None, "SKIPPED", str(reason))
    except Exception as error:  # noqa: BLE001 -- whatever it is, it stands in the table
        note = f"{type(error).__name__}: {error}"
        with contextlib.suppress(Exception):  # the next trial will say it if this went wrong
            world.start_over()
        return Outcome(tried.name, round, trial.checked, trial.seconds, "FAILED", note)
    finally:
        world.forget_plan()
    checked = trial.checked or ALL
    return Outcome(tried.name, round, checked, trial.seconds, "PASSED", trial.note)
