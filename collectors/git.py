"""The only place that starts git: always on a throw-away shadow of the repository, never on it.

The shadow has our own configuration and links to nothing but the object store, so no setting, hook,
filter or attribute of the target is ever read, and nothing of it is ever written.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import resource
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from subprocess import PIPE
from types import TracebackType
from typing import Self

from git import Git

from collectors.comparisons import Comparison, compare_pairs
from collectors.environment import SETTINGS, VARIABLES
from collectors.errors import GitFailedError
from collectors.lost import Cut, find_cut
from collectors.objects import ObjectReader
from collectors.paths import is_safe, read_regular, read_worktree_file
from collectors.process import Child, checked_oid
from collectors.redact import redact_path
from collectors.repository import (
    Head,
    Refused,
    Repository,
    as_oid,
    find_root,
    ignored_overlays,
    open_repository,
    read_head,
)
from collectors.trees import MAX_COMMIT_BYTES, SUBMODULE, TreeWalker, tree_of
from collectors.values import Gap, GapReason, RawChange

__all__ = [
    "Comparison",
    "Head",
    "ObjectReader",
    "Refused",
    "Repository",
    "Shadow",
    "TreeEntry",
    "find_root",
    "git_version",
    "ignored_overlays",
    "open_repository",
    "read_worktree_file",
    "remove_stale",
]

# GIT_CONFIG_GLOBAL (2.32) keeps the user's settings away; a few releases of margin.
OLDEST_GIT = (2, 36)
SILENCE_SECONDS = 120.0
_SHALLOW_LIMIT = 16 << 20
_PREFIX = "shadow-"
_SETTLED_SECONDS = 5.0
MAX_LISTED = 1_000_000  # paths of one tree

# Walls around the child. Tests that look for traces of executed code must take these down:
# under a file size limit of 0 a hook cannot leave its mark.
LIMITS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_CPU: 3600,
    resource.RLIMIT_AS: 2 << 30,
    resource.RLIMIT_DATA: 768 << 20,  # of its own memory: packs that are only mapped do not count
}
# The `env` that empties the environment must itself not run somebody's library.
_NO_PRELOAD = {"LD_PRELOAD": "", "LD_AUDIT": "", "LD_LIBRARY_PATH": "", "DYLD_INSERT_LIBRARIES": ""}


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A path of a tree. `gap` is set where the path must not be joined to a folder.

    `hidden` is what the file is really called where `path` goes without the secret in its name.
    """

    path: bytes
    mode: int
    kind: str
    oid: str
    size: int | None
    gap: GapReason | None = None
    hidden: bytes | None = None


