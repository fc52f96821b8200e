"""The embedded server: shared by leases, started after anything, stopped by the last one."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from codememory import database
from codememory.database import place
from codememory.errors import DatabaseError, SettingError

ROOT = Path(__file__).resolve().parent.parent
IS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not IS_ROOT, reason="another account is needed: run as root")


def lend(folder: Path) -> database.Lease:
    return database.ensure_running(folder, durable=False)


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """A home whose database was made once: making it is the slow part."""
    folder = Path(f"{os.environ['CODEMEMORY_HOME']}.template")
    lend(folder).close()
    yield folder
    database.discard(folder)


@pytest.fixture
def made(template: Path, home: Path) -> Path:
    subprocess.run(["cp", "-a", str(template), str(home)], check=True)
    return home


def connect(folder: Path) -> psycopg.Connection[Any]:
    settings = database.database_settings(folder)
    return psycopg.connect(
        host=settings["HOST"], port=settings["PORT"], user=settings["USER"], dbname=settings["NAME"]
    )


def is_running(folder: Path) -> bool:
    try:
        connect(folder).close()
    except psycopg.OperationalError:
        return False
    return True


def pid_file(lease: database.Lease) -> Path:
    return lease.server.data / "postmaster.pid"


def kill(lease: database.Lease) -> None:
    os.kill(int(pid_file(lease).read_text().splitlines()[0]), signal.SIGKILL)
    while is_running(lease.server.home):
        time.sleep(0.01)


def test_a_new_home_gets_a_server_with_our_database(home: Path) -> None:
    with lend(home), connect(home) as connection:
        row = connection.execute("SELECT current_setting('server_encoding'), lower('ÇİĞ')")
        assert row.fetchone() == ("UTF8", "çiğ")


def test_the_last_lease_stops_the_server_and_no_earlier_one(made: Path) -> None:
    first, second = lend(made), lend(made)
    first.close()
    assert is_running(made)
    second.close()
    assert not is_running(made)


def test_data_survive_a_stop_of_a_server_that_syncs(home: Path) -> None:
    with database.ensure_running(home), connect(home) as connection:
        connection.execute("CREATE TABLE kept (n int)")
    with lend(home), connect(home) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_nothing_listens_on_the_network_and_the_folder_is_private(made: Path) -> None:
    with lend(made) as lease, connect(made) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert lease.server.folder.stat().st_mode & 0o777 == 0o700


def test_committed_rows_survive_a_killed_server(made: Path) -> None:
    with lend(made) as lease:
        with connect(made) as connection:
            connection.execute("CREATE TABLE kept (n int)")
            connection.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
        kill(lease)
        assert lease.revive()
        with connect(made) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1000,)


def test_revive_leaves_a_living_server_alone(made: Path) -> None:
    with lend(made):
        assert not database.revive()


def test_a_pid_file_whose_number_another_process_has_is_no_obstacle(made: Path) -> None:
    with lend(made) as lease:
        kill(lease)
        lines = pid_file(lease).read_text().splitlines()
        pid_file(lease).write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
        assert lease.revive()


def test_an_interrupted_first_start_is_begun_again(home: Path) -> None:
    with lend(home) as lease:
        pass
    (lease.server.folder / "data").rename(lease.server.folder / "data.new")
    with lend(home):
        assert is_running(home)


def hold_briefly(folder: str, failures: Any) -> None:
    try:
        for _ in range(4):
            with lend(Path(folder)):
                if not is_running(Path(folder)):
                    failures.put("not running under a lease")
    except BaseException as error:
        failures.put(repr(error))
        raise


def test_many_commands_at_once_never_lose_the_server(made: Path) -> None:
    context = multiprocessing.get_context("spawn")
    failures = context.Queue()
    processes = [context.Process(target=hold_briefly, args=(str(made), failures)) for _ in range(5)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(90)
    assert failures.empty(), failures.get()
    assert not is_running(made)


def test_the_next_command_stops_what_a_killed_one_left_running(made: Path) -> None:
    code = "import sys, time; from pathlib import Path; from codememory import database as d; "
    code += "lease = d.ensure_running(Path(sys.argv[1]), durable=False)\n"
    code += "print('up', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code, str(made)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
    assert is_running(made)
    lend(made).close()
    assert not is_running(made)


def test_a_home_in_use_is_not_discarded(made: Path) -> None:
    with lend(made), pytest.raises(DatabaseError, match="in use"):
        database.discard(made)


def test_discarding_removes_everything(made: Path) -> None:
    lend(made).close()
    database.discard(made)
    assert not made.exists()


def test_a_folder_that_is_no_home_is_never_discarded(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    database.discard(tmp_path)
    assert (tmp_path / "precious").exists()


def test_a_home_too_deep_for_a_socket_has_it_in_a_short_private_folder(home: Path) -> None:
    deep = home / ("deep-" * 18)
    with lend(deep) as lease:
        assert is_running(deep)
        folder = place.socket_folder(lease.server.folder)
        assert len(str(folder)) < 50
        assert folder.stat().st_mode & 0o777 == 0o700
    database.discard(deep)
    home.rmdir()


def test_data_of_another_major_version_are_not_touched(made: Path) -> None:
    with lend(made) as lease:
        pass
    (lease.server.data / "PG_VERSION").write_text("14\n")
    with pytest.raises(DatabaseError, match="written by PostgreSQL 14"):
        lend(made)


def test_the_lease_of_a_forked_child_does_not_stop_the_server(made: Path) -> None:
    with lend(made) as lease:
        pid = os.fork()
        if pid == 0:
            lease.close()
            os._exit(0)
        os.waitpid(pid, 0)
        assert is_running(made)


@only_root
def test_as_root_the_server_runs_as_the_system_account(made: Path) -> None:
    with lend(made) as lease:
        assert lease.server.data.owner() == "codememory"
        pid = pid_file(lease).read_text().splitlines()[0]
        assert Path(f"/proc/{pid}").owner() == "codememory"


@only_root
def test_a_home_the_account_cannot_enter_keeps_its_mode(home: Path) -> None:
    home.mkdir(mode=0o700)
    with lend(home) as lease:
        assert is_running(home)
        assert lease.server.folder.parent == place.ELSEWHERE
    assert home.stat().st_mode & 0o777 == 0o700
    database.discard(home)
    assert not lease.server.folder.exists()


def test_reachable_reads_the_bits_of_every_folder(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "outer").chmod(0o700)
    inner.chmod(0o755)
    assert place.reachable(inner, inner.stat().st_uid, 0) == _can_enter(tmp_path)
    assert not place.reachable(inner, 65_533, 65_533)


def _can_enter(folder: Path) -> bool:
    with contextlib.suppress(PermissionError):
        list(folder.iterdir())
        return True
    return False


def test_an_address_becomes_django_settings() -> None:
    parsed = database.parse_url("postgresql://me:s%20cret@db.example:6000/memory?sslmode=require")
    assert (parsed["NAME"], parsed["PASSWORD"], parsed["PORT"]) == ("memory", "s cret", "6000")
    assert parsed["OPTIONS"] == {"sslmode": "require"}


@pytest.mark.parametrize("url", ["mysql://a/b", "postgresql://host", "postgresql://h/d?wrong=1"])
def test_other_addresses_are_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(SettingError) as refused:
        database.parse_url(url)
    assert url not in str(refused.value)


def test_with_an_address_of_ones_own_nothing_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hidden@db.example/memory")
    described = database.describe(Path("/nonexistent"))
    assert described["kind"] == "external"
    assert "hidden" not in str(described)
