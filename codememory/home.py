"""The folder that holds all of an installation: where it is, how it is made, its two secrets.

manage.py, the settings and the database module use it; nothing here needs Django.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from codememory import env
from codememory.errors import SettingError

SECRET_KEY = "secret-key"  # noqa: S105 -- the file's name
REDACTION_KEY = "redaction-key"


def default_folder(platform: str, environ: Mapping[str, str], *, is_root: bool) -> PurePath:
    """The platform's folder for a user's data; pure, so that all platforms are tested on one."""
    if platform == "win32":
        local = environ.get("LOCALAPPDATA") or environ.get("USERPROFILE", "") + r"\AppData\Local"
        return PureWindowsPath(local) / "CodeMemory"
    home = PurePosixPath(environ.get("HOME") or "/")
    if platform == "darwin":
        return home / "Library" / "Application Support" / "CodeMemory"
    if is_root:
        return PurePosixPath("/var/lib/codememory")
    data = environ.get("XDG_DATA_HOME", "")
    return (PurePosixPath(data) if data.startswith("/") else home / ".local/share") / "codememory"


def folder() -> Path:
    """The home in use, absolute; it may not exist yet."""
    chosen = env.text("CODEMEMORY_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(default_folder(sys.platform, os.environ, is_root=is_root()))


def is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def prepare(home: Path, group: int | None = None) -> Path:
    """Make the home where it is missing, and its secrets; an existing folder keeps its mode.

    `group` may pass through a new home (not list it): the account the database runs under.
    """
    home.parent.mkdir(parents=True, exist_ok=True)
    try:
        home.mkdir(mode=0o700)
    except FileExistsError:
        if not home.is_dir():
            raise SettingError("CODEMEMORY_HOME", "is not a folder") from None
    else:
        if group is not None:
            os.chown(home, -1, group)
            home.chmod(0o710)
    for name in (SECRET_KEY, REDACTION_KEY):
        _make_secret(home / name)
    return home


def give_to_owner(path: Path) -> None:
    """What root makes in somebody's home stays usable by that person."""
    if is_root():
        owner = path.parent.stat()
        os.chown(path, owner.st_uid, -1)


def read_secret(home: Path, name: str) -> str | None:
    try:
        return (home / name).read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None


def _make_secret(path: Path) -> None:
    """Write a new secret unless there is one; of two processes at once, one value wins for both."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48) + "\n")
            file.flush()
            os.fsync(file.fileno())
        give_to_owner(draft)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink()
