"""A worktree as it is right now: its HEAD, the bytes on disk, and what the verdict rules may ask.

Opened for one question and closed after it. Git is read through a shadow directory; a path that the
policy excludes or protects is never opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from django.db import connection

from codememory.collect_history import boundary_digest, scratch_folder
from codememory.current_symbols import CurrentSymbols, changed_symbols
from codememory.errors import RefusedProjectError
from codememory.inverses import LaterInverses
from codememory.kept_shadows import KeptShadow, give_back, take_shadow
from codememory.kept_spans import spans_of
from codememory.models import FileChange, GitCommit, Project, RefSnapshot
from codememory.once_per_head import once_per_head
from codememory.policies import as_policy, newest_policy, reading_generations, values_of
from codememory.projects import open_root, primary_worktree
from codememory.verdicts import (
    ChangedSymbol,
    CurrentFile,
    CurrentSymbol,
    HunkCase,
    Inverse,
    LineIndex,
    PathHistory,
    Places,
    Source,
)
from collectors.documents import is_document
from collectors.git import ObjectReader, Shadow, TreeEntry
from collectors.ignoring import Eligibility, Ignores, read_ignores
from collectors.paths import read_worktree_file
from collectors.redact import redact
from collectors.repository import Head, Repository
from collectors.values import Gap, GapReason, PathClass, Redaction

REGULAR_FILE = 0o100000
FILE_TYPE = 0o170000
INDEX_BYTES = 100 << 20  # of HEAD's text that the line index holds; the rest it does not know
UNREAD_CLASSES = (PathClass.EXCLUDED, PathClass.PROTECTED)

# The content that the last earlier change of a path left there.
_CONTENT_BEFORE = """
    SELECT content.new_oid FROM codememory_path path
    JOIN codememory_filechange row ON row.scope_id = path.scope_id AND row.new_path_id = path.id
    LEFT JOIN codememory_contentchange content ON content.id = row.content_change_id
    WHERE path.scope_id = %s AND path.digest = %s AND row.commit_id < %s
    ORDER BY row.commit_id DESC LIMIT 1
