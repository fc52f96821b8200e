"""What holds whatever goes wrong, as checks; each is named as in the table of faults.

I1 every reachable commit once; I2 rows and cursor move together; I3 a fence only grows and an
older one writes nothing; I4 no other project's row changes; I5 a run ends in a named state; I6 the
subject is untouched; I7 a rerun adds nothing; I8 no git child, shadow folder or draft file is left.
"""

from __future__ import annotations

import time

from tests.faults.processes import processes, wait_for
from tests.faults.world import LIVE, Subject, World
from tests.repos import stamp

ALL = ("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8")
GROWING = ("codememory_run", "codememory_auditevent")  # not what was collected
FIRST_RUN = """
    SELECT r.fence, coalesce((r.cursor->>'position')::int, 0),
           (SELECT count(*) FROM codememory_gitcommit c WHERE c.scope_id = r.scope_id)
    FROM codememory_run r WHERE r.scope_id = %s AND r.source = 'git' ORDER BY r.id LIMIT 1
"""


class Watch:
    """Looks at a subject's first run of its history while it is interrupted and goes on."""

    def __init__(self, world: World, subject: Subject) -> None:
        self._world, self._subject = world, subject
        self._fence = self._position = 0

    def look(self) -> None:
        """I2 and I3, in one statement and so at one moment."""
        rows = self._world.sql(FIRST_RUN, self._subject.scope)
        if not rows:
            return
        fence, position, commits = (int(value) for value in rows[0])
        assert commits == position, f"I2: {commits} commits are stored, the cursor is {position}"
        assert fence >= self._fence, f"I3: fence {fence} after {self._fence}"
        assert position >= self._position, f"I2: cursor {position} after {self._position}"
        self._fence, self._position = fence, position

    def is_settled(self) -> bool:
        """Whether no run of the subject is live any more; looks each time it is asked."""
        self.look()
        states = self._world.states(self._subject).values()
        return bool(states) and not any(state in LIVE for state in states)


def recover(world: World, subject: Subject, expected: str = "DONE") -> tuple[str, ...]:
    """Wait until all that was asked for is done, and check every invariant; returns their names."""
    settle(world, subject, expected)
    check_facts(world, subject)
    check_rerun(world, subject)
    check_surroundings(world, subject)
    return ALL


def settle(world: World, subject: Subject, expected: str = "DONE") -> None:
    """I2, I3, I5: every run ends, in the state that is expected."""
    watch = Watch(world, subject)
    wait_for(watch.is_settled, f"the end of {subject.slug}", seconds=300)
    if subject.struck_at:
        subject.seconds = time.monotonic() - subject.struck_at
    states = world.states(subject)
    told = {number: world.run_row(number) for number in states}
    assert set(states.values()) == {expected}, f"I5: {told}"


def check_facts(world: World, subject: Subject) -> None:
    """I1: the commits are those that git lists, and all rows those of a calm run."""
    check_commits(world, subject)
    found = world.fingerprint(subject.scope)
    different = [name for name, told in found.items() if told != world.expected[name]]
    assert not different, f"I1: {different} differ from a calm run"


def check_commits(world: World, subject: Subject) -> None:
    rows = world.sql("SELECT oid FROM codememory_gitcommit WHERE scope_id = %s", subject.scope)
    stored = sorted(str(oid) for (oid,) in rows)
    listed = sorted(subject.repo.git("rev-list", "HEAD").split())
    assert stored == listed, f"I1: {len(stored)} commits are stored, {len(listed)} reachable"


def check_surroundings(world: World, subject: Subject) -> None:
    """I4, I6, I8: neighbour, subject, and what processes leave behind."""
    assert world.fingerprint(world.neighbour.scope) == world.expected, "I4: the neighbour's rows"
    assert stamp(subject.root) == subject.stamped, "I6: the subject was touched"
    until = time.monotonic() + 60
    while found := leftovers(world):
        assert time.monotonic() < until, f"I8: {found} is left"
        time.sleep(0.2)


def leftovers(world: World) -> list[str]:
    """Shadow folders, draft files, git programs, and processes whose parent is none of ours."""
    found = [path.name for path in world.home.glob("scratch/shadow-*")]
    found += [path.name for path in world.home.glob(".supervisor*")]
    alive = list(processes(world.home))
    ours = {process.pid for process in alive}
    up = world.up.pid if world.up is not None else 0
    return found + [
        f"{process.pid} {process.words[-80:]}"
        for process in alive
        if process.is_git or (process.pid != up and process.parent not in ours)
    ]


def check_rerun(world: World, subject: Subject) -> None:
    """I7: collecting once more adds no row."""
    before = world.owned_rows(subject.scope, but=GROWING)
    if world.up is None:
        world.ensure_up()
    world.collect(subject)
    wait_for(Watch(world, subject).is_settled, f"the rerun of {subject.slug}", seconds=300)
    after = world.owned_rows(subject.scope, but=GROWING)
    assert after == before, f"I7: rows before {before}, after {after}"
    assert set(world.states(subject).values()) == {"DONE"}, "I5: the rerun"
