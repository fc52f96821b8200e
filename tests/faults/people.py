"""What people bring about: cancelling, removing, upgrading, a second `up`, a thousand runs."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator

from codememory.failpoints import POINTS
from tests.faults.invariants import Watch, check_surroundings, settle
from tests.faults.processes import wait_for
from tests.faults.trial import Trial, fault
from tests.faults.world import World
from tests.repos import stamp

HELD_AT = [point for point in POINTS if point != "ended"]
MANY = 1000
NEWER = "INSERT INTO django_migrations (app, name, applied) VALUES ('codememory', '9999', now())"
KEPT = ("codememory_auditevent",)


@contextlib.contextmanager
def _beside(world: World, blocked: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command and wait until it has done its work, or waits with the statement `blocked`.

    Heartbeats wait for the same row: only its own statement tells that it has come so far.
    """
    command = world.start(*words)
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
    try:
        wait_for(lambda: command.poll() is not None or world.sql(waits, blocked), words[0])
        yield command
    finally:
        command.wait(120)


def _cancelled_at(point: str) -> Callable[[Trial], None]:
    def strike(trial: Trial) -> None:
        world = trial.world
        # Early enough for neither run to be at its last batch: that would be done, not cancelled.
        first = 1 if point == "claimed" else trial.chance.randint(1, 2)
        last = _last_task(world)
        subject, _ = trial.begin_at(point, first, "hold")
        running = [n for n, state in world.states(subject).items() if state == "RUNNING"]
        for number in subject.runs.values():
            if number not in running:
                world.run("runs", "cancel", f"R{number}")
        for number in running:
            with _beside(world, "%FOR NO KEY UPDATE%", "runs", "cancel", f"R{number}") as command:
                world.forget_plan()
            assert command.returncode == 0, world.said(command)
        settle(world, subject, "CANCELLED")
        _nothing_is_written_after(world, subject.scope, last)
        for number in subject.runs.values():
            world.run("runs", "retry", f"R{number}")
        trial.recover()

    return strike


def _removed_at(point: str) -> Callable[[Trial], None]:
    def strike(trial: Trial) -> None:
        world = trial.world
        first = 1 if point == "claimed" else trial.chance.randint(2, 4)
        last = _last_task(world)
        subject, _ = trial.begin_at(point, first, "hold")
        with _beside(
            world, "%run WHERE scope_id%", "projects", "remove", subject.slug, "--yes"
        ) as command:
            world.forget_plan()
        assert command.returncode == 0
        _nothing_is_written_after(world, subject.scope, last)
        rows = world.owned_rows(subject.scope, but=KEPT)
        assert rows == {}, f"rows of a removed project: {rows}"
        world.collect(subject)
        trial.recover()

    return strike


for _point in HELD_AT:
    fault(f"cancel, in each phase: {_point}", in_short=_point == "written")(_cancelled_at(_point))
    fault(f"removal, in each phase: {_point}", in_short=_point == "written")(_removed_at(_point))


def _last_task(world: World) -> int:
    ((number,),) = world.sql("SELECT coalesce(max(id), 0) FROM django_q_ormq")
    return int(number)


def _nothing_is_written_after(world: World, scope: int, last: int) -> None:
    """Once the workers are done with every task since the last one, no row was added."""
    before = world.owned_rows(scope)
    newer = "SELECT 1 FROM django_q_ormq WHERE id > %s"
    wait_for(lambda: not world.sql(newer, last), "the end of all tasks")
    assert world.owned_rows(scope) == before


@fault("two supervisors on one home", in_short=False)
def second_supervisor(trial: Trial) -> None:
    """The second is refused; of two that start at once, one remains."""
    world = trial.world
    trial.held()
    second = world.start(*world.up_words(world.port + 1))
    assert second.wait(120) == 1
    world.stop_up()
    both = [world.start(*world.up_words(world.port + n)) for n in (0, 2)]
    wait_for(lambda: any(one.poll() is not None for one in both), "the refusal of one")
    refused, world.up = sorted(both, key=lambda one: one.poll() is None)
    assert refused.returncode == 1
    world.ensure_up()
    trial.recover()


@fault("1,000 runs of one project, one of another")
def thousand_runs(trial: Trial) -> None:
    """The one starts within two slices of the many."""
    world = trial.world
    world.ensure_up()
    many, few = trial.begin("--source", "git"), world.subject()
    settle(world, many)
    world.sql(
        "INSERT INTO codememory_worktree (scope_id, root, root_digest, git_dir)"
        " SELECT scope_id, root, sha256(n::text::bytea), git_dir FROM codememory_worktree,"
        " generate_series(1, %s) n WHERE scope_id = %s",
        MANY,
        many.scope,
    )
    world.sql(
        "INSERT INTO codememory_run (scope_id, worktree_id, source, state, policy_generation,"
        " cursor, phase, done, metrics, fence, attempts, lost_leases, is_cancel_requested)"
        " SELECT scope_id, id, 'git', 'QUEUED', 1, '{}', 'queued', 0, '{}', 0, 0, 0, false"
        " FROM codememory_worktree WHERE scope_id = %s AND root_digest <> ("
        " SELECT root_digest FROM codememory_project p WHERE p.scope_id = %s)",
        many.scope,
        many.scope,
    )
    try:
        wait_for(lambda: _claims(world, many.scope) >= 3, "three slices of the many")
        trial.subject = few
        trial.struck()
        before = _claims(world, many.scope)
        world.collect(few, "--source", "git")
        wait_for(lambda: world.run_row(few.runs["git"])["fence"] > 0, "the start of the one")
        queued = "SELECT created_at FROM codememory_run WHERE id = %s"
        ((asked_at,),) = world.sql(queued, few.runs["git"])
        ((slices,),) = world.sql(
            "SELECT count(*) FROM codememory_run WHERE scope_id = %s AND started_at > %s"
            " AND fence < (SELECT fence FROM codememory_run WHERE id = %s)",
            many.scope,
            asked_at,
            few.runs["git"],
        )
        assert slices <= 2, f"{slices} slices of the others went first"
        trial.note = f"{slices} slices first, {before} done before"
    finally:
        world.run("projects", "remove", many.slug, "--yes")
    world.collect(few)
    trial.recover()


