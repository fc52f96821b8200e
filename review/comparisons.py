"""The older evidence beside the newer: what a candidate's words took the place of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codememory.models import Candidate, EvidenceLink, EvidenceSegment, Project
from codememory.paths import shown_path
from review.differences import DiffRow, side_by_side
from review.explorer.hunk_rows import unified
from review.highlighting import Span, with_spans
from review.references import Piece, piece_of
from review.rivals import Rival


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two segments side by side; the older one is a full piece of evidence itself."""

    old: Piece
    new: Piece
    rows: list[DiffRow]
    commit: str | None  # in which the old words were replaced, where that is known

    @property
    def unified(self) -> list[DiffRow]:
        """The same rows one below the other."""
        return unified(self.rows)

    @property
    def redactions(self) -> list[object]:
        """Those of both sides: marks of them are boxed."""
        return [*self.old.link.segment.redactions, *self.new.link.segment.redactions]

    @property
    def is_same_path(self) -> bool:
        return self.old.path == self.new.path


def comparison_of(
    project: Project, candidate: Candidate, pieces: Sequence[Piece], rivals: Sequence[Rival]
) -> Comparison | None:
    """Return the older text beside the newer one; None where nothing is known to be replaced."""
    if not pieces:
        return None
    link, commit = _replaced(candidate), candidate.replaced_in_commit
    if link is None:
        link, commit = _cited_by(rivals), None
    if link is None:
        return None
    old = piece_of(project, link)
    new = next((piece for piece in pieces if _is_same_place(piece, link)), pieces[0])
    rows = side_by_side(_numbered(old), _numbered(new))
    rows = with_spans(rows, _spans(old), _spans(new))
    return Comparison(old, new, rows, commit)


def _replaced(candidate: Candidate) -> EvidenceLink | None:
    """The segment that the candidate is known to replace, as something to be shown whole."""
    if candidate.replaces_id is None:
        return None
    segment = (
        EvidenceSegment.objects.filter(scope_id=candidate.scope_id, pk=candidate.replaces_id)
        .select_related("revision__path")
        .get()
    )
    return EvidenceLink(segment=segment, byte_start=segment.byte_start, byte_end=segment.byte_end)


def _cited_by(rivals: Sequence[Rival]) -> EvidenceLink | None:
    replaced = next((rival.memory for rival in rivals if rival.is_replaced), None)
    if replaced is None:
        return None
    links = EvidenceLink.objects.filter(scope_id=replaced.scope_id, memory=replaced)
    return links.select_related("segment__revision__path").order_by("pk").first()


def _is_same_place(piece: Piece, link: EvidenceLink) -> bool:
    return piece.path == (shown_path(bytes(link.segment.revision.path.raw)) or "")


def _numbered(piece: Piece) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in piece.lines]


def _spans(piece: Piece) -> dict[int, tuple[Span, ...]]:
    return {line.number: line.spans for line in piece.lines}
