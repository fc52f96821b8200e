"""What another policy would newly read, no longer read, and no longer serve: to the path.

Asked of HEAD's tracked files and of every path that is stored, of each source by itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from django.conf import settings
from django.db import connection

from codememory.errors import RefusedProjectError
from codememory.models import (
    Candidate,
    EvidenceSegment,
    Memory,
    MemoryState,
    Path,
    Project,
    SourceKind,
)
from codememory.paths import path_digest, shown_path
from codememory.policies import as_policy, newest_policy, values_of
from codememory.policy_keys import ARCHIVED, ENABLED, Values, difference, difference_lines
from codememory.projects import open_root
from codememory.terminal import count_of, wrap
from collectors.documents import is_document
from collectors.git import Shadow, TreeEntry
from collectors.ignoring import Eligibility, Ignores, read_ignores
from collectors.policy import Policy
from collectors.values import PathClass

INCLUDED, EXCLUDED, DROPPED = EFFECTS = ("included", "excluded", "dropped")
MEANINGS = {
    INCLUDED: "newly read",
    EXCLUDED: "no longer read",
    DROPPED: "no longer served, though something of it is stored",
}
EXAMPLES = 3
UNREAD = (PathClass.EXCLUDED, PathClass.PROTECTED)
FILE_TYPE, REGULAR_FILE = 0o170000, 0o100000
OVERSIZE = "larger than the limit"

# Paths of which content is stored: of files' changes, and of documents.
_STORED_GIT = """
    SELECT DISTINCT path FROM (
        SELECT new_path_id AS path FROM codememory_filechange
        WHERE scope_id = %(scope)s AND content_change_id IS NOT NULL
        UNION SELECT old_path_id FROM codememory_filechange
        WHERE scope_id = %(scope)s AND content_change_id IS NOT NULL) AS paths
    WHERE path IS NOT NULL
"""
_STORED_DOCUMENTS = """
    SELECT DISTINCT path_id FROM codememory_sourcerevision
    WHERE scope_id = %(scope)s AND kind = 'documents'
"""
_STORED = {SourceKind.GIT.value: _STORED_GIT, SourceKind.DOCUMENTS.value: _STORED_DOCUMENTS}


@dataclass(frozen=True, slots=True)
class Effect:
    """What becomes of one path in one source, and the rule that decides it."""

    effect: str
    source: str
    path: bytes
    rule: str

    def as_json(self) -> dict[str, str | None]:
        return {
            "effect": self.effect,
            "source": self.source,
            "path": shown_path(self.path),
            "rule": self.rule,
        }


@dataclass(slots=True)
class RuleEffect:
    """The paths that one rule decides about, counted, with three of them."""

    effect: str
    source: str
    rule: str
    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PolicyPreview:
    """A difference of policies, and what it does; `claims` counts what would not be served."""

    generation: int
    difference: dict[str, dict[str, Any]]
    effects: list[Effect]
    claims: dict[str, int]
    unreadable: str | None  # why HEAD's files are not among the paths

    def counts(self) -> dict[str, int]:
        """How many paths have each effect, whatever the source."""
        paths = {effect: {e.path for e in self.effects if e.effect == effect} for effect in EFFECTS}
        return {effect: len(found) for effect, found in paths.items()}

    def rules(self) -> list[RuleEffect]:
        """The effects by rule, the most frequent first."""
        found: dict[tuple[str, str, str], RuleEffect] = {}
        for e in self.effects:
            row = found.setdefault(
                (e.effect, e.source, e.rule), RuleEffect(e.effect, e.source, e.rule)
            )
            row.count += 1
            if len(row.examples) < EXAMPLES:
                row.examples.append(shown_path(e.path) or "")
        return sorted(found.values(), key=lambda r: (EFFECTS.index(r.effect), -r.count, r.rule))

    def as_json(self, *, has_all: bool) -> dict[str, Any]:
        rows = [
            {
                "effect": rule.effect,
                "source": rule.source,
                "rule": rule.rule,
                "count": rule.count,
                "examples": rule.examples,
            }
            for rule in self.rules()
        ]
        found: dict[str, Any] = {
            "generation": self.generation,
            "difference": self.difference,
            "counts": self.counts(),
            "no_longer_served": self.claims,
            "rules": rows,
            "unreadable": self.unreadable,
        }
        if has_all:
            found["paths"] = [effect.as_json() for effect in self.effects]
        return found


class _Side:
    """One of the two policies, asked about paths."""

    def __init__(self, values: Values, generation: int, ignores: Ignores) -> None:
        self.states: Mapping[str, str] = values["sources"]
        self.policy: Policy = as_policy(values, generation)
        self.eligibility = Eligibility(self.policy, ignores)

    def why_not(self, source: str, path: bytes, size: int | None) -> str | None:
        """The rule that keeps a path from being read in a source; None where it may be read."""
        if source == SourceKind.DOCUMENTS:
            left_out = self.eligibility.left_out(path)
            if left_out is not None:
                return left_out[1]
            limit = self.policy.max_document_bytes
        else:
            path_class, pattern = self.policy.classify(path)
            if path_class in UNREAD:
                return pattern
            limit = self.policy.max_blob_bytes
        return OVERSIZE if size is not None and size > limit else None

    def rule_of(self, path: bytes) -> str:
        """The rule by which a path is read."""
        pattern = self.policy.classify(path)[1]
        return pattern or ("included" if self.policy.include else "no rule leaves it out")


def preview_policy(project: Project, values: Values) -> PolicyPreview:
    """Compare the newest policy with other values. Reads HEAD's tree, writes nothing."""
    current = newest_policy(project)
    old = values_of(current)
    found = _Tree(project)
    before = _Side(old, current.generation, found.ignores)
    after = _Side(values, current.generation + 1, found.ignores)
    effects = sorted(
        _effects(found, before, after), key=lambda e: (EFFECTS.index(e.effect), e.path, e.source)
    )
    return PolicyPreview(
        current.generation,
        difference(old, values),
        effects,
        _claims(project.scope_id, effects),
        found.unreadable,
    )


