"""Faults that kill or stop a process: worker, cluster, supervisor, web server, git, database."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from codememory.failpoints import POINTS
from tests.faults.invariants import settle
from tests.faults.processes import is_alive, kill, processes, wait_for
from tests.faults.trial import Trial, fault

# How often the runs of the template pass a point at least; one of these is drawn.
PASSINGS = {"claimed": 2, "read": 5, "written": 5, "committed": 5, "ended": 2}
SAID = {
    "claimed": "-9 after the claim",
    "read": "-9 of a worker that has read a page",
    "written": "-9 inside the transaction",
    "committed": "-9 after the commit",
    "ended": "-9 after a slice, before its acknowledgement",
}


def _killed_at(point: str) -> Callable[[Trial], None]:
    def strike(trial: Trial) -> None:
        trial.begin_at(point, trial.chance.randint(1, PASSINGS[point]), "kill")
        trial.recover()

    return strike


for _point in POINTS:
    fault(SAID[_point])(_killed_at(_point))


@fault("-9 of a worker at any moment", in_short=False)
def kill_worker_anytime(trial: Trial) -> None:
    trial.world.ensure_up()
    trial.begin()
    time.sleep(trial.chance.uniform(0, 4))
    trial.struck()
    kill(trial.chance.choice(trial.world.cluster.workers))
    trial.recover()


@fault("-9 three times without progress")
def poison(trial: Trial) -> None:
    """The run is POISONED and another project's goes on; asked for again it is read."""
    world = trial.world
    world.stop_up()
    other, victim = world.subject(), trial.begin("--source", "git")
    world.collect(other)
    world.plan("claimed", 1, 3, "kill", victim.runs["git"])
    trial.struck()
    world.ensure_up()
    settle(world, victim, "POISONED")
    assert world.run_row(victim.runs["git"])["error_text"] == "worker lost in phase queued"
    settle(world, other)
    poisoned = victim.seconds
    trial.note = f"POISONED after {poisoned:.0f} s, then retried"
    world.run("runs", "retry", f"R{victim.runs['git']}")
    world.collect(victim)
    trial.recover()
    victim.seconds = poisoned


@fault("-9 of idle workers, so that the cluster hangs")
def kill_idle_workers(trial: Trial) -> None:
    """The dead take the cluster's lock along; only the watchdog can cure that."""
    world = trial.world
    world.ensure_up()
    hung = world.restarts()["queue_hung"]
    workers = world.cluster.workers
    for worker in workers:
        kill(worker)
    trial.begin()
    trial.struck()
    began = time.monotonic()
    wait_for(lambda: _counted(trial, "queue_hung") > hung, "the watchdog")
    trial.note = f"noticed after {time.monotonic() - began:.0f} s"
    told = json.loads(world.run("doctor", "--json"))["restarts"]
    assert told["queue_hung"] > hung
    assert told["since"]
    trial.recover()


@fault("SIGSTOP of the whole cluster", in_short=False)
def stop_cluster(trial: Trial) -> None:
    world = trial.world
    world.ensure_up()
    main, hung = world.cluster.main, world.restarts()["queue_hung"]
    assert main is not None
    os.killpg(os.getpgid(main), signal.SIGSTOP)
    trial.begin()
    trial.struck()
    began = time.monotonic()
    wait_for(lambda: _counted(trial, "queue_hung") > hung, "the watchdog")
    trial.note = f"noticed after {time.monotonic() - began:.0f} s"
    trial.recover()


@fault("-9 of the cluster's main process", in_short=False)
def kill_main(trial: Trial) -> None:
    _replaced(trial, trial.world.ensure_up, lambda: trial.world.cluster.main)


@fault("-9 of the sentinel")
def kill_sentinel(trial: Trial) -> None:
    _replaced(trial, trial.world.ensure_up, lambda: trial.world.cluster.sentinel)


@fault("-9 of an auxiliary of the queue: pusher", in_short=False)
def kill_pusher(trial: Trial) -> None:
    trial.held()
    _kill_all(trial.world.cluster.below("pushing tasks"))
    trial.recover()


@fault("-9 of an auxiliary of the queue: monitor", in_short=False)
def kill_monitor(trial: Trial) -> None:
    trial.held()
    _kill_all(trial.world.cluster.below("monitoring"))
    trial.recover()