@cache
def git_version() -> tuple[int, ...]:
    with _start(["version"], Path("/nonexistent")) as child:
        words = b"\n".join(child.tokens(b"\n")).decode("ascii", "replace")
    found = re.search(r"(\d+(?:\.\d+)+)", words)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def remove_stale(scratch: Path) -> int:
    """Remove the shadows of dead processes; the living hold a lock on theirs."""
    removed = 0
    for folder in scratch.glob(_PREFIX + "*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime < _SETTLED_SECONDS:
                continue  # one that is just being made has no lock yet
        with contextlib.suppress(FileNotFoundError), (folder / "lock").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


class Shadow:
    """A throw-away git directory that shows a repository's objects and nothing else of it.

    Secrets in paths and in the branch's name are replaced by marks, with digests keyed by
    `redaction_key`: the same path keeps the same name.
    """

    def __init__(self, repository: Repository, scratch: Path, redaction_key: bytes = b"") -> None:
        self.repository = repository
        self._redaction_key = redaction_key
        self._scratch = scratch
        self._boundary: list[str] = []
        self._cut = Cut()

    def __enter__(self) -> Self:
        self._scratch.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._scratch))
        self._lock = (self._folder / "lock").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._boundary = self._read_boundary()
        self._write()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._lock.close()

    def head(self) -> Head:
        head = read_head(self.repository)
        if head.branch is None:
            return head
        branch = redact_path(head.branch.encode("utf-8", "surrogateescape"), self._redaction_key)
        return replace(head, branch=branch.decode("utf-8", "surrogateescape"))

    @property
    def is_shallow(self) -> bool:
        return bool(self._boundary)

    def shallow_boundary(self) -> list[str]:
        """Commits whose parents the clone declares to lack. The file can be forged: say so."""
        return list(self._boundary)

    def is_current(self) -> bool:
        """Whether it still shows history as the repository has it, boundary and lost commits."""
        is_whole = self._folder.is_dir() and self._cut == Cut()
        return is_whole and self._read_boundary() == self._boundary

    def count(self, head: str, exclude: Iterable[str] = ()) -> int:
        exclude = list(exclude)
        try:
            return self._count(head, exclude)
        except GitFailedError as error:
            if error.retryable or not self._cut_off([head, *exclude]):
                raise
            return self._count(head, exclude)

    def rev_list(self, head: str, exclude: Iterable[str] = ()) -> Iterator[str]:
        """Commits reachable from `head` but not from `exclude`, parents before children.

        A history with lost commits is listed without them and what only they reach.
        """
        exclude = list(exclude)
        try:
            yield from self._list(head, exclude)  # reversed: all or nothing
        except GitFailedError as error:
            if error.retryable or not self._cut_off([head, *exclude]):
                raise
            yield from self._list(head, exclude)

    def _count(self, head: str, exclude: list[str]) -> int:
        with self._walk(["--count"], head, exclude) as child:
            (line,) = child.tokens(b"\n")  # all of them: only then is git known to have ended well
            return int(line)

    def _list(self, head: str, exclude: list[str]) -> Iterator[str]:
        with self._walk(["--topo-order", "--reverse"], head, exclude) as child:
            for line in child.tokens(b"\n"):
                yield line.decode("ascii")

    def _cut_off(self, heads: list[str]) -> bool:
        """Let git take commits whose parents are lost for roots; False: that helps nothing."""
        with self.objects() as reader:
            cut = find_cut(heads, reader)
        if cut == self._cut:
            return False
        self._cut = cut
        self._write_shallow()
        return True

    def reachable(self, head: str) -> Iterator[str]:
        return self.rev_list(head)

    def changes(
        self,
        pairs: Iterable[tuple[str, str | None]],
        prepared: Mapping[tuple[str, int], Comparison] | None = None,
    ) -> Iterator[Comparison]:
        """One comparison per (commit, parent), in order. A parent of None: the empty tree.

        Pairs of one commit must follow one another in the order of its parents: their places
        become `parent_index`. What cannot be compared is an empty comparison with a gap.
        `prepared` holds what git is not asked for, by commit and parent index.
        """
        for found in compare_pairs(self._feed, pairs, set(self._boundary), prepared or {}):
            rows = [self._without_secrets(row) for row in found.rows]
            yield found._replace(rows=rows, gaps=self._gaps_without_secrets(found.gaps))

    def _without_secrets(self, row: RawChange) -> RawChange:
        old = row.old_path and redact_path(row.old_path, self._redaction_key)
        new = row.new_path and redact_path(row.new_path, self._redaction_key)
        is_same = old == row.old_path and new == row.new_path
        return row if is_same else replace(row, old_path=old, new_path=new)

    def _gaps_without_secrets(self, gaps: list[Gap]) -> list[Gap]:
        return [
            replace(gap, path=redact_path(gap.path, self._redaction_key)) if gap.path else gap
            for gap in gaps
        ]

    def tree(self, commit: str, gaps: list[Gap] | None = None) -> Iterator[TreeEntry]:
        """Every file, link and submodule of a commit; what is wrong or left out goes to `gaps`."""
        found_gaps: list[Gap] = []
        yield from self._entries(commit, found_gaps)
        if gaps is not None:
            gaps += self._gaps_without_secrets(found_gaps)

    def _entries(self, commit: str, gaps: list[Gap]) -> Iterator[TreeEntry]:
        with self.objects(8 << 20) as reader:
            content = reader.read(commit, "commit", MAX_COMMIT_BYTES)
            root = content if isinstance(content, Gap) else tree_of(content, reader.id_bytes)
            if isinstance(root, Gap):
                gaps.append(replace(root, oid=commit))
                return
            walk = TreeWalker(reader, MAX_LISTED).walk(None, root, gaps)
            while found := list(islice(walk, 1000)):
                new = [(row.path, row.new) for row in found if row.new is not None]
                sizes = reader.sizes(entry.oid for _, entry in new if entry.mode != SUBMODULE)
                for path, entry in new:
                    shown = redact_path(path, self._redaction_key)
                    yield TreeEntry(
                        path=shown,
                        mode=entry.mode,
                        kind="commit" if entry.mode == SUBMODULE else "blob",
                        oid=entry.oid,
                        size=sizes.get(entry.oid),
                        gap=None if is_safe(path) else GapReason.UNSAFE_PATH,
                        hidden=None if shown == path else path,
                    )

    def objects(self, cache_bytes: int = 64 << 20) -> ObjectReader:
        return ObjectReader(self._feed, self.repository.object_format, cache_bytes)

    def _start(self, arguments: Sequence[str], *, feed: bool = False) -> Child:
        return _start(arguments, self._folder, feed=feed)

    def _feed(self, arguments: Sequence[str]) -> Child:
        return self._start(arguments, feed=True)

    def _walk(self, options: list[str], head: str, exclude: Iterable[str]) -> Child:
        lines = [checked_oid(head), *sorted(self._cut.tips)]
        excluded = [checked_oid(oid) for oid in exclude]
        if excluded:
            # A rewritten history may have lost them, and git dies of an id it cannot find.
            with self.objects() as reader:
                lines += [f"^{oid}" for oid, size in reader.sizes(excluded).items() if size]
        child = self._feed(["rev-list", *options, "--stdin"])
        child.write(("\n".join(lines) + "\n").encode("ascii"))
        return child

    def _read_boundary(self) -> list[str]:
        content = read_regular(self.repository.common_dir, b"shallow", _SHALLOW_LIMIT)
        if not isinstance(content, bytes):
            return []
        found = (as_oid(line, self.repository) for line in content.splitlines())
        return [oid for oid in found if oid is not None]

    def _write(self) -> None:
        objects = self._folder / "objects"
        objects.mkdir()
        (self._folder / "refs").mkdir()
        (self._folder / "HEAD").write_text("ref: refs/heads/none\n")
        version = 1 if self.repository.object_format == "sha256" else 0
        config = f"[core]\nrepositoryformatversion = {version}\nbare = true\n"
        if version:
            config += "[extensions]\nobjectformat = sha256\n"
        (self._folder / "config").write_text(config)
        self._write_shallow()
        for folder in (self.repository.common_dir / "objects").iterdir():
            is_wanted = folder.name == "pack" or re.fullmatch(r"[0-9a-f]{2}", folder.name)
            if is_wanted and folder.is_dir() and not folder.is_symlink():
                (objects / folder.name).symlink_to(folder)

    def _write_shallow(self) -> None:
        """Commits whose parents git must not look for."""
        if cut := sorted({*self._boundary, *self._cut.children}):
            (self._folder / "shallow").write_text("\n".join(cut) + "\n")


