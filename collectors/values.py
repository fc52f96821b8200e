"""Frozen values that collectors yield and `codememory.ingest` writes as rows.

Bytes stay bytes here: decoding is a later, recorded step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class GapReason(StrEnum):
    """Why something was not read: a closed list, grown only by a decision record."""

    OVERSIZE = "OVERSIZE"
    BINARY = "BINARY"
    EXCLUDED = "EXCLUDED"
    PROTECTED = "PROTECTED"
    MISSING_OBJECT = "MISSING_OBJECT"
    OBJECT_CORRUPT = "OBJECT_CORRUPT"
    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    UNSUPPORTED_ENCODING = "UNSUPPORTED_ENCODING"
    UNSAFE_PATH = "UNSAFE_PATH"
    INVALID_TREE = "INVALID_TREE"
    SYMLINK_NOT_FOLLOWED = "SYMLINK_NOT_FOLLOWED"
    SUBMODULE_NOT_READ = "SUBMODULE_NOT_READ"
    NOT_REGULAR = "NOT_REGULAR"
    ALTERNATE_NOT_ALLOWED = "ALTERNATE_NOT_ALLOWED"
    GITDIR_OUTSIDE_PROJECT = "GITDIR_OUTSIDE_PROJECT"
    SHALLOW_BOUNDARY = "SHALLOW_BOUNDARY"
    UNBORN_HEAD = "UNBORN_HEAD"
    RENAME_LIMIT = "RENAME_LIMIT"
    PARSER_LIMIT = "PARSER_LIMIT"
    PARSE_ERROR = "PARSE_ERROR"
    NO_GRAMMAR = "NO_GRAMMAR"
    BUDGET = "BUDGET"
    DEADLINE = "DEADLINE"
    CHANGED_DURING_READ = "CHANGED_DURING_READ"
    NORMALISATION_UNKNOWN = "NORMALISATION_UNKNOWN"
    REDACTION_FAILED = "REDACTION_FAILED"


class PathClass(StrEnum):
    """What a path alone says of a file; EXCLUDED and PROTECTED content is never read."""

    NORMAL = "NORMAL"
    GENERATED = "GENERATED"
    LOCKFILE = "LOCKFILE"
    VENDORED = "VENDORED"
    EXCLUDED = "EXCLUDED"
    PROTECTED = "PROTECTED"


class ContentClass(StrEnum):
    """What the two sides of a content change say of it."""

    TEXT = "TEXT"
    BINARY = "BINARY"
    FORMATTING_ONLY = "FORMATTING_ONLY"  # equal once all whitespace is dropped
    LINE_ENDINGS_ONLY = "LINE_ENDINGS_ONLY"
    MODE_ONLY = "MODE_ONLY"
    SUBMODULE = "SUBMODULE"
    SYMLINK = "SYMLINK"
    OVERSIZE = "OVERSIZE"
    UNREAD = "UNREAD"  # a side is missing or corrupt; the gap says which


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that exists and was not read. `detail` holds ids and numbers, never content."""

    reason: GapReason
    path: bytes | None = None
    oid: str | None = None
    commit_oid: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Redaction:
    """A secret that was cut out: its kind and its byte range in the original."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Signature:
    """Attributed author or committer: bounded bytes, seconds since the epoch, offset in minutes."""

    name: bytes
    email: bytes
    time: int
    offset: int


@dataclass(frozen=True, slots=True)
class Commit:
    oid: str
    tree_oid: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: bytes  # redacted, bounded
    message_truncated: bool = False


@dataclass(frozen=True, slots=True)
class RawChange:
    """One row of git's raw difference of a commit against one of its parents."""

    commit_oid: str
    parent_index: int  # -1: a root, against the empty tree
    kind: str  # A M D R C T
    old_mode: int
    new_mode: int
    old_oid: str | None  # None: no such side
    new_oid: str | None
    old_path: bytes | None
    new_path: bytes | None
    similarity: int | None = None  # percent, for R and C


@dataclass(frozen=True, slots=True)
class Hunk:
    """One differing region: 1-based first line and line count, byte range [start, end), each side.

    A side with no lines has count 0 and an empty byte range at the place where the lines would be.
    `old_sha256` and `new_sha256` are digests (32 bytes) of the original bytes of each range.
    """

    old_line: int
    old_lines: int
    new_line: int
    new_lines: int
    old_start: int
    old_end: int
    new_start: int
    new_end: int
    old_sha256: bytes
    new_sha256: bytes


@dataclass(frozen=True, slots=True)
class ContentChange:
    """What turned one blob into another; independent of the commits and paths that show it."""

    old_oid: str | None
    new_oid: str | None
    content_class: ContentClass
    old_size: int | None = None
    new_size: int | None = None
    hunks: tuple[Hunk, ...] = ()
    added_lines: int = 0
    removed_lines: int = 0
    hunks_cut: int = 0  # hunks left out by the patch limit; the gap BUDGET says so too
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """An exact range of a revision: bytes [start, end), 1-based lines [first, last].

    `content` is verbatim but for redactions, whose ranges are relative to the revision;
    `sha256` is over the original bytes of the range.
    """

    kind: str  # paragraph, list, fence, table, html, heading, front_matter, quote, rule
    start: int
    end: int
    first_line: int
    last_line: int
    sha256: bytes
    content: bytes
    heading_path: tuple[str, ...] = ()
    is_truncated: bool = False
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with everything up to the next heading of its level or above."""

    heading: str
    level: int  # 0: before the first heading
    heading_path: tuple[str, ...]
    ordinal: int  # nth section of this very heading path, from 0
    start: int
    end: int
    first_line: int
    last_line: int
    sha256: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown document of a tree, with its structure in the ranges of its original bytes."""

    path: bytes
    oid: str
    size: int
    sha256: bytes
    encoding: str
    is_instruction_file: bool = False
    sections: tuple[Section, ...] = ()
    segments: tuple[Segment, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A candidate's ground: one sentence of a segment, how it was said, and by which rule."""

    text: str
    type: str  # requirement, decision, convention ...
    modality: str  # REQUIREMENT, DECISION, CONVENTION, PROPOSAL, PLAN ...
    rule: str
    start: int  # byte range in the revision
    end: int
    subject: str = ""
    flags: tuple[str, ...] = field(default=())
