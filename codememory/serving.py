"""What may be shown of what is stored: the newest policy decides when it is asked, not when stored.

An excluded path's evidence stays where it is and answers as if it were absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codememory.checkout import UNREAD_CLASSES, Checkout
from codememory.models import (
    EvidenceLink,
    EvidenceSegment,
    FileChange,
    SourceKind,
    SourceRevision,
)
from collectors.ignoring import UNREAD_DOCUMENTS


def is_archived(checkout: Checkout, source: str) -> bool:
    return source in checkout.archived


def serves_change(checkout: Checkout, row: FileChange) -> bool:
    """Whether content of a file change may be shown; one that was never read has none."""
    if is_archived(checkout, SourceKind.GIT):
        return False
    paths = (row.old_path, row.new_path)
    classes = [checkout.policy.classify(bytes(path.raw))[0] for path in paths if path]
    return not any(path_class in UNREAD_CLASSES for path_class in classes)


def serves_path(checkout: Checkout, raw: bytes) -> bool:
    """Whether a path may be named beside content of another one."""
    return checkout.policy.classify(raw)[0] not in UNREAD_CLASSES


def served_rows(checkout: Checkout, rows: Iterable[FileChange]) -> list[FileChange]:
    """Leave out file changes whose content was read and is not shown any more.

    Those that were never read stay: they are paths and nothing else.
    """
    if is_archived(checkout, SourceKind.GIT):
        return []
    return [r for r in rows if r.path_class in UNREAD_CLASSES or serves_change(checkout, r)]


def serves_revision(checkout: Checkout, revision: SourceRevision) -> bool:
    """Whether a document may be shown. Its path must be loaded."""
    if is_archived(checkout, revision.kind):
        return False
    if revision.size > checkout.policy.max_document_bytes:
        return False
    path = bytes(revision.path.raw)
    if checkout.policy.classify(path)[0] not in UNREAD_DOCUMENTS:
        # A tree's own ignore file keeps documents from being read. It hides nothing that is stored:
        # whoever can commit to it could hide a reviewed rule.
        return True
    return checkout.eligibility.left_out(path) is None


def serves_segment(checkout: Checkout, segment: EvidenceSegment) -> bool:
    return serves_revision(checkout, segment.revision)


def serves_links(checkout: Checkout, links: Sequence[EvidenceLink]) -> bool:
    """Whether a claim may be shown: its words are those of its evidence, all of which must be."""
    return all(serves_segment(checkout, link.segment) for link in links)
