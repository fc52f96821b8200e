"""The page of a document: one revision with its segments, the others of its path, its sections."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from codememory.checkout import Checkout
from codememory.models import (
    Candidate,
    DocumentSection,
    EvidenceLink,
    EvidenceSegment,
    FileChange,
    GitCommit,
    SectionChange,
    SourceRevision,
    WorktreeDocument,
)
from codememory.paths import shown_path
from codememory.serving import serves_revision
from codememory.verdict_of import judge_stored_segment
from review.access import Visit, project_page
from review.excerpts import ExcerptLine, excerpt_lines
from review.explorer.change_code import ShownVerdict
from review.explorer.forms import DocumentForm
from review.glyphs import count_hidden
from review.shell import shell, valid

SEGMENTS = 25  # on a page
REVISIONS = 40
REVISIONS_DATED = 1_000  # among which those are the newest
SECTIONS = 120
SECTION_CHANGES = 80


@dataclass(frozen=True, slots=True)
class ShownSegment:
    """A segment with its lines, its verdict, and the claims that cite it."""

    segment: EvidenceSegment
    lines: list[ExcerptLine]
    verdict: ShownVerdict
    claims: list[Candidate]

    @property
    def name(self) -> str:
        return f"S{self.segment.pk}"

    @property
    def hidden(self) -> int:
        return sum(count_hidden(line.before + line.after) for line in self.lines)

    @property
    def line_count(self) -> int:
        return int(self.segment.last_line - self.segment.first_line + 1)


@dataclass(frozen=True, slots=True)
class Dated:
    """A revision, and the last commit that made it where that is known."""

    revision: SourceRevision
    commit: GitCommit | None


@dataclass(slots=True)
class DocumentPage:
    """A revision and what is known of it. Not served: its text is left out."""

    revision: SourceRevision
    path: str
    is_current: bool
    is_served: bool
    is_there: bool
    judged_head: str
    segments: list[ShownSegment] = field(default_factory=list)
    segment_count: int = 0
    next: int | None = None
    sections: list[DocumentSection] = field(default_factory=list)
    section_changes: list[SectionChange] = field(default_factory=list)
    revisions: list[Dated] = field(default_factory=list)
    revision_count: int = 0


@project_page
def document(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Show a revision; one of another project is absent."""
    after = valid(DocumentForm(request.GET)).cleaned_data["after"] or 0
    rows = SourceRevision.objects.filter(scope_id=visit.project.scope_id, pk=number)
    revision = rows.select_related("path").first()
    if revision is None:
        raise Http404
    with Checkout(visit.project) as checkout:
        page = _page(checkout, revision, after)
    context: dict[str, Any] = {
        **shell(request, visit, "knowledge"),
        "page": page,
        "after": after,
    }
    return render(request, "explorer/document.html", context)


def _page(checkout: Checkout, revision: SourceRevision, after: int) -> DocumentPage:
    same = {"scope_id": checkout.scope_id, "revision_id": revision.pk}
    page = DocumentPage(
        revision,
        shown_path(bytes(revision.path.raw)) or "",
        WorktreeDocument.objects.filter(**same, worktree=checkout.worktree).exists(),
        serves_revision(checkout, revision),
        checkout.content(revision.object_oid) is not None,
        (checkout.head.oid or "")[:12],
    )
    of_path = SourceRevision.objects.filter(
        scope_id=checkout.scope_id, kind=revision.kind, path_id=revision.path_id
    )
    page.revision_count = of_path.count()
    page.revisions = _dated(of_path)[:REVISIONS]
    if not page.is_served:
        return page
    segments = EvidenceSegment.objects.filter(**same).order_by("byte_start", "pk")
    page.segment_count = segments.count()
    found = list(segments[after : after + SEGMENTS])
    page.segments = _shown(checkout, revision, found)
    page.next = after + SEGMENTS if after + SEGMENTS < page.segment_count else None
    sections = DocumentSection.objects.filter(**same).order_by("byte_start", "level")
    page.sections = list(sections[:SECTIONS])
    page.section_changes = _section_changes(revision)
    return page


def _dated(of_path: QuerySet[SourceRevision]) -> list[Dated]:
    """The revisions of a path by the last commit that made each, the newest first."""
    revisions = list(of_path.order_by("-pk")[:REVISIONS_DATED])
    rows = FileChange.objects.filter(
        scope_id__in={one.scope_id for one in revisions},
        new_path_id__in={one.path_id for one in revisions},
        content_change__new_oid__in=[one.object_oid for one in revisions],
    )
    last = dict(rows.values_list("content_change__new_oid").annotate(last=Max("commit_id")))
    commits = GitCommit.objects.in_bulk(last.values())
    dated = [Dated(one, commits.get(last.get(one.object_oid, 0))) for one in revisions]
    return sorted(dated, key=lambda one: -one.commit.pk if one.commit else 0)


def _shown(
    checkout: Checkout, revision: SourceRevision, found: list[EvidenceSegment]
) -> list[ShownSegment]:
    links = EvidenceLink.objects.filter(
        scope_id=checkout.scope_id, segment__in=found, candidate__isnull=False
    )
    claims: dict[int, dict[int, Candidate]] = defaultdict(dict)
    for link in links.select_related("candidate").order_by("pk"):
        claims[link.segment_id][link.candidate_id or 0] = link.candidate
    shown = []
    for segment in found:
        segment.revision = revision
        verdict = judge_stored_segment(checkout, segment)
        lines = excerpt_lines(segment, EvidenceLink(segment=segment, byte_start=-1, byte_end=-1))
        chip = ShownVerdict(verdict.verdict.value, verdict.method.value)
        shown.append(ShownSegment(segment, lines, chip, list(claims[segment.pk].values())))
    return shown


def _section_changes(revision: SourceRevision) -> list[SectionChange]:
    """What commits did to sections of this path, the newest first."""
    rows = SectionChange.objects.filter(scope_id=revision.scope_id).filter(
        Q(new_revision__path_id=revision.path_id) | Q(old_revision__path_id=revision.path_id)
    )
    rows = rows.select_related("commit", "old_revision__path", "new_revision__path")
    return list(rows.order_by("-commit_id", "new_start", "pk")[:SECTION_CHANGES])
