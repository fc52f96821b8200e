"""Reads a tree's `.codememoryignore`: globs of the project's own, in the manner of `.gitignore`.

The file is the project's text and untrusted: it yields to the owner's policy, and nothing in it
brings back a PROTECTED path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pathspec import GitIgnoreSpec

from collectors.git import TreeEntry
from collectors.objects import ObjectReader
from collectors.policy import Policy
from collectors.values import Gap, GapReason

IGNORE_FILE = b".codememoryignore"
MAX_BYTES = 64 * 1024
MAX_GLOBS = 1_000
# Each run of stars multiplies the time that a hostile path takes to match.
MAX_STARS = 3
_STARS = re.compile(r"\*+")
REGULAR_FILE, FILE_TYPE = 0o100000, 0o170000


@dataclass(frozen=True, slots=True)
class Ignores:
    """The globs of a tree's ignore file, its object id (empty: none), and what it leaves open."""

    globs: tuple[str, ...] = ()
    oid: str = ""
    gap: Gap | None = None

    def applied_to(self, policy: Policy) -> Policy:
        """The policy with these globs before its own, which therefore decide."""
        return replace(policy, exclude=(*self.globs, *policy.exclude)) if self.globs else policy


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
