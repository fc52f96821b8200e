"""The long form: every fault, some rounds each, as a table. `manage.py test --faults` runs it."""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.faults import kills, people, surroundings
from tests.faults.invariants import ALL
from tests.faults.trial import FAULTS, Fault, Outcome, try_fault
from tests.faults.world import opened

MODULES = (kills, people, surroundings)  # they fill FAULTS


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="manage.py test --faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each fault (3)")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="faults whose name has one, by commas"
    )
    parser.add_argument("--minutes", type=float, default=60, metavar="M", help="begin none later")
    parser.add_argument("--seed", type=int, default=None, metavar="S", help="of random moments")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every round, as JSON")
    parser.add_argument("--list", action="store_true", help="only name the faults")
    return parser


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    words = options.only.lower().split(",")
    chosen = [f for f in FAULTS.values() if any(word in f.name.lower() for word in words)]
    if options.list:
        print("\n".join(tried.name for tried in chosen))
        return 0
    seed = options.seed if options.seed is not None else int(time.time())
    outcomes = run(chosen, options.rounds, seed, options.minutes * 60)
    print(f"\nseed {seed}")
    print("\n".join(table(outcomes)))
    if options.json:
        told = {"seed": seed, "outcomes": [asdict(outcome) for outcome in outcomes]}
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return 1 if any(outcome.result == "FAILED" for outcome in outcomes) else 0


def run(chosen: Sequence[Fault], rounds: int, seed: int, seconds: float) -> list[Outcome]:
    """Try round by round, so that a time that is over, or Ctrl-C, leaves what was tried so far."""
    outcomes: list[Outcome] = []
    until = time.monotonic() + seconds
    with opened("faults") as world, contextlib.suppress(KeyboardInterrupt):
        for number in range(1, rounds + 1):
            for tried in chosen:
                if time.monotonic() > until:
                    return outcomes
                # Really waiting for a lease takes its time: once is enough.
                outcome = try_fault(world, tried, number, seed, is_long=number == 1)
                outcomes.append(outcome)
                say(outcome)
    return outcomes


def say(outcome: Outcome) -> None:
    took = f"{outcome.seconds:.1f} s" if outcome.seconds is not None else ""
    name, result = outcome.fault, outcome.result
    print(f"{outcome.round:3} {name:52} {result:8} {took:>8}  {outcome.note}"[:300], flush=True)


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """One Markdown row a fault, its variants (after a colon) together; seconds: median, longest."""
    lines = ["| fault | rounds | invariants | recovered in | held |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(outcome.fault.partition(":")[0] for outcome in outcomes):
        mine = [outcome for outcome in outcomes if outcome.fault.partition(":")[0] == name]
        tried = [outcome for outcome in mine if outcome.result != "SKIPPED"]
        if tried:
            passed = sum(outcome.result == "PASSED" for outcome in tried)
            cells = [name, str(len(tried)), invariants(tried), took(tried), f"{passed}"]
        else:
            cells = [name, "0", "", "", f"skipped: {mine[0].note}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def invariants(outcomes: Sequence[Outcome]) -> str:
    """Those that were checked in every round."""
    checked = set(outcomes[0].checked).intersection(*(outcome.checked for outcome in outcomes))
    return "I1 to I8" if len(checked) == len(ALL) else ", ".join(sorted(checked))


def took(outcomes: Sequence[Outcome]) -> str:
    seconds = [outcome.seconds for outcome in outcomes if outcome.seconds is not None]
    if not seconds:
        return ""
    median, longest = f"{statistics.median(seconds):.0f} s", f"{max(seconds):.0f} s"
    return median if len(seconds) == 1 else f"{median}, at most {longest}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
