"""The history of documents: a revision for each version, and what each commit did to sections.

Works from the stored file changes, so the history has to be collected first: what is there is read.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from codememory import runs
from codememory.bulk import insert_rows, int_array, text_array
from codememory.document_versions import (
    DocumentChange,
    Side,
    Version,
    Versions,
    document_paths,
    next_changes,
)
from codememory.facts_progress import add_metrics
from codememory.ingest_documents import store_revisions
from codememory.models import Run, SectionChange, SourceKind, SourceRevision
from codememory.runs import Claim
from codememory.stored_gaps import store_gaps
from collectors.document_reader import DocumentReader
from collectors.ignoring import Eligibility
from collectors.objects import ObjectReader
from collectors.replaced import Replacement, replaced_sentences
from collectors.sections import (
    SECTIONS_REVISION,
    Delta,
    OwnSection,
    compare_sections,
    match_across,
)
from collectors.values import Gap

PAGE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Change:
    """What a commit did to a section, with the versions it stands in."""

    commit_id: int
    old: Side | None
    new: Side | None
    delta: Delta
    replaced: Sequence[Replacement] = ()


@dataclass(slots=True)
class _Page:
    """What a page of changes gives."""

    versions: dict[Side, Version] = field(default_factory=dict)
    changes: list[_Change] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    read: int = 0  # file changes
    last_row: int = 0


def history_batches(
    claim: Claim,
    run: Run,
    reader: ObjectReader,
    documents: DocumentReader,
    eligibility: Eligibility,
    algorithm: str,
) -> Iterator[None]:
    """Read the versions after the run's position; yield after each committed batch."""
    paths = document_paths(run.scope_id, eligibility)
    versions = Versions(reader, documents, eligibility.policy, paths)
    after = int(run.cursor["history"]["after"])
    while changes := next_changes(run.scope_id, paths, after, reader):
        started = time.monotonic()
        page = _read_page(run.scope_id, changes, versions)
        read_at = time.monotonic()
        with runs.fenced(claim) as row:
            counts = _store_page(row, algorithm, page, paths)
            after = page.last_row
            row.cursor = {**row.cursor, "history": {**row.cursor["history"], "after": after}}
            row.done += page.read
            row.total = max(row.total or 0, row.done)
            seconds = {
                "seconds_versions": read_at - started,
                "seconds_store": time.monotonic() - read_at,
            }
            row.metrics = add_metrics(row.metrics, counts, seconds)
        yield


def _read_page(scope_id: int, changes: Sequence[DocumentChange], versions: Versions) -> _Page:
    """Read whole commits, at least one; slow documents make a page shorter."""
    page = _Page()
    until = time.monotonic() + PAGE_SECONDS
    known = _known(scope_id, {change.new for change in changes if change.new})
    for commit_id, group in groupby(changes, key=lambda change: change.commit_id):
        if page.read and time.monotonic() > until:
            break
        versions.seconds = 0.0
        found: list[tuple[int, Delta]] = []
        mine = list(group)
        page.read += len(mine)
        page.last_row = mine[-1].row_id
        for number, change in enumerate(mine):
            if not change.olds and (change.new is None or change.new in known):
                continue
            olds = [_read(old, change, versions, page) for old in change.olds]
            new = _read(change.new, change, versions, page)
            if change.olds:
                found += [(number, delta) for delta in _deltas(change, olds, new)]
        for old_number, new_number, delta in match_across(found):
            old = mine[old_number].olds[0] if old_number is not None else None
            new_side = mine[new_number].new if new_number is not None else None
            replaced = _replaced(page, old, new_side, delta)
            page.changes.append(_Change(commit_id, old, new_side, delta, replaced))
    return page


def _known(scope_id: int, sides: Collection[Side]) -> set[Side]:
    """Those versions that have their revision."""
    rows = SourceRevision.objects.filter(
        scope_id=scope_id,
        kind=SourceKind.DOCUMENTS,
        path_id__in={side.path_id for side in sides},
        object_oid__in={side.oid for side in sides},
    )
    found = {
        Side(path_id, oid) for path_id, oid in rows.values_list("path_id", "object_oid") if oid
    }
    return found & set(sides)