@cache
def _executable() -> str:
    found = shutil.which("git", path="/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin")
    if found is None:
        raise FileNotFoundError("git is not installed")
    return found


@lru_cache(maxsize=8)
def _words(git_dir: Path) -> list[str]:
    """`env -i` and all that follows it: GitPython would hand our own environment on."""
    variables = dict(VARIABLES, GIT_DIR=str(git_dir), GIT_CONFIG_COUNT=str(len(SETTINGS)))
    for number, (key, value) in enumerate(SETTINGS.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return [
        "/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items()),
        _executable(), "--no-pager", "--no-optional-locks", "--no-replace-objects",
        "--literal-pathspecs",
    ]  # fmt: skip


def _start(
    arguments: Sequence[str], git_dir: Path, *, feed: bool = False, byte_limit: int | None = None
) -> Child:
    process = Git("/").execute(
        [*_words(git_dir), *arguments],
        istream=PIPE if feed else None,
        as_process=True,
        env=_NO_PRELOAD,
        shell=False,
        start_new_session=True,
    )
    popen, process.proc = process.proc, None  # ours from here: the wrapper would end it by itself
    assert popen is not None
    with contextlib.suppress(ProcessLookupError):  # it may be done already
        if hasattr(resource, "prlimit"):
            for limit, value in LIMITS.items():
                _, hard = resource.prlimit(popen.pid, limit)
                lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.prlimit(popen.pid, limit, (lower, lower))
    return Child(arguments[0], popen, seconds=SILENCE_SECONDS, byte_limit=byte_limit)
