"""Opens a repository by looking at its files only: what it is, where it is, what HEAD names.

Nothing here starts git or follows a link; a repository that cannot be read safely is refused.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from collectors.paths import is_safe, read_regular
from collectors.values import Gap, GapReason

_SMALL = 4096
_CONFIG_LIMIT = 1 << 20
_PACKED_REFS_LIMIT = 64 << 20
_ID_LENGTHS = {"sha1": 40, "sha256": 64}
_EXTENSIONS = {  # those that change nothing for a reader of objects and loose or packed refs
    "noop", "preciousobjects", "partialclone", "worktreeconfig", "objectformat", "refstorage",
    "relativeworktrees",
}  # fmt: skip
_FAN_OUT = re.compile(r"[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class Repository:
    root: Path  # the checkout; the git directory itself where there is none
    git_dir: Path  # HEAD of this worktree
    common_dir: Path  # objects and refs; equal to git_dir but for a linked worktree
    object_format: str  # sha1 or sha256
    is_bare: bool

    @property
    def id_length(self) -> int:
        return _ID_LENGTHS[self.object_format]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a path is not opened: a gap reason or NOT_A_REPOSITORY, and what may help."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class Head:
    oid: str | None  # None: no commit yet, or a ref that names nothing
    branch: str | None  # None: detached


class _RefusedError(Exception):
    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.refused = Refused(reason, hint)


def find_root(path: Path) -> Path | None:
    """The nearest folder at or above `path` that has a `.git`; where none has, a bare repository.

    What looks like a bare one inside a checkout is part of its files: anyone could commit it.
    """
    path = path.resolve()
    folders = (path, *path.parents)
    found = next((folder for folder in folders if os.path.lexists(folder / ".git")), None)
    return found or next((folder for folder in folders if _looks_bare(folder)), None)


def ignored_overlays(repository: Repository) -> dict[str, int]:
    """What the repository holds that would show another history and is not heeded, counted."""
    found = {
        "replace_refs": _count_replace_refs(repository.common_dir),
        "grafts": _count_lines(_read(repository.common_dir, b"info/grafts", _PACKED_REFS_LIMIT)),
    }
    return {name: count for name, count in found.items() if count}


def _count_replace_refs(common_dir: Path) -> int:
    packed = _read(common_dir, b"packed-refs", _PACKED_REFS_LIMIT) or b""
    names = set(re.findall(rb"^[0-9a-f]{40,64} (refs/replace/\S+)", packed, re.MULTILINE))
    folder = common_dir / "refs" / "replace"
    if folder.is_dir() and not folder.is_symlink():
        with os.scandir(folder) as entries:
            names |= {b"refs/replace/" + os.fsencode(entry.name) for entry in entries}
    return len(names)


def _count_lines(content: bytes | None) -> int:
    return sum(bool(line.strip()) for line in (content or b"").splitlines())


def open_repository(path: Path) -> Repository | Refused:
    """The repository whose root is exactly `path`."""
    try:
        root = path.resolve(strict=True)
        return _open(root)
    except _RefusedError as error:
        return error.refused
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return Refused("NOT_A_REPOSITORY", "There is no folder here that can be read.")


def read_head(repository: Repository) -> Head:
    """HEAD, resolved through loose and packed refs."""
    name = _read(repository.git_dir, b"HEAD", _SMALL)
    branch = None
    for _ in range(5):  # git's own limit on chained symbolic refs
        if name is None or not name.startswith(b"ref:"):
            break
        ref = name[4:].strip()
        if not ref.startswith(b"refs/") or not is_safe(ref):
            return Head(None, None)
        if ref.startswith(b"refs/heads/"):
            branch = ref[len(b"refs/heads/") :].decode("utf-8", "backslashreplace")
        name = _read_ref(repository, ref)
    return Head(as_oid(name or b"", repository), branch)


def as_oid(text: bytes, repository: Repository) -> str | None:
    text = text.strip()
    if re.fullmatch(rb"[0-9a-f]{%d}" % repository.id_length, text):
        return text.decode()
    return None


def _read_ref(repository: Repository, ref: bytes) -> bytes | None:
    own = ref.startswith((b"refs/bisect/", b"refs/worktree/", b"refs/rewritten/"))
    folder = repository.git_dir if own else repository.common_dir
    # Loose, packed, loose again: a ref may be packed between the first two looks.
    found = _read(folder, ref, _SMALL)
    if found is None:
        found = _read_packed_ref(repository.common_dir, ref)
    return found if found is not None else _read(folder, ref, _SMALL)


def _read_packed_ref(common_dir: Path, ref: bytes) -> bytes | None:
    packed = _read(common_dir, b"packed-refs", _PACKED_REFS_LIMIT)
    if packed is None:
        return None
    found = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(ref) + rb"\r?$", packed, re.MULTILINE)
    return found[1] if found else None


def _read(folder: Path, name: bytes, limit: int) -> bytes | None:
    content = read_regular(folder, name, limit)
    return None if isinstance(content, Gap) else content


def _open(root: Path) -> Repository:
    dot_git = root / ".git"
    try:
        mode = dot_git.lstat().st_mode
    except FileNotFoundError:
        if not _looks_bare(root):
            raise _RefusedError("NOT_A_REPOSITORY", "There is no .git here.") from None
        return _accept(root, root, root, may_be_bare=True)
    if stat.S_ISDIR(mode):
        if os.path.lexists(dot_git / "commondir"):
            raise _RefusedError(
                GapReason.GITDIR_OUTSIDE_PROJECT, "The .git folder points to another one."
            )
        return _accept(root, dot_git, dot_git)
    if stat.S_ISLNK(mode):
        raise _RefusedError(
            GapReason.GITDIR_OUTSIDE_PROJECT, "The .git entry is a symbolic link; use its target."
        )
    if not stat.S_ISREG(mode):
        raise _RefusedError(GapReason.NOT_REGULAR, "The .git entry is neither folder nor file.")
    git_dir = _linked_git_dir(root)
    return _accept(root, git_dir, git_dir.parent.parent)


def _linked_git_dir(root: Path) -> Path:
    """The git directory of a linked worktree, if it points back to this very `.git` file."""
    content = _read(root, b".git", _SMALL) or b""
    outside = _RefusedError(
        GapReason.GITDIR_OUTSIDE_PROJECT,
        "The .git file names a folder that does not point back here; open the main checkout.",
    )
    if not content.startswith(b"gitdir:"):
        raise outside
    git_dir = (root / os.fsdecode(content[7:].strip())).resolve()
    back = _read(git_dir, b"gitdir", _SMALL)
    common = _read(git_dir, b"commondir", _SMALL)
    if back is None or common is None or git_dir.parent.name != "worktrees":
        raise outside
    back_path = git_dir / os.fsdecode(back.strip())
    common_dir = (git_dir / os.fsdecode(common.strip())).resolve()
    if back_path.parent.resolve() / back_path.name != root / ".git":
        raise outside
    if common_dir != git_dir.parent.parent:
        raise outside
    return git_dir


def _looks_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and all(
        (folder / name).is_dir() for name in ("objects", "refs")
    )


def _accept(
    root: Path, git_dir: Path, common_dir: Path, *, may_be_bare: bool = False
) -> Repository:
    for folder, name, is_wanted in (
        (git_dir, "HEAD", stat.S_ISREG),
        (common_dir, "config", stat.S_ISREG),
        (common_dir, "objects", stat.S_ISDIR),
        (common_dir, "refs", stat.S_ISDIR),
    ):
        entry = folder / name
        if not os.path.lexists(entry):
            if name in {"config", "refs"}:
                continue
            raise _RefusedError("NOT_A_REPOSITORY", f"{name} is missing in the git folder.")
        if not is_wanted(entry.lstat().st_mode):
            raise _RefusedError(GapReason.NOT_REGULAR, f"{name} in the git folder is not plain.")
    settings = _read_config(common_dir)
    object_format = _check_format(settings)
    _check_worktree(root, git_dir, settings, may_be_bare=may_be_bare)
    _check_objects(common_dir / "objects")
    return Repository(root, git_dir, common_dir, object_format, may_be_bare)


def _read_config(common_dir: Path) -> dict[str, str]:
    """Keys as `section.key`. Only what git itself takes from this file before all else."""
    content = read_regular(common_dir, b"config", _CONFIG_LIMIT)
    if isinstance(content, Gap):
        raise _RefusedError(content.reason, "config in the git folder cannot be read.")
    settings: dict[str, str] = {}
    section = ""
    for line in (content or b"").decode("utf-8", "backslashreplace").splitlines():
        if found := re.match(r"\s*\[([^\]]*)\]\s*(.*)", line):
            section, line = found[1].strip().lower(), found[2]  # noqa: PLW2901 - same line, rest
        if found := re.match(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?))?\s*$", line):
            value = "true" if found[2] is None else re.sub(r"\s*[#;].*", "", found[2])
            settings[f"{section}.{found[1].lower()}"] = value.strip('"')
    return settings


def _check_format(settings: dict[str, str]) -> str:
    unsupported = _RefusedError(
        GapReason.UNSUPPORTED_FORMAT, "The repository uses a format that cannot be read here."
    )
    version = settings.get("core.repositoryformatversion", "0")
    if version not in {"0", "1"} or settings.get("extensions.refstorage", "files") != "files":
        raise unsupported
    used = {key.split(".", 1)[1] for key in settings if key.startswith("extensions.")}
    if version == "1" and not used <= _EXTENSIONS:
        raise unsupported
    object_format = settings.get("extensions.objectformat", "sha1").lower()
    if object_format not in _ID_LENGTHS:
        raise unsupported
    return object_format


def _check_worktree(
    root: Path, git_dir: Path, settings: dict[str, str], *, may_be_bare: bool
) -> None:
    worktree = settings.get("core.worktree")
    if worktree is not None and not may_be_bare and (git_dir / worktree).resolve() != root:
        raise _RefusedError(
            GapReason.GITDIR_OUTSIDE_PROJECT, "core.worktree names another folder; open that one."
        )


def _check_objects(objects: Path) -> None:
    """Refuse a store with links or special files: git would follow or wait for them."""
    alternates = objects / "info" / "alternates"
    if os.path.lexists(alternates) and alternates.lstat().st_size > 0:
        raise _RefusedError(
            GapReason.ALTERNATE_NOT_ALLOWED,
            "Objects are borrowed from another repository; `git repack -a` makes this one whole.",
        )
    for folder in objects.iterdir():
        is_of_git = folder.name == "pack" or _FAN_OUT.fullmatch(folder.name)
        # A plain file in the place of a folder is nothing to git, and nothing to the shadow.
        if is_of_git and not stat.S_ISREG(folder.lstat().st_mode):
            _check_folder(folder)


def _check_folder(folder: Path) -> None:
    special = _RefusedError(GapReason.NOT_REGULAR, "The object store holds links or special files.")
    if folder.is_symlink() or not folder.is_dir():
        raise special
    with os.scandir(folder) as entries:
        for entry in entries:
            if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                raise special
