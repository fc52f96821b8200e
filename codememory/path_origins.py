"""Where files that a commit shows as new may have come from: copies, and renames with a rival.

A rename is evidence with a score, never a certainty: where several sources are equally good, all of
them are written down as OPEN, for a person to choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from codememory.bulk import insert_rows
from codememory.models import ContentChange, FileChange, OriginKind, OriginState, PathOrigin
from codememory.owned_rows import Step, select_steps
from codememory.paths import shown_path
from codememory.similar_copies import CopyFinder, large_commits

LEAST_BYTES = 48  # of a content: smaller ones are equal by chance
MOST_SOURCES = 20  # of one file
_FIRST_BEGUN = """
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY content_change_id ORDER BY commit_id, id) AS n
        FROM codememory_filechange
        WHERE scope_id = %s AND kind = 'A' AND content_change_id = ANY(%s)
    ) AS begun WHERE n <= %s
"""


def find_origins(
    scope_id: int, steps: Sequence[Step], finder: CopyFinder
) -> tuple[list[tuple[Any, ...]], dict[int, int]]:
    """Rows of PathOrigin for the files that these steps (whole commits) show as new.

    Also the commits with too many new files to look for similar ones, with how many.
    """
    large = _large(scope_id, {step.new_oid for step in steps if step.kind in {"A", "R"}})
    by_commit: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        by_commit[step.commit_id].append(step)
    rows: list[tuple[Any, ...]] = []
    lone: list[Step] = []
    for group in by_commit.values():
        left = _left(group)
        for step in group:
            if step.kind not in {"A", "R"} or step.new_oid is None or step.new_oid not in large:
                continue
            sources = [path for path in left.get(step.new_oid, ()) if path != step.new_path]
            if (step.kind == "R" and len(sources) > 1) or (step.kind == "A" and sources):
                rows += _renames(scope_id, step, sources)
            elif step.kind == "A":
                lone.append(step)
    equal = _copies(scope_id, lone)
    known = {row[1] for row in equal}
    unlike = [step for step in lone if step.id not in known]
    return [*rows, *equal, *finder.find(unlike, steps)], large_commits(unlike)


def _left(group: Iterable[Step]) -> Mapping[str, list[int]]:
    """Paths that a commit's files left, by the content they had there: one too many at most."""
    left: dict[str, set[int]] = defaultdict(set)
    for step in group:
        if step.kind in {"D", "R"} and step.old_oid and step.old_path is not None:
            left[step.old_oid].add(step.old_path)
    return {oid: sorted(paths)[: MOST_SOURCES + 2] for oid, paths in left.items()}


def _renames(scope_id: int, step: Step, sources: Sequence[int]) -> Iterable[tuple[Any, ...]]:
    """Of more sources than anybody would look through only the listed one, as doubtful."""
    state = OriginState.OPEN if len(sources) > 1 else OriginState.CERTAIN
    if len(sources) > MOST_SOURCES:
        sources = [step.old_path] if step.kind == "R" and step.old_path is not None else []
    for source in sources:
        is_listed = step.kind == "R" and source == step.old_path
        kind = OriginKind.RENAME.value
        yield scope_id, step.id, source, kind, 100, is_listed, state.value


def _copies(scope_id: int, steps: Sequence[Step]) -> list[tuple[Any, ...]]:
    """Files that begin with the content that another file began with earlier.

    A content that many files begin with (a licence, an empty form) is nobody's copy.
    """
    begun: dict[int, list[Step]] = defaultdict(list)
    for other in select_steps(scope_id, "f.id = ANY(%s)", _first_begun(scope_id, steps)):
        begun[other.content].append(other)
    rows: list[tuple[Any, ...]] = []
    for step in steps:
        others = begun[step.content]
        if len(others) > MOST_SOURCES:
            continue
        sources = {
            other.new_path
            for other in others
            if other.commit_id < step.commit_id and other.new_path != step.new_path
        }
        state = OriginState.OPEN if len(sources) > 1 else OriginState.CERTAIN
        rows += [
            (scope_id, step.id, path, OriginKind.COPY.value, 100, False, state.value)
            for path in sorted(path for path in sources if path is not None)
        ]
    return rows


