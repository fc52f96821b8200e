"""Which entries a path leaves: those whose change touched it, or whose text stands in it.

A file has few of them, and they are looked up; a large folder is compared with what words find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

from codememory.models import SourceKind

# Every array is joined with nothing: each term of a question reads the copy, where it would
# decompress a long stored array again.
COLUMNS = """
    SELECT id, kind, logical_change_id, segment_id, candidate_id, memory_id,
        terms || '{{}}'::int[] AS terms, impacts || '{{}}'::smallint[] AS impacts
    FROM codememory_searchentry AS entry """
_SEGMENTS = """
    SELECT segment.id FROM codememory_evidencesegment AS segment
    JOIN codememory_sourcerevision AS revision
    ON revision.scope_id = segment.scope_id AND revision.id = segment.revision_id
    WHERE segment.scope_id = %(scope)s AND revision.path_id = ANY(%(paths)s)
    AND revision.kind = ANY(%(sources)s)"""
_CHANGES = """
    SELECT logical_change_id FROM codememory_filechange
    WHERE scope_id = %(scope)s AND logical_change_id IS NOT NULL
    AND (new_path_id = ANY(%(paths)s) OR old_path_id = ANY(%(paths)s))"""
_CLAIMS = """
    SELECT {claim}_id FROM codememory_evidencelink WHERE scope_id = %(scope)s
    AND {claim}_id IS NOT NULL AND segment_id = ANY(%(of_section)s)"""
_TARGETS = {
    "of_change": _CHANGES,
    "of_section": _SEGMENTS,
    "of_candidate": _CLAIMS.format(claim="candidate"),
    "of_memory": _CLAIMS.format(claim="memory"),
}
# The index of an entry's target has all four in this order; three are null.
_OF_KIND = (
    ("change", "logical_change_id = ANY(%(of_change)s)"),
    ("section", "logical_change_id IS NULL AND segment_id = ANY(%(of_section)s)"),
    (
        "candidate",
        "logical_change_id IS NULL AND segment_id IS NULL AND candidate_id = ANY(%(of_candidate)s)",
    ),
    (
        "memory",
        """logical_change_id IS NULL AND segment_id IS NULL AND candidate_id IS NULL
        AND memory_id = ANY(%(of_memory)s)""",
    ),
)
OF_TARGETS = "\nUNION ALL".join(
    f"{COLUMNS} WHERE scope_id = %(scope)s AND kind = '{kind}' AND kind = ANY(%(kinds)s)"
    f" AND {target} AND terms && %(rare)s::int[]"
    for kind, target in _OF_KIND
).format()

OF_MEMORIES = (
    f"{COLUMNS} WHERE scope_id = %(scope)s AND kind = 'memory' AND terms && %(rare)s::int[]"
).format()


def targets_of(scope_id: int, paths: Sequence[int], most: int) -> dict[str, list[int]] | None:
    """The rows that entries stand for and that a path has, by kind; None: more than `most`."""
    values: dict[str, Any] = {"scope": scope_id, "paths": list(paths), "most": most + 1}
    values["sources"] = SourceKind.values
    found: dict[str, list[int]] = {}
    with connection.cursor() as cursor:
        for name, statement in _TARGETS.items():
            asked = f"SELECT DISTINCT * FROM ({statement}) AS t LIMIT %(most)s"  # noqa: S608
            cursor.execute(asked, {**values, **found})
            found[name] = [number for (number,) in cursor.fetchall()]
            if len(found[name]) > most:
                return None
    return found


def of_paths() -> str:
    """The condition that an entry is one of `paths` or, of a text, stands in one of them."""
    segments = f"(SELECT id FROM ({_SEGMENTS}) AS of_path)"  # noqa: S608 -- names of our own
    claims = "IN (SELECT {claim}_id FROM codememory_evidencelink WHERE scope_id = %(scope)s"
    claims += f" AND {{claim}}_id IS NOT NULL AND segment_id IN {segments})"
    return f""" AND CASE kind WHEN 'change' THEN logical_change_id IN ({_CHANGES})
        WHEN 'section' THEN segment_id IN {segments}
        ELSE candidate_id {claims.format(claim="candidate")}
            OR memory_id {claims.format(claim="memory")} END"""
