"""Faults of what the product stands on: connections, the server's restart, the clock, the disk."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codememory.database import place, server
from tests.faults.invariants import settle
from tests.faults.processes import is_alive, kill, wait_for
from tests.faults.proxy import CuttingProxy
from tests.faults.trial import CannotBeTriedError, Trial, fault
from tests.faults.world import World

CLOCK = Path(__file__).parent / "shifted_clock"
DAY = 24 * 3600
FULL_TABLE, DISK_BESIDE = "codememory_filechange", 1 << 20


@fault("every connection is ended by the server")
def connections_ended(trial: Trial) -> None:
    """Inside a transaction: nothing of it is seen, and all of it is written later."""
    world = trial.world
    trial.begin_at("written", trial.chance.randint(2, 4), "hold")
    world.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    trial.recover()


@fault("the database stops: restarted")
def database_restarted(trial: Trial) -> None:
    world = trial.world
    trial.begin_at(trial.chance.choice(["read", "written"]), trial.chance.randint(2, 4), "hold")
    server.stop(world.server())
    trial.recover()


@fault("the database stops: away for 20 seconds", in_short=False)
def database_away(trial: Trial) -> None:
    """The supervisor is stopped meanwhile, for it would start the server at once."""
    world = trial.world
    trial.held()
    assert world.up is not None
    kill(world.up.pid, signal.SIGSTOP)
    server.stop(world.server())
    world.forget_plan()
    time.sleep(20)
    kill(world.up.pid, signal.SIGCONT)
    trial.recover()


def _cut(trial: Trial, *, is_done: bool) -> None:
    """`collect` speaks through the proxy; it ends well by itself or is asked once more."""
    world = trial.world
    world.stop_up()
    real = place.socket_folder(place.folder_of(world.home)) / f".s.PGSQL.{place.PORT}"
    subject = trial.subject = world.subject()
    world.collect(subject)
    at = trial.chance.randint(3, 25)
    proxy = CuttingProxy(world.work / "proxy", real, at=at, is_done=is_done)
    address = f"postgresql://{server.NAME}@/{server.NAME}?host={world.work / 'proxy'}"
    try:
        command = world.start(
            "collect", "--project", str(subject.root), "--yes", "--wait",
            extra={"DATABASE_URL": address},
        )  # fmt: skip
        wait_for(lambda: proxy.cuts or command.poll() is not None, f"commit {at}")
        trial.struck()
        status = command.wait(300)
    finally:
        proxy.close()
    trial.note = f"commit {at}, status {status}" + ("" if proxy.cuts else ", never reached")
    world.ensure_up()
    trial.recover()


@fault("the connection breaks at COMMIT: after it was done")
def cut_after_commit(trial: Trial) -> None:
    _cut(trial, is_done=True)


@fault("the connection breaks at COMMIT: before it arrives", in_short=False)
def cut_before_commit(trial: Trial) -> None:
    _cut(trial, is_done=False)


def _off_by(trial: Trial, seconds: int) -> None:
    """The host of supervisor, queue and web is off; who asks for the run is not."""
    trial.world.ensure_up({"PYTHONPATH": str(CLOCK), "CLOCK_SHIFT": str(seconds)})
    trial.begin()
    trial.struck()
    trial.recover()


@fault("the workers' clock is a day off: ahead", in_short=False)
def clock_ahead(trial: Trial) -> None:
    _off_by(trial, DAY)


@fault("the workers' clock is a day off: behind")
def clock_behind(trial: Trial) -> None:
    _off_by(trial, -DAY)


@fault("the worker's memory is used up", in_short=False)
def out_of_memory(trial: Trial) -> None:
    """Its run waits for another try or is lost by it; another project's is read meanwhile."""
    world = trial.world
    if not hasattr(resource, "prlimit"):
        raise CannotBeTriedError("no process here can be given less memory")
    subject, worker = trial.held(2)
    status = Path(f"/proc/{worker}/status").read_text()
    size = int(status.partition("VmSize:")[2].split()[0]) * 1024
    hard = resource.prlimit(worker, resource.RLIMIT_AS)[1]
    resource.prlimit(worker, resource.RLIMIT_AS, (size, hard))
    world.forget_plan()

    def is_noticed() -> bool:
        rows = [world.run_row(number) for number in subject.runs.values()]
        return not is_alive(worker) or any(row["error_class"] for row in rows)

    with contextlib.suppress(AssertionError):  # it may get along with what it has
        wait_for(is_noticed, "a failure", 20)
    errors = {str(world.run_row(number)["error_text"]) for number in subject.runs.values()}
    trial.note = "; ".join(sorted(error[:40] for error in errors if error != "None"))
    other = world.subject()
    world.collect(other)
    kill(worker)
    settle(world, other)
    trial.recover()


