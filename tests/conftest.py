"""One embedded server for the whole test session, in a home of its own that is removed afterwards.

It starts with the first test that wants the database; each parallel worker has its own database.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codememory import database
from codememory.errors import DatabaseError

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

CHROMIUM = Path("/usr/bin/chromium")
CHROMIUM_ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
]
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
HOMES = Path("/tmp")  # noqa: S108 -- short, because a socket's address must be
PREFIX = f"codememory-test-{os.getuid()}-"
SERVER: list[database.Lease] = []

if "codememory.settings" in sys.modules and not IS_WORKER:
    raise pytest.UsageError("the settings were read too early: unset DJANGO_SETTINGS_MODULE")
if not IS_WORKER:  # parallel workers inherit these
    os.environ["CODEMEMORY_HOME"] = str(HOMES / f"{PREFIX}{os.getpid()}")
    os.environ["SECRET_KEY"] = "only-for-tests-" + "0" * 50
    os.environ["CODEMEMORY_REDACTION_KEY"] = "only-for-tests"
    os.environ["DJANGO_SETTINGS_MODULE"] = "codememory.settings"
    # Between tests whole databases are emptied, which the append-only tables refuse elsewhere.
    os.environ["PGOPTIONS"] = "-c codememory.is_test=yes"
    for variable in ("DATABASE_URL", "CODEMEMORY_HTTPS", "CODEMEMORY_DEBUG"):
        os.environ.pop(variable, None)
# Playwright's synchronous interface keeps an event loop in the thread of the test.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    import django  # noqa: PLC0415 -- after the environment above

    django.setup()
    if not IS_WORKER:
        _discard_abandoned()


def pytest_unconfigure() -> None:
    while SERVER:
        SERVER.pop().close()
    if not IS_WORKER:
        # After an interruption a worker may still use it: the next session removes it then.
        with contextlib.suppress(DatabaseError):
            database.discard(Path(os.environ["CODEMEMORY_HOME"]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """`manage.py test` ran checks before us: what failed there is said again where it is seen."""
    if failed := os.environ.get("CODEMEMORY_FAILED_CHECKS"):
        terminalreporter.section("checks that failed before the tests")
        terminalreporter.write_line(failed)


def _discard_abandoned() -> None:
    """Remove homes of sessions that were killed, and stop their servers."""
    for folder in HOMES.glob(f"{PREFIX}*"):
        with contextlib.suppress(DatabaseError, ProcessLookupError):
            try:
                os.kill(int(folder.name.removeprefix(PREFIX).split(".")[0]), 0)
            except ProcessLookupError:
                database.discard(folder)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    SERVER.append(database.ensure_running(Path(os.environ["CODEMEMORY_HOME"]), durable=False))


@pytest.fixture
def home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home that does not exist yet, for this test alone; short enough for a socket."""
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:8]
    folder = HOMES / f"{PREFIX}{os.getpid()}.{name}"
    monkeypatch.setenv("CODEMEMORY_HOME", str(folder))
    yield folder
    database.discard(folder)


@pytest.fixture
def fresh_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of this test start the processes that parse, and end them, as they do for everybody."""
    from tests import lent  # noqa: PLC0415 -- only tests that collect need it

    monkeypatch.setattr(lent, "is_lending", False)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def browser_page(live_server: LiveServer) -> Iterator[Page]:
    """A page of a real headless Chromium on the live server; errors in its console fail the test.

    Started for each test: its event loop would disturb tests that run one of their own.
    """
    if not CHROMIUM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{CHROMIUM} is missing")
        pytest.skip(f"{CHROMIUM} is missing: apt-get install chromium")
    from django.db import connections  # noqa: PLC0415 -- after django.setup()
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- only browser tests need it

    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(base_url=live_server.url)
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(10_000)
        yield page
        browser.close()
        # Its event loop keeps database connections apart: left open, they outlive the test.
        connections.close_all()
    assert errors == []