def _read(
    side: Side | None, change: DocumentChange, versions: Versions, page: _Page
) -> Version | None:
    """Read a side for the page; what cannot be read leaves a gap that names the commit."""
    if side is None:
        return None
    if side in page.versions:
        return page.versions[side]
    found = versions.read(side)
    path, oid, commit = versions.paths[side.path_id], side.oid, change.commit_oid
    if isinstance(found, Gap):
        page.gaps.append(Gap(found.reason, path, oid, commit, found.detail))
        return None
    page.versions[side] = found
    if found.sections is None:
        page.gaps += [Gap(gap.reason, path, oid, commit, gap.detail) for gap in found.document.gaps]
    return found


def _deltas(
    change: DocumentChange, olds: Sequence[Version | None], new: Version | None
) -> list[Delta]:
    """What the commit itself did: what it did against every one of its parents."""
    sides = [*zip(change.olds, olds, strict=True), (change.new, new)]
    if any(side and (not version or version.sections is None) for side, version in sides):
        return []  # not readable: nothing is said of its sections
    first, *others = (compare_sections(_sections(old), _sections(new)) for old in olds)
    return [delta for delta in first if all(_is_among(delta, other) for other in others)]


def _sections(version: Version | None) -> Sequence[OwnSection]:
    return version.sections or () if version else ()


def _is_among(delta: Delta, others: Sequence[Delta]) -> bool:
    if delta.new is not None:
        return any(other.new == delta.new for other in others)
    removed = (other.old for other in others if other.new is None)
    return any(
        old
        and delta.old
        and (old.heading_path, old.body) == (delta.old.heading_path, delta.old.body)
        for old in removed
    )


def _replaced(
    page: _Page, old: Side | None, new: Side | None, delta: Delta
) -> Sequence[Replacement]:
    if delta.kind != "CHANGED" or not (old and new and delta.old and delta.new):
        return ()
    texts = page.versions[old].text, page.versions[new].text
    return replaced_sentences(delta.old, delta.new, *texts)


def _store_page(run: Run, algorithm: str, page: _Page, paths: dict[int, bytes]) -> dict[str, float]:
    documents = {
        side: (side.path_id, paths[side.path_id], v.document) for side, v in page.versions.items()
    }
    ids, new = store_revisions(run, algorithm, list(documents.values()))
    revision_of = {
        side: ids[path_id, document.sha256] for side, (path_id, _, document) in documents.items()
    }
    by_raw = {raw: pk for pk, raw in paths.items()}
    rows = [
        (
            run.scope_id,
            change.commit_id,
            change.delta.kind,
            *_of_side(change.old, change.delta.old, revision_of),
            *_of_side(change.new, change.delta.new, revision_of),
            int_array(one.key for one in change.replaced),
            int_array(number for one in change.replaced for number in (one.start, one.end)),
            SECTIONS_REVISION,
        )
        for change in page.changes
    ]
    names = ["scope", "commit", "kind", *_names("old"), *_names("new")]
    inserted = insert_rows(
        SectionChange, [*names, "sentence_keys", "replaced_ranges", "rule_revision"], rows
    )
    return {
        "versions": len(page.versions),
        "revisions": new,
        "section_changes": len(inserted),
        "gaps": store_gaps(run.scope_id, run.pk, SourceKind.DOCUMENTS, page.gaps, by_raw),
    }


def _names(side: str) -> list[str]:
    columns = (
        "revision",
        "heading_path",
        "ordinal",
        "start",
        "end",
        "first_line",
        "last_line",
        "sha256",
    )
    return [f"{side}_{column}" for column in columns]


def _of_side(
    side: Side | None, section: OwnSection | None, revision_of: dict[Side, int]
) -> tuple[object, ...]:
    if side is None or section is None:
        return (None,) * 8
    return (
        revision_of[side], text_array(section.heading_path), section.ordinal, section.start,
        section.end, section.first_line, section.last_line, section.sha256,
    )  # fmt: skip