@contextlib.contextmanager
def _small_disk(folder: Path, options: str) -> Iterator[None]:
    """Mount a small file system of memory on a folder, for as long as the block runs."""
    if os.geteuid() != 0:
        raise CannotBeTriedError("only root can mount a small file system")
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        raise CannotBeTriedError(f"mount is refused here: {mounted.stderr.strip()[:80]}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _wait_until_disk_is_full(world: World, runs: dict[str, int]) -> None:
    """Until a run says so; a run of the history that ends found room: no fault was here."""

    def rows() -> dict[str, dict[str, Any]]:
        return {source: world.run_row(number) for source, number in runs.items()}

    def is_said() -> bool:
        found = rows()
        states = {str(row["state"]) for row in found.values()}
        assert states <= {"QUEUED", "RUNNING", "DONE"}, f"not tried again: {found}"
        said = [str(row["error_text"]) for row in found.values()]
        if any(text.startswith("DISK_FULL: no space is left") for text in said):
            return True
        assert found["git"]["state"] != "DONE", f"the run found room: {found}"
        return False

    wait_for(is_said, "the message", told=rows)


@fault("the disk is full: scratch files")
def scratch_full(trial: Trial) -> None:
    world = trial.world
    world.ensure_up()
    scratch = world.home / "scratch"
    scratch.mkdir(mode=0o700, exist_ok=True)
    with _small_disk(scratch, "size=4k,nr_inodes=1"):
        subject = trial.begin()
        _wait_until_disk_is_full(world, subject.runs)
        assert "codememory_gitcommit" not in world.owned_rows(subject.scope)
    trial.struck()
    trial.note = "RETRYABLE, DISK_FULL; seconds count from the room made"
    trial.recover()


@fault("the disk is full: a table")
def table_full(trial: Trial) -> None:
    """Where file changes lie nothing can be added: the page is not written, none of its rows is."""
    world = trial.world
    world.ensure_up()
    size = _without_room(world, FULL_TABLE) + DISK_BESIDE
    folder = Path(f"/tmp/codememory-test-{os.getpid()}-small")  # noqa: S108 -- for its account
    folder.mkdir(exist_ok=True)
    account = world.server().account
    owner = f"uid={account.uid},gid={account.gid}," if account else ""
    try:
        with _small_disk(folder, f"size={size},mode=0700,{owner}"):
            world.sql(f"CREATE TABLESPACE small LOCATION '{folder}'")
            world.sql(f"ALTER TABLE {FULL_TABLE} SET TABLESPACE small")
            try:
                _fill(folder)
                subject = trial.begin()
                _wait_until_disk_is_full(world, subject.runs)
                (folder / "filler").unlink()
                trial.struck()
                trial.recover()
            finally:
                world.sql(f"ALTER TABLE {FULL_TABLE} SET TABLESPACE pg_default")
                world.sql(f"ALTER TABLE {FULL_TABLE} RESET (autovacuum_enabled)")
                world.sql("CHECKPOINT")
                world.sql("DROP TABLESPACE small")
    finally:
        folder.rmdir()
    trial.note = "RETRYABLE, DISK_FULL; seconds count from the room made"


def _without_room(world: World, table: str) -> int:
    """Give back what removed rows left free, or a whole run fits into it; returns the bytes.

    Not vacuumed again, the table forgets where room might be: all but its last block is full,
    and a run writes more than one.
    """
    world.sql(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    world.sql(f"VACUUM FULL {table}")
    ((size,),) = world.sql(f"SELECT pg_relation_size('{table}')")
    return int(size)


def _fill(folder: Path) -> None:
    """Leave not one free block."""
    with (folder / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(bytes(4096))