class _Tree:
    """The paths of a project: HEAD's regular files with their sizes, and what is stored."""

    def __init__(self, project: Project) -> None:
        self.scope_id = project.scope_id
        self.sizes: dict[bytes, int | None] = {}
        self.ignores = Ignores()
        self.unreadable: str | None = None
        try:
            repository = open_root(FilePath(project.root))
        except RefusedProjectError as error:
            self.unreadable = str(error)
            return
        with (
            tempfile.TemporaryDirectory(prefix="codememory-") as scratch,
            Shadow(repository, FilePath(scratch), settings.CODEMEMORY_REDACTION_KEY) as shadow,
            shadow.objects() as reader,
        ):
            head = shadow.head().oid
            tree: list[TreeEntry] = list(shadow.tree(head)) if head else []
            self.ignores = read_ignores(tree, reader)
        self.sizes = {e.path: e.size for e in tree if e.mode & FILE_TYPE == REGULAR_FILE}

    @cached_property
    def stored(self) -> dict[str, frozenset[bytes]]:
        """By source the paths of which content is stored."""
        rows = Path.objects.filter(scope_id=self.scope_id).values_list("pk", "raw")
        paths = {pk: bytes(raw) for pk, raw in rows.iterator()}
        found = {}
        for source, query in _STORED.items():
            with connection.cursor() as cursor:
                cursor.execute(query, {"scope": self.scope_id})
                found[source] = frozenset(paths[pk] for (pk,) in cursor.fetchall())
        return found

    def paths(self, source: str) -> Iterator[tuple[bytes, int | None]]:
        """The paths that a source is about, with their size in HEAD (None: not there)."""
        for path in sorted(self.sizes.keys() | self.stored[source]):
            if source != SourceKind.DOCUMENTS or is_document(path):
                yield path, self.sizes.get(path)


def _effects(found: _Tree, before: _Side, after: _Side) -> Iterator[Effect]:
    for source in _STORED:
        was, becomes = before.states[source], after.states[source]
        for path, size in found.paths(source):
            old, new = before.why_not(source, path, size), after.why_not(source, path, size)
            is_read = path in found.sizes
            read_before, read_after = (was == ENABLED and not old), (becomes == ENABLED and not new)
            why = new or f"{source} {becomes}"
            if is_read and read_after and not read_before:
                rule = after.rule_of(path) if old else f"{source} enabled"
                yield Effect(INCLUDED, source, path, rule)
            if is_read and read_before and not read_after:
                yield Effect(EXCLUDED, source, path, why)
            served_before, served_after = (
                was != ARCHIVED and not old,
                becomes != ARCHIVED and not new,
            )
            if served_before and not served_after and path in found.stored[source]:
                yield Effect(DROPPED, source, path, why)


def _claims(scope_id: int, effects: Iterable[Effect]) -> dict[str, int]:
    """Count segments, candidates and active memories whose document would not be served."""
    dropped = (e for e in effects if e.effect == DROPPED and e.source == SourceKind.DOCUMENTS)
    digests = [path_digest(effect.path) for effect in dropped]
    paths = Path.objects.filter(scope_id=scope_id, digest__in=digests)
    of_paths = {"revision__path_id__in": paths.values("pk")}
    segments = EvidenceSegment.objects.filter(scope_id=scope_id, **of_paths)
    cited = {"scope_id": scope_id, "evidence_links__segment_id__in": segments.values("pk")}
    memories = Memory.objects.filter(state=MemoryState.ACTIVE, **cited)
    return {
        "segments": segments.count(),
        "candidates": Candidate.objects.filter(**cited).distinct().count(),
        "memories": memories.distinct().count(),
    }


def policy_preview_lines(preview: PolicyPreview, *, has_all: bool) -> list[str]:
    """The preview for people."""
    if not preview.difference:
        return [f"Nothing would change: that is generation {preview.generation}."]
    lines = [f"Against generation {preview.generation}:"]
    lines += [f"  {line}" for line in difference_lines(preview.difference)]
    if preview.unreadable:
        lines += [
            "",
            f"HEAD cannot be read, so only stored paths are counted: {preview.unreadable}",
        ]
    counts = preview.counts()
    for effect in EFFECTS:
        if not counts[effect]:
            continue
        lines += ["", f"{count_of(counts[effect], 'path')} {MEANINGS[effect]}"]
        if has_all:
            lines += [
                f"  {shown_path(e.path)}  ({e.source}; {e.rule})"
                for e in preview.effects
                if e.effect == effect
            ]
            continue
        for rule in preview.rules():
            if rule.effect == effect:
                more = ", …" if rule.count > EXAMPLES else ""
                lines.append(f"{rule.count:>9,}  {rule.rule} ({rule.source})")
                lines += wrap(", ".join(rule.examples) + more, " " * 13)
    if not any(counts.values()):
        lines += ["", "No path is read or served otherwise than now."]
    if any(preview.claims.values()):
        kinds = [count_of(preview.claims[n], n[:-1], n) for n in ("segments", "candidates")]
        kinds.append(count_of(preview.claims["memories"], "memory", "memories"))
        lines += ["", f"With them {', '.join(kinds)} would not be served; all of it is kept."]
    return lines
