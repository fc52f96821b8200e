"""Paths out of trees are untrusted: tell the safe ones, and read a file without following links."""

from __future__ import annotations

import errno
import os
import stat
from functools import lru_cache
from pathlib import Path

from collectors.values import Gap, GapReason

MAX_PATH_BYTES = 4096
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@lru_cache(100_000)
def is_safe(path: bytes) -> bool:
    """Whether joining this path to a root stays under the root and outside its `.git`."""
    if not path or len(path) > MAX_PATH_BYTES or b"\0" in path:
        return False
    return all(
        part not in {b"", b".", b".."} and part.lower() not in {b".git", b"git~1"}
        for part in path.split(b"/")
    )


def read_worktree_file(root: Path, path: bytes, limit: int) -> bytes | Gap | None:
    """The bytes of `root/path`, a gap that says why not, or None where there is no such file.

    Opened one component after another, so that no symbolic link is ever followed.
    """
    if not is_safe(path):
        return Gap(GapReason.UNSAFE_PATH, path=path)
    return read_regular(root, path, limit)


def read_regular(root: Path, path: bytes, limit: int) -> bytes | Gap | None:
    """Like read_worktree_file, for a path that the caller itself composed."""
    *folders, name = path.split(b"/")
    try:
        directory = os.open(root, _DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _unreadable(error, path)
    try:
        for folder in folders:
            parent, directory = directory, os.open(folder, _DIRECTORY, dir_fd=directory)
            os.close(parent)
        return _read_entry(directory, name, path, limit)
    except OSError as error:
        return _explain(error, directory, path)
    finally:
        os.close(directory)


def _explain(error: OSError, directory: int, path: bytes) -> Gap | None:
    name = error.filename
    if error.errno in {errno.ENOTDIR, errno.ELOOP}:
        try:
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return None
        is_link = stat.S_ISLNK(found.st_mode)
        return Gap(GapReason.SYMLINK_NOT_FOLLOWED, path=path) if is_link else None
    return None if error.errno == errno.ENOENT else _unreadable(error, path)


def _unreadable(error: OSError, path: bytes) -> Gap:
    """Permission and the like: whatever it is, it is not a file that can be read."""
    return Gap(GapReason.NOT_REGULAR, path=path, detail=errno.errorcode.get(error.errno or 0, ""))


def _read_entry(directory: int, name: bytes, path: bytes, limit: int) -> bytes | Gap:
    # Looked at before it is opened: opening a device can have effects of its own.
    found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        return Gap(GapReason.SYMLINK_NOT_FOLLOWED, path=path)
    if not stat.S_ISREG(found.st_mode):
        return Gap(GapReason.NOT_REGULAR, path=path)
    descriptor = os.open(name, _FILE, dir_fd=directory)
    try:
        return _read_open_file(descriptor, path, limit)
    finally:
        os.close(descriptor)


def _read_open_file(descriptor: int, path: bytes, limit: int) -> bytes | Gap:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        return Gap(GapReason.NOT_REGULAR, path=path)
    if before.st_size > limit:
        return Gap(GapReason.OVERSIZE, path=path, detail=f"{before.st_size} bytes")
    chunks = []
    left = limit + 1
    while left and (chunk := os.read(descriptor, min(left, 1 << 20))):
        chunks.append(chunk)
        left -= len(chunk)
    content = b"".join(chunks)
    if _stamp(os.fstat(descriptor)) != _stamp(before) or len(content) != before.st_size:
        return Gap(GapReason.CHANGED_DURING_READ, path=path)
    return content


def _stamp(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