"""


class Checkout:
    """A project's worktree, open for reading: the `World` of the verdict rules."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.scope_id = project.scope_id
        self.worktree = project.asked_from or primary_worktree(project)
        row = newest_policy(project)
        self.policy = as_policy(values_of(row), row.generation)
        self.archived = frozenset(row.archived)  # sources of which nothing is shown
        self.root = Path(self.worktree.root)
        self.refused: RefusedProjectError | None = None
        self.head = Head(None, None)
        self._kept: KeptShadow | None = None
        self._shadow: Shadow | None = None
        self._reader: ObjectReader | None = None
        self._current: dict[bytes, CurrentFile | None] = {}
        self._spans: dict[str, tuple[Redaction, ...]] = {}
        self._symbols: CurrentSymbols | None = None
        self._inverses = LaterInverses(self.scope_id, self._names_of, self.is_reachable)

    def __enter__(self) -> Self:
        try:
            repository: Repository = open_root(self.root)
        except RefusedProjectError as error:
            self.refused = error
            return self
        self.object_format = repository.object_format
        self._kept = take_shadow(repository, scratch_folder(), self.policy.redaction_key)
        self._shadow, self._reader = self._kept.shadow, self._kept.reader
        self._symbols = CurrentSymbols(self._kept.parser)
        self.head = self._shadow.head()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._kept is None:
            return
        if error is None:
            give_back(self._kept)
        else:
            self._kept.close()
        # They are another question's from here.
        del self._kept, self._shadow, self._reader, self._symbols

    # What is there now

    @property
    def is_readable(self) -> bool:
        """Whether there is a HEAD to compare with at all."""
        return self.head.oid is not None

    @cached_property
    def tree(self) -> dict[bytes, TreeEntry]:
        """HEAD's files by path."""
        if self._shadow is None or self.head.oid is None:
            return {}
        shadow, oid = self._shadow, self.head.oid
        return once_per_head(
            "tree", self.scope_id, oid, lambda: {e.path: e for e in shadow.tree(oid)}
        )

    @cached_property
    def reading(self) -> list[int]:
        """The policy generations under which the very same is read as now."""
        if self.policy.generation == 1:
            return [1]
        return reading_generations(self.scope_id, self.policy.generation)

    @cached_property
    def eligibility(self) -> Eligibility:
        """Which documents may be read, by the policy and the ignore file of HEAD."""
        if self._reader is None:
            return Eligibility(self.policy, Ignores())
        return Eligibility(self.policy, read_ignores(self.tree.values(), self._reader))

    @cached_property
    def snapshot(self) -> RefSnapshot | None:
        """The finished collection of this very HEAD, if there is one."""
        if self._shadow is None or self.head.oid is None:
            return None
        rows = RefSnapshot.objects.filter(
            scope_id=self.scope_id,
            worktree_id=self.worktree.pk,
            boundary_digest=boundary_digest(self._shadow.shallow_boundary()),
            policy_generation__in=self.reading,
        )
        return rows.filter(head_oid=self.head.oid).order_by("-pk").first()

    @cached_property
    def _unreachable(self) -> frozenset[int]:
        """Rows of commits that this HEAD does not reach."""
        snapshot = self.snapshot
        if snapshot is not None and self._stored_commits() == snapshot.stored_commits:
            return frozenset(snapshot.unreachable)
        rows = GitCommit.objects.filter(scope_id=self.scope_id).values_list("pk", "oid")
        return frozenset(pk for pk, oid in rows.iterator() if oid not in self._reached)

    def _stored_commits(self) -> int:
        """How many commits have rows; counted once until there is a newer one."""
        rows = GitCommit.objects.filter(scope_id=self.scope_id)
        newest = rows.order_by("-pk").values_list("pk", flat=True).first()
        return once_per_head("stored", self.scope_id, str(newest), rows.count)

    def reachable_count(self) -> int:
        """How many commits HEAD reaches."""
        if self._shadow is None or self.head.oid is None:
            return 0
        if self.snapshot is not None:
            return self.snapshot.reachable
        shadow, oid = self._shadow, self.head.oid
        return once_per_head("count", self.scope_id, oid, lambda: shadow.count(oid))

    def not_processed(self) -> int:
        """How many commits of HEAD have no row yet."""
        if self.snapshot is not None or self._shadow is None or self.head.oid is None:
            return 0
        stored = GitCommit.objects.filter(scope_id=self.scope_id).count()
        if not stored:
            return self.reachable_count()
        reached = self._reached
        rows = GitCommit.objects.filter(scope_id=self.scope_id).values_list("oid", flat=True)
        return len(reached) - sum(oid in reached for oid in rows.iterator())

    def document_count(self) -> int:
        """How many tracked documents of HEAD the policy and its ignore file let be read."""

        def count() -> int:
            return sum(
                is_document(path)
                and entry.mode & FILE_TYPE == REGULAR_FILE
                and self.eligibility.left_out(path) is None
                for path, entry in self.tree.items()
            )

        version = f"{self.head.oid} {self.policy.generation}"
        return once_per_head("documents", self.scope_id, version, count)

    @cached_property
    def _reached(self) -> frozenset[str]:
        if self._shadow is None or self.head.oid is None:
            return frozenset()
        shadow, oid = self._shadow, self.head.oid
        return once_per_head(
            "reached", self.scope_id, oid, lambda: frozenset(shadow.reachable(oid))
        )

    def is_reachable(self, commit_id: int) -> bool:
        return commit_id not in self._unreachable

    def blob(self, oid: str | None) -> bytes | Gap | None:
        """A blob as Git has it, re-hashed; a gap says why not; None without an id."""
        if oid is None or self._reader is None:
            return None
        return self._reader.read(oid, "blob", self.policy.max_blob_bytes)

    def prefetch(self, oids: Iterable[str | None]) -> None:
        """Read several blobs in one exchange with Git."""
        if self._reader is not None:
            self._reader.prefetch([oid for oid in oids if oid], "blob", self.policy.max_blob_bytes)

    def content(self, oid: str | None) -> bytes | None:
        found = self.blob(oid)
        return found if isinstance(found, bytes) else None

    def cut(self, oid: str, start: int, end: int) -> tuple[bytes, tuple[Redaction, ...]] | Gap:
        """Bytes [start, end) of a blob, redacted: secrets are found in the whole, then cut."""
        found = self.blob(oid)
        if found is None:
            return Gap(GapReason.MISSING_OBJECT, oid=oid)
        if isinstance(found, Gap):
            return found
        if oid not in self._spans:
            self._spans[oid] = spans_of(found)
        return redact(found, self._spans[oid], self.policy.redaction_key, start, end)

    def has_folder(self, path: bytes) -> bool:
        """Whether HEAD has anything below this path."""
        below = path.rstrip(b"/") + b"/"
        return self.is_readable and any(name.startswith(below) for name in self.tree)

    def paths_of(self, oid: str | None) -> Sequence[bytes]:
        """The paths at which HEAD has this blob."""
        return self._paths_by_oid.get(oid, ()) if oid else ()

    @cached_property
    def _paths_by_oid(self) -> dict[str, list[bytes]]:
        def make() -> dict[str, list[bytes]]:
            found: dict[str, list[bytes]] = {}
            for path, entry in self.tree.items():
                found.setdefault(entry.oid, []).append(path)
            return found

        return once_per_head("oids", self.scope_id, self.head.oid or "", make)

    def current(self, path: bytes) -> CurrentFile | None:
        """The tracked file at a path: the bytes on disk, or HEAD's where they cannot be read."""
        if path not in self._current:
            self._current[path] = self._read_current(path)
        return self._current[path]

    def _read_current(self, path: bytes) -> CurrentFile | None:
        entry = self.tree.get(path)
        if entry is None:
            return None
        if entry.mode & FILE_TYPE != REGULAR_FILE:
            return CurrentFile(path, None, entry.oid, Source.HEAD)
        if self.policy.classify(path)[0] in UNREAD_CLASSES:
            return CurrentFile(path, None, entry.oid, Source.HEAD)
        name = entry.hidden or path
        content = read_worktree_file(self.root, name, self.policy.max_blob_bytes)
        if content is None:
            return None  # deleted on disk, and not committed yet
        if isinstance(content, Gap):
            return CurrentFile(path, self.content(entry.oid), entry.oid, Source.HEAD)
        oid = self._blob_oid(content)
        return CurrentFile(path, content, oid, Source.WORKTREE, is_dirty=oid != entry.oid)

    def _blob_oid(self, content: bytes) -> str:
        return hashlib.new(self.object_format, b"blob %d\0" % len(content) + content).hexdigest()

    # The World of the verdict rules

    @cached_property
    def _path_history(self) -> PathHistory:
        def make() -> PathHistory:
            rows = FileChange.objects.filter(scope_id=self.scope_id).order_by("commit_id")
            renamed = rows.filter(kind="R")
            moves = [
                (commit, bytes(old), bytes(new))
                for commit, old, new in renamed.values_list(
                    "commit_id", "old_path__raw", "new_path__raw"
                )
            ]
            # What a merge shows as added is old on one of its sides.
            added = rows.filter(
                kind="A",
                new_path_id__in=renamed.values("old_path_id"),
                commit__parent_oids__len__lte=1,
            )
            pairs = added.values_list("commit_id", "new_path__raw")
            additions = [(commit, bytes(path)) for commit, path in pairs]
            return PathHistory(moves, additions, self.tree.__contains__)

        # Taken from rows: kept only once this HEAD is collected, and for that collection.
        if self.snapshot is None:
            return make()
        version = f"{self.head.oid} {self.snapshot.pk} {self.snapshot.captured_at}"
        return once_per_head("paths", self.scope_id, version, make)

    def followed_paths(self, path: bytes, case: HunkCase) -> tuple[bytes, ...]:
        return self._path_history.follow(path, case.ordinal)

    @cached_property
    def _line_index(self) -> LineIndex:
        make = lambda: LineIndex(self._texts())  # noqa: E731
        version = f"{self.head.oid} {self.policy.generation}"
        return once_per_head("lines", self.scope_id, version, make)

    def _texts(self) -> Iterator[tuple[bytes, bytes]]:
        left = INDEX_BYTES
        for path, entry in self.tree.items():
            size = entry.size or 0
            is_file = entry.mode & FILE_TYPE == REGULAR_FILE and size <= left
            if not is_file or self.policy.classify(path)[0] is not PathClass.NORMAL:
                continue
            content = self.content(entry.oid)
            if content is not None:
                left -= size
                yield path, content

    def where(self, line_hash: int) -> Places:
        return self._line_index.where(line_hash)

    def content_before(self, path: bytes, case: HunkCase) -> bytes | None:
        name = self._path_history.before(path, case.ordinal)
        with connection.cursor() as cursor:
            digest = hashlib.sha256(name).digest()
            cursor.execute(_CONTENT_BEFORE, [self.scope_id, digest, case.ordinal])
            row = cursor.fetchone()
        return self.content(row[0]) if row else None

    def twin(self, case: HunkCase) -> HunkCase | None:
        """The same blobs in a reachable commit, the nearest one."""
        rows = (
            FileChange.objects.filter(scope_id=self.scope_id)
            .filter(content_change__old_oid=case.old_oid, content_change__new_oid=case.new_oid)
            .values_list("commit_id", "commit__oid", "old_path__raw", "new_path__raw")
        )
        reachable = [row for row in rows if self.is_reachable(row[0])]
        if not reachable:
            return None
        ordinal, oid, old, new = min(reachable, key=lambda row: abs(row[0] - case.ordinal))
        return HunkCase(
            commit_oid=oid,
            ordinal=ordinal,
            old_path=bytes(old) if old is not None else None,
            new_path=bytes(new) if new is not None else None,
            old_oid=case.old_oid,
            new_oid=case.new_oid,
            old_content=case.old_content,
            new_content=case.new_content,
            hunk=case.hunk,
            path_class=case.path_class,
        )

    def expect_inverses(self, cases: Iterable[HunkCase]) -> None:
        """`inverse` may be asked of these cases: they are looked up together."""
        self._inverses.expect(cases)

    def inverse(self, case: HunkCase) -> Inverse | None:
        return self._inverses.of(case)

    def _names_of(self, case: HunkCase) -> Iterator[bytes]:
        if case.new_path is not None:
            yield case.new_path
            yield from self.followed_paths(case.new_path, case)

    def changed_symbols(self, case: HunkCase) -> Sequence[ChangedSymbol]:
        return changed_symbols(self.scope_id, case)

    def symbols_now(self, path: bytes) -> Sequence[CurrentSymbol] | None:
        current = self.current(path)
        if current is None or current.content is None or self._symbols is None:
            return None
        return self._symbols.of(path, current.content)
