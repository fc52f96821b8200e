"""The process tree of `up`: the queue's workers and the web server, kept alive and stopped cleanly.

django-q2 is stopped by SIGTERM to its main process alone (the whole group would deadlock it), and
is restarted when it has silently stopped taking tasks, which a killed worker can bring about.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from codememory import database
from codememory.collect_history import scratch_folder
from codememory.errors import DatabaseError
from codememory.restarts import Restarts
from codememory.watchdog import Watchdog, look_at_queue
from collectors.git import remove_stale

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.5
SWEEP_SECONDS = 5.0
WATCH_SECONDS = 5.0
TIDY_SECONDS = 5.0
GRACE_SECONDS = 15.0
RESTART_GRACE_SECONDS = 10.0
HEALTHY_SECONDS = 60.0
BACK_OFF_SECONDS = (0.5, 1.0, 2.0, 5.0, 15.0, 30.0)
LOG_BYTES = 5_000_000
GIVE_UP_AFTER = 5  # deaths in a row of a web server that never answered


@dataclass(slots=True)
class Child:
    """One supervised process in a session, and so a process group, of its own."""

    name: str
    command: list[str]
    folder: Path  # of its log
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_after: float = 0.0
    deaths: int = 0
    on_death: Callable[[], None] = lambda: None

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def keep_alive(self) -> None:
        """Start it when it is not running and its back-off has passed."""
        if self.process is not None and self.process.poll() is not None:
            self._bury()
        if self.process is None and time.monotonic() >= self.start_after:
            self._start()

    def _start(self) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.old"))
        guard = [sys.executable, "-m", "codememory.guard", str(os.getpid())]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*guard, *self.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=settings.ROOT,
                env={"MALLOC_ARENA_MAX": "1", **os.environ},  # threads here wait more than they do
                start_new_session=True,
            )
        self.started_at = time.monotonic()

    def _bury(self) -> None:
        """Its orphans would go on working unsupervised: they end with it."""
        assert self.process is not None
        _kill_group(self.process.pid)
        lived = time.monotonic() - self.started_at
        self.deaths = 1 if lived > HEALTHY_SECONDS else self.deaths + 1
        pause = BACK_OFF_SECONDS[min(self.deaths, len(BACK_OFF_SECONDS)) - 1]
        self.start_after = time.monotonic() + pause
        logger.warning("%s ended with %s", self.name, self.process.returncode)
        self.process = None
        self.on_death()

    def ask_to_end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def end(self, deadline: float, is_urgent: Callable[[], bool] = lambda: False) -> None:
        """Wait until it has ended, and kill what is left of it after the deadline."""
        if self.process is None:
            return
        while self.process.poll() is None and time.monotonic() < deadline and not is_urgent():
            time.sleep(0.05)
        _kill_group(self.process.pid)
        self.process.wait()
        self.process = None


def supervise(
    port: int,
    on_tick: Callable[[], None],
    sweep: Callable[[], None] | None = None,
    on_ready: Callable[[], None] | None = None,
) -> int:
    """Run workers and web server until Ctrl-C or SIGTERM; returns the status to exit with.

    `on_tick` is called in this thread about twice a second, `sweep` every few seconds, `on_ready`
    once when the web server first answers.
    """
    if is_taken(port):
        print(f"codememory: port {port} of 127.0.0.1 is in use: see --port", file=sys.stderr)
        return 1
    tree = Tree(port, on_tick, sweep, on_ready)
    with _stop_signals(tree):
        try:
            return tree.run()
        finally:
            tree.end()


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


class Tree:
    """The two children and what is done for them between two looks."""

    def __init__(
        self,
        port: int,
        on_tick: Callable[[], None],
        sweep: Callable[[], None] | None,
        on_ready: Callable[[], None] | None,
    ) -> None:
        folder = settings.CODEMEMORY_HOME / "logs"
        folder.mkdir(mode=0o700, exist_ok=True)
        self.port = port
        self.restarts = Restarts(settings.CODEMEMORY_HOME)
        count = self.restarts.count
        self.queue = Child("queue", queue_command(), folder, on_death=lambda: count("queue"))
        self.web = Child("web", web_command(port), folder, on_death=lambda: count("web"))
        self.watchdog = Watchdog()
        self.stops = 0  # how often we were told to stop; the second time is urgent
        self._on_tick, self._sweep, self._on_ready = on_tick, sweep, on_ready
        self._is_ready = False
        self._due = {"sweep": 0.0, "watch": 0.0, "tidy": 0.0}

    def run(self) -> int:
        self.restarts.write()
        while not self.stops:
            self.queue.keep_alive()
            self.web.keep_alive()
            if not self._is_ready and self.web.deaths >= GIVE_UP_AFTER:
                print(f"codememory: no web server; see {self.web.log}", file=sys.stderr)
                return 1
            self._look()
            time.sleep(TICK_SECONDS)
        return 0

    def end(self) -> None:
        children = (self.web, self.queue)
        for child in children:
            child.ask_to_end()
        deadline = time.monotonic() + GRACE_SECONDS
        for child in children:
            child.end(deadline, is_urgent=lambda: self.stops > 1)
        self.restarts.remove()

    def _look(self) -> None:
        if not self._is_ready and self.web.is_alive() and _answers(self.port):
            self._is_ready = True
            if self._on_ready is not None:
                self._on_ready()
        self._with_database(self._on_tick)
        if self._sweep is not None and self._is_due("sweep", SWEEP_SECONDS):
            self._with_database(self._sweep)
        if self._is_due("watch", WATCH_SECONDS):
            self._with_database(self._watch)
        if self._is_due("tidy", TIDY_SECONDS):
            with contextlib.suppress(OSError):  # a full disk, or a folder that just went away
                remove_stale(scratch_folder())

    def _is_due(self, what: str, seconds: float) -> bool:
        now = time.monotonic()
        if now < self._due[what]:
            return False
        self._due[what] = now + seconds
        return True

    def _watch(self) -> None:
        now = time.monotonic()
        if not self.queue.is_alive():
            self.watchdog = Watchdog()
        elif self.watchdog.is_stuck(look_at_queue(now - self.queue.started_at), now):
            logger.warning("the queue works no more: restarting it")
            self.restarts.count("queue_hung")
            self.watchdog = Watchdog()
            self.queue.ask_to_end()
            self.queue.end(time.monotonic() + RESTART_GRACE_SECONDS)

    def _with_database(self, action: Callable[[], None]) -> None:
        """The database may end under us: it is started again, and the next look succeeds."""
        try:
            action()
        except (OperationalError, InterfaceError) as error:
            logger.warning("the database does not answer: %s", type(error).__name__)
            connection.close()
            try:
                if database.revive():
                    self.restarts.count("database")
                    logger.warning("the database server had ended and was started again")
            except DatabaseError as refused:  # a full disk may pass: the next look tries again
                logger.warning("the database does not start: %s", refused)


def queue_command() -> list[str]:
    return [sys.executable, str(settings.ROOT / "manage.py"), "qcluster"]


def web_command(port: int) -> list[str]:
    """Only on this machine's own address; headers of a proxy are nobody's to set there."""
    options = ["--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"]
    options += ["--no-proxy-headers", "--no-server-header", "--timeout-graceful-shutdown", "5"]
    return [sys.executable, "-m", "uvicorn", "api.asgi:application", *options]


@contextlib.contextmanager
def _stop_signals(tree: Tree) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        tree.stops += 1
        if tree.stops == 1:
            sys.stderr.write("\nstopping; once more to stop at once\n")

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