@fault("-9 of the supervisor")
def kill_supervisor(trial: Trial) -> None:
    """Nothing outlives it; the next `up` goes on."""
    world = trial.world
    trial.held()
    assert world.up is not None
    kill(world.up.pid)
    world.up.wait()
    world.forget_plan()
    wait_for(lambda: not list(processes(world.home)), "the end of its children")
    world.ensure_up()
    trial.recover()


@fault("-9 of the web server", in_short=False)
def kill_web(trial: Trial) -> None:
    world = trial.world
    trial.held()
    before = world.restarts()["web"]
    web = [p.pid for p in processes(world.home) if "uvicorn" in p.words]
    _kill_all(web)
    wait_for(lambda: _counted(trial, "web") > before, "the web server's end")
    wait_for(lambda: _health(trial).get("status") == "ok", "the web server")
    assert _health(trial)["restarts"]["web"] > before
    trial.recover()


@fault("-9 of a git child")
def kill_git(trial: Trial) -> None:
    _, worker = trial.held(2)
    children = [p.pid for p in processes(trial.world.home) if p.is_git and p.parent == worker]
    assert children
    trial.note = f"{len(children)} children"
    kill(trial.chance.choice(children))
    trial.recover()


@fault("-9 of PostgreSQL: under `up`")
def kill_database(trial: Trial) -> None:
    world = trial.world
    point = trial.chance.choice(["read", "written"])
    trial.begin_at(point, trial.chance.randint(2, 4), "hold")
    before = world.restarts()["database"]
    pid_file = world.server().data / "postmaster.pid"
    kill(int(pid_file.read_text().split()[0]))
    wait_for(lambda: _counted(trial, "database") > before, "the database's revival")
    trial.note = f"held at {point}"
    trial.recover()


@fault("-9 of PostgreSQL: under `collect` alone", in_short=False)
def kill_database_of_collect(trial: Trial) -> None:
    """No supervisor is there: `collect` starts the server again and goes on."""
    world = trial.world
    world.stop_up()
    subject = trial.subject = world.subject()
    world.plan("read", trial.chance.randint(2, 4), 1, "hold")
    command = world.start("collect", "--project", str(subject.root), "--yes", "--wait")
    world.wait_hit()
    trial.struck()
    kill(int((world.server().data / "postmaster.pid").read_text().split()[0]))
    world.forget_plan()
    assert command.wait(300) == 0, world.said(command)
    world.ensure_up()
    world.collect(subject)
    trial.recover()


@fault("SIGSTOP past the lease, then SIGCONT")
def stop_past_lease(trial: Trial) -> None:
    """Another worker takes the run over; the woken one writes nothing."""
    world = trial.world
    subject, worker = trial.begin_at("read", trial.chance.randint(2, 4), "stop")
    run = subject.runs["git"]
    held = [n for n in subject.runs.values() if world.run_row(n)["state"] == "RUNNING"]
    fence = world.run_row(held[0])["fence"]
    if not trial.is_long:  # as if it had passed
        world.sql(
            "UPDATE codememory_run SET lease_until = now() - interval '1 s' WHERE id = %s", held[0]
        )
    wait_for(lambda: world.run_row(held[0])["fence"] > fence, "the take-over")
    kill(worker, signal.SIGCONT)
    wait_for(lambda: f"run {held[0]}: lease lost" in world.queue_log(), "the refusal")
    trial.note = "git" if held[0] == run else "documents"
    assert is_alive(worker)
    trial.recover()


def _replaced(trial: Trial, ensure: Callable[[], None], victim: Callable[[], int | None]) -> None:
    """Kill a process of the cluster while a worker works; all of the cluster is replaced."""
    trial.held()
    before = {p.pid for p in processes(trial.world.home) if "qcluster" in p.words}
    pid = victim()
    assert pid is not None
    kill(pid)
    trial.world.forget_plan()
    wait_for(lambda: not any(is_alive(old) for old in before), "the end of the old cluster")
    ensure()
    trial.recover()


def _kill_all(pids: list[int]) -> None:
    assert pids
    for pid in pids:
        kill(pid)


def _counted(trial: Trial, what: str) -> int:
    return int(trial.world.restarts().get(what, 0))


def _health(trial: Trial) -> dict[str, Any]:
    address = f"http://127.0.0.1:{trial.world.port}/healthz"
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except OSError:
        return {}