def _first_begun(scope_id: int, steps: Sequence[Step]) -> list[int]:
    """The first file changes that begin with each content: one too many at most."""
    contents = list({step.content for step in steps})
    if not contents:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_FIRST_BEGUN, [scope_id, contents, MOST_SOURCES + 1])
        return [number for (number,) in cursor.fetchall()]


def _large(scope_id: int, oids: set[str | None]) -> set[str | None]:
    """Those contents that are large enough to be equal by no chance."""
    rows = ContentChange.objects.filter(scope_id=scope_id)
    as_old = rows.filter(old_oid__in=oids, old_size__gte=LEAST_BYTES)
    as_new = rows.filter(old_oid=None, new_oid__in=oids, new_size__gte=LEAST_BYTES)
    found = {*as_old.values_list("old_oid", flat=True), *as_new.values_list("new_oid", flat=True)}
    return {oid for oid in found if oid}


def store_origins(rows: Sequence[tuple[Any, ...]]) -> int:
    """Write them; what a person settled stays as it is. Returns how many are new."""
    names = ["scope", "file_change", "source", "kind", "score", "is_listed", "state"]
    return len(insert_rows(PathOrigin, names, rows))


def followed_sources(scope_id: int, steps: Sequence[Step]) -> dict[int, int]:
    """The path that each file was renamed from, by step: as listed unless that is doubtful.

    What is OPEN or REFUSED is not followed; what a person accepted is.
    """
    found = {s.id: s.old_path for s in steps if s.kind == "R" and s.old_path is not None}
    arrivals = [step.id for step in steps if step.kind in {"R", "A"}]
    rows = PathOrigin.objects.filter(
        scope_id=scope_id, file_change_id__in=arrivals, kind=OriginKind.RENAME
    ).exclude(state=OriginState.CERTAIN)
    for step_id, source, state in rows.values_list("file_change_id", "source_id", "state"):
        if state == OriginState.ACCEPTED:
            found[step_id] = source
        elif found.get(step_id) == source:
            del found[step_id]
    return found


def origins_of(
    scope_id: int, rows: Sequence[FileChange], is_shown: Callable[[bytes], bool]
) -> dict[int, list[dict[str, Any]]]:
    """What is said of where files came from, by file change: what Git lists, and what was found.

    What a person refused is left out, and so are sources whose path may not be shown.
    """
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    origins = PathOrigin.objects.filter(scope_id=scope_id, file_change_id__in=[r.pk for r in rows])
    refused = set()
    for one in origins.select_related("source").order_by("-score", "pk"):
        raw = bytes(one.source.raw)
        if one.state == OriginState.REFUSED:
            refused.add((one.file_change_id, one.source_id))
        elif is_shown(raw):
            found[one.file_change_id].append(_origin(one.kind, raw, one.score, one.state))
    for row in rows:
        is_listed = row.kind == "R" and row.old_path is not None and not found[row.pk]
        if is_listed and (row.pk, row.old_path_id) not in refused:
            assert row.old_path is not None
            raw, state = bytes(row.old_path.raw), OriginState.CERTAIN
            found[row.pk].append(_origin(OriginKind.RENAME, raw, row.similarity or 0, state))
    return found


def _origin(kind: str, raw: bytes, score: int, state: str) -> dict[str, Any]:
    path = shown_path(raw)
    return {"kind": str(kind), "path": path, "score": score / 100, "state": str(state)}


def open_origins(scope_id: int) -> QuerySet[PathOrigin]:
    """The queue of a reviewer: origins that nobody chose yet, the oldest first."""
    rows = PathOrigin.objects.filter(scope_id=scope_id, state=OriginState.OPEN)
    return rows.select_related("file_change__commit", "file_change__new_path", "source").order_by(
        "pk"
    )
