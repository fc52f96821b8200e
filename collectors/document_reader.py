"""Reads documents in the pool of killable parsers: one that hangs or crashes becomes a gap.

What stands below `DocumentReader` runs in the pool's worker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from collectors.documents import is_instruction_file, read_document
from collectors.parse_pool import Crashed, Deadline, ParsePool
from collectors.policy import Policy
from collectors.replaced import plain_text, sentence_keys
from collectors.sections import OwnSection, is_comparable, own_sections
from collectors.statements import find_statements
from collectors.values import Document, Gap, GapReason, Statement

DOCUMENT_SECONDS = 2.0  # of processor time


@dataclass(frozen=True, slots=True)
class Reading:
    """A document with what was asked for; `sections` is None where they cannot be compared."""

    document: Document
    statements: tuple[Statement, ...] = ()
    sections: tuple[OwnSection, ...] | None = None
    text: str = ""
    keys: frozenset[int] = frozenset()


class DocumentReader:
    """Reads documents under one policy, with the pool that it is given."""

    def __init__(self, pool: ParsePool, policy: Policy) -> None:
        self._pool = pool
        self._policy = replace(policy)  # without the paths that it has classified: it is sent

    def with_statements(self, path: bytes, oid: str, content: bytes) -> Reading:
        """The document and the statements found in it."""
        return self._read("read_statements", path, oid, content)

    def with_sections(self, path: bytes, oid: str, content: bytes) -> Reading:
        """The document, its sections to be compared, and its prose."""
        return self._read("read_sections", path, oid, content)

    def with_keys(self, path: bytes, oid: str, content: bytes) -> Reading:
        """The document and the keys of its sentences."""
        return self._read("read_keys", path, oid, content)

    def _read(self, name: str, path: bytes, oid: str, content: bytes) -> Reading:
        found: Any = self._pool.submit(
            f"{__name__}:{name}", content, DOCUMENT_SECONDS, path, oid, self._policy
        )
        if isinstance(found, Reading):
            return found
        gap = Gap(GapReason.PARSE_ERROR, path, oid)
        if isinstance(found, Deadline):
            gap = Gap(GapReason.DEADLINE, path, oid, detail=f"{found.seconds:g} s")
        elif isinstance(found, Crashed):
            gap = Gap(GapReason.PARSER_LIMIT, path, oid, detail=found.detail)
        return Reading(_unread(path, oid, content, gap))


def _unread(path: bytes, oid: str, content: bytes, gap: Gap) -> Document:
    return Document(
        path=path,
        oid=oid,
        size=len(content),
        sha256=sha256(content).digest(),
        encoding="",
        is_instruction_file=is_instruction_file(path),
        gaps=(gap,),
    )


def read_statements(content: bytes, path: bytes, oid: str, policy: Policy) -> Reading:
    document = read_document(path, oid, content, policy)
    return Reading(document, statements=tuple(find_statements(document)))


def read_sections(content: bytes, path: bytes, oid: str, policy: Policy) -> Reading:
    document = read_document(path, oid, content, policy)
    if not is_comparable(document):
        return Reading(document)
    sections = tuple(own_sections(document, content))
    return Reading(document, sections=sections, text=plain_text(document))


def read_keys(content: bytes, path: bytes, oid: str, policy: Policy) -> Reading:
    document = read_document(path, oid, content, policy)
    return Reading(document, keys=frozenset(sentence_keys(document)))