def _claims(world: World, scope: int) -> int:
    return len(world.sql("SELECT 1 FROM codememory_run WHERE scope_id = %s AND fence > 0", scope))


@fault("a newer version migrates while a worker works")
def migrated_meanwhile(trial: Trial) -> None:
    """The old worker writes nothing any more, and says so; the old tables back, it goes on."""
    world = trial.world
    subject, _ = trial.held()
    column = "codememory_filechange ADD COLUMN of_the_newer integer"
    world.sql(f"ALTER TABLE {column}")
    world.sql(NEWER)
    before = Watch(world, subject)
    before.look()
    rows = world.owned_rows(subject.scope)
    world.forget_plan()
    try:
        wait_for(lambda: "SchemaChangedError" in world.queue_log(), "the refusal")
        time.sleep(1)
        assert world.owned_rows(subject.scope) == rows, "I2: an old worker wrote"
    finally:
        world.sql("DELETE FROM django_migrations WHERE name = '9999'")
        world.sql("ALTER TABLE codememory_filechange DROP COLUMN of_the_newer")
    trial.recover()


@fault("history changes during a run: HEAD moves", in_short=False)
def head_moves(trial: Trial) -> None:
    """The run keeps the HEAD that it captured; the next one reads what is new."""
    world = trial.world
    subject, _ = trial.begin_at("read", trial.chance.randint(2, 4), "hold")
    captured = subject.repo.head()
    subject.repo.git("commit", "--amend", "-q", "-m", "amended")
    subject.repo.git("commit", "--allow-empty", "-q", "-m", "one more")
    subject.stamped = _stamped_again(trial)
    world.forget_plan()
    settle(world, subject)
    assert world.run_row(subject.runs["git"])["head_oid"] == captured
    _end_with_new_head(trial)


@fault("history changes during a run: rebase and gc --prune=now")
def gc_meanwhile(trial: Trial) -> None:
    """What is gone is said and never made up: the run fails by name or ends; the next is whole."""
    world = trial.world
    subject, _ = trial.begin_at("read", trial.chance.randint(2, 4), "hold")
    captured, old = subject.repo.head(), set(subject.repo.git("rev-list", "HEAD").split())
    subject.repo.git("reset", "-q", "--hard", "HEAD~120")
    subject.repo.git("commit", "--amend", "-q", "-m", "rewritten")
    subject.repo.git("reflog", "expire", "--expire=now", "--all")
    subject.repo.git("gc", "-q", "--prune=now")
    subject.stamped = _stamped_again(trial)
    world.forget_plan()
    # A commit that is gone leaves a gap in the place of its row.
    wait_for(lambda: world.is_quiet(subject), "the end of the run", 300)
    run = world.run_row(subject.runs["git"])
    assert run["state"] in {"DONE", "FAILED"}, f"I5: {run}"
    assert run["head_oid"] == captured
    stored = {str(oid) for (oid,) in _commits(world, subject.scope)}
    assert stored <= old, "commits that the captured HEAD did not reach"
    trial.note = str(run["error_text"] or run["error_class"] or run["state"])[:60]
    _end_with_new_head(trial)


def _end_with_new_head(trial: Trial) -> None:
    """Collect again: every commit that HEAD reaches now has its row, and nothing is lost."""
    world, subject = trial.world, trial.subject
    assert subject is not None
    world.ensure_up()
    world.collect(subject)
    newest = tuple(subject.runs.values())

    def is_done() -> bool:
        return all(world.run_row(number)["state"] == "DONE" for number in newest)

    wait_for(is_done, "the collection of the new HEAD", 300)
    subject.seconds = time.monotonic() - subject.struck_at
    stored = {str(oid) for (oid,) in _commits(world, subject.scope)}
    missing = set(subject.repo.git("rev-list", "HEAD").split()) - stored
    assert not missing, f"I1: {len(missing)} reachable commits are not stored"
    check_surroundings(world, subject)
    trial.checked = ("I1", "I4", "I5", "I6", "I8")


def _commits(world: World, scope: int) -> list[tuple[object, ...]]:
    return world.sql("SELECT oid FROM codememory_gitcommit WHERE scope_id = %s", scope)


def _stamped_again(trial: Trial) -> dict[str, tuple[int, str]]:
    """The subject as its owner's own git left it."""
    assert trial.subject is not None
    return stamp(trial.subject.root)
