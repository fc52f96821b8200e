"""Which documents of a tree are read: by the policy, and by the tree's `.codememoryignore`.

That file, in the manner of `.gitignore`, is the project's text and untrusted: it yields to the
owner's globs, and nothing in it brings back a PROTECTED path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pathspec import GitIgnoreSpec

from collectors.git import TreeEntry
from collectors.objects import ObjectReader
from collectors.policy import Policy
from collectors.redact import redact_path
from collectors.trees import MAX_COMMIT_BYTES, TreeWalker, tree_of
from collectors.values import Gap, GapReason, PathClass

IGNORE_FILE = b".codememoryignore"
MAX_BYTES = 64 * 1024
MAX_GLOBS = 1_000
NOT_INCLUDED = "not included"  # what a policy answers for a path that its `include` leaves out
# Each run of stars multiplies the time that a hostile path takes to match.
MAX_STARS = 3
_STARS = re.compile(r"\*+")
REGULAR_FILE, FILE_TYPE = 0o100000, 0o170000
# Documents of these are not the project's own words, or nobody's to read.
UNREAD_DOCUMENTS = {
    PathClass.PROTECTED: GapReason.PROTECTED,
    PathClass.EXCLUDED: GapReason.EXCLUDED,
    PathClass.VENDORED: GapReason.EXCLUDED,
}


@dataclass(frozen=True, slots=True)
class Ignores:
    """The globs of a tree's ignore file, its object id (empty: none), and what it leaves open."""

    globs: tuple[str, ...] = ()
    oid: str = ""
    gap: Gap | None = None


class Eligibility:
    """Decides which documents are read, by the policy and the globs of the tree's ignore file."""

    def __init__(self, policy: Policy, ignores: Ignores) -> None:
        self.policy, self.ignores = policy, ignores
        self._tree = Policy(exclude=ignores.globs, redaction_key=b"")

    def left_out(self, path: bytes) -> tuple[GapReason, str] | None:
        """Why a document at this path is not read, with the deciding pattern; None if it is."""
        path_class, pattern = self.policy.classify(path)
        is_owners = pattern in self.policy.exclude or pattern == NOT_INCLUDED
        if not is_owners:
            path_class, pattern = self._tree.classify(path)
        reason = UNREAD_DOCUMENTS.get(path_class)
        if reason is None:
            return None
        # A pattern out of the tree is its text, and may hold a secret.
        return reason, redact_path(pattern.encode(), self.policy.redaction_key).decode()


def with_ignores(policy: Policy, ignores: Ignores) -> Policy:
    """A policy for the history: what the ignore file leaves out is EXCLUDED there as well.

    The owner's own globs come last and decide.
    """
    return replace(policy, exclude=(*ignores.globs, *policy.exclude)) if ignores.globs else policy


def ignores_of(commit: str, reader: ObjectReader) -> Ignores:
    """The ignore file at the root of a commit's tree."""
    content = reader.read(commit, "commit", MAX_COMMIT_BYTES)
    root = content if isinstance(content, Gap) else tree_of(content, reader.id_bytes)
    if isinstance(root, Gap):
        return Ignores()
    entry = TreeWalker(reader).child(root, IGNORE_FILE)
    if entry is None:
        return Ignores()
    return read_ignores([TreeEntry(IGNORE_FILE, entry.mode, "blob", entry.oid, None)], reader)


def read_ignores(entries: Iterable[TreeEntry], reader: ObjectReader) -> Ignores:
    """Read the ignore file at the root of a tree; a line that is no glob is left out, and said."""
    entry = next((entry for entry in entries if entry.path == IGNORE_FILE), None)
    if entry is None:
        return Ignores()
    if entry.mode & FILE_TYPE != REGULAR_FILE:
        return Ignores((), entry.oid, Gap(GapReason.NOT_REGULAR, entry.path, entry.oid))
    content = reader.read(entry.oid, "blob", MAX_BYTES)
    if isinstance(content, Gap):
        gap = Gap(content.reason, entry.path, entry.oid, detail=content.detail)
        return Ignores((), entry.oid, gap)
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        detail = f"at byte {error.start}"
        gap = Gap(GapReason.UNSUPPORTED_ENCODING, entry.path, entry.oid, detail=detail)
        return Ignores((), entry.oid, gap)
    return _parsed(lines, entry)


def _parsed(lines: list[str], entry: TreeEntry) -> Ignores:
    globs: list[str] = []
    bad: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if len(globs) == MAX_GLOBS:
            cut = Gap(GapReason.BUDGET, entry.path, entry.oid, detail=f"from line {number}")
            return Ignores(tuple(globs), entry.oid, cut)
        if _is_glob(line):
            globs.append(line)
        else:
            bad.append(number)
    detail = "lines " + ", ".join(map(str, bad[:20]))
    gap = Gap(GapReason.PARSE_ERROR, entry.path, entry.oid, detail=detail) if bad else None
    return Ignores(tuple(globs), entry.oid, gap)


def _is_glob(line: str) -> bool:
    if any(len(_STARS.findall(part)) > MAX_STARS for part in line.split("/")):
        return False
    if line.split("/").count("**") > MAX_STARS:
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
