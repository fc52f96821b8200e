"""Which account runs the embedded server, and in which folders; nothing existing is changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from codememory import home
from codememory.errors import DatabaseError

if sys.platform != "win32":
    import pwd

ACCOUNT = "codememory"
PORT = 5432  # names the socket; nothing listens on the network
SOCKET_PATH_LIMIT = 100  # bytes; macOS allows 103, Linux 107
ELSEWHERE = Path("/var/lib/codememory-databases")


@dataclass(frozen=True, slots=True)
class Account:
    """The account a server runs under when root must not be it."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Server:
    """An embedded server: `folder` (0700, the account's own) holds its data, log and socket."""

    home: Path
    folder: Path
    account: Account | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"


def account_for(folder: Path) -> Account | None:
    """As root: the owner of the home when that is a person, else the system account."""
    if not home.is_root():
        return None
    owner = folder.stat().st_uid if folder.exists() else 0
    try:
        entry = pwd.getpwuid(owner) if owner else pwd.getpwnam(ACCOUNT)
    except KeyError:
        if owner:
            raise DatabaseError(f"the owner of {folder} is no account of this system") from None
        entry = _make_account()
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _make_account() -> pwd.struct_passwd:
    program = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if program is None:
        reason = f"PostgreSQL refuses root: make an account {ACCOUNT}, or set DATABASE_URL"
        raise DatabaseError(reason)
    say(f"making the system account {ACCOUNT}: PostgreSQL refuses to run as root")
    options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    command = [program, *options, "--shell", "/usr/sbin/nologin", ACCOUNT]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return pwd.getpwnam(ACCOUNT)  # also when another process made it in this moment
    except KeyError:
        raise DatabaseError(f"useradd failed: {result.stderr.strip()}") from None


def reachable(path: Path, uid: int, gid: int) -> bool:
    """Whether the permission bits let that account pass through every folder down to `path`."""
    for part in [*reversed(path.parents), path]:
        status = part.stat()
        shift = 6 if status.st_uid == uid else 3 if status.st_gid == gid else 0
        if not status.st_mode >> shift & 1:
            return False
    return True


def folder_of(folder: Path) -> Path:
    try:
        return Path((folder / "database-location").read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return folder / "postgres"


def make_folder(folder: Path, account: Account | None) -> Path:
    database = folder_of(folder)
    if not database.exists():
        if account and not reachable(folder, account.uid, account.gid):
            database = _place_elsewhere(folder, account)
        database.mkdir(mode=0o700)
        if account:
            os.chown(database, account.uid, account.gid)
    if account is None and database.stat().st_uid != os.geteuid():
        raise DatabaseError(f"{database} belongs to {owner_name(database)}: run as that account")
    return database


def _place_elsewhere(folder: Path, account: Account) -> Path:
    """The account cannot enter the home, whose permissions are not ours to change."""
    ELSEWHERE.mkdir(mode=0o711, exist_ok=True)
    database = ELSEWHERE / secrets.token_hex(8)
    (folder / "database-location").write_text(f"{database}\n", encoding="utf-8")
    say(f"the account {account.name} cannot enter {folder}: the database is kept in {database}")
    return database


def owner_name(path: Path) -> str | None:
    if sys.platform == "win32" or not path.exists():
        return None
    try:
        return path.owner()
    except KeyError:
        return str(path.stat().st_uid)


def socket_folder(database: Path) -> Path:
    """Inside the database's folder, or a short place when the address would be too long."""
    inside = database / "socket"
    if len(os.fsencode(inside / f".s.PGSQL.{PORT}")) <= SOCKET_PATH_LIMIT:
        return inside
    return Path("/tmp") / f"codememory-{hashlib.sha256(os.fsencode(database)).hexdigest()[:16]}"  # noqa: S108 -- 0700 and its owner are checked before use


def make_socket_folder(server: Server) -> Path:
    folder = socket_folder(server.folder)
    uid = server.account.uid if server.account else os.geteuid()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        if server.account:
            os.chown(folder, uid, server.account.gid)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != uid or status.st_mode & 0o077:
        raise DatabaseError(f"{folder} is not a folder of the server alone: remove it")
    return folder


def say(line: str) -> None:
    print(f"codememory: {line}", file=sys.stderr)
