"""What changes together with a file or a symbol, counted over its logical changes when asked.

Changes of many files say nothing of any two of them and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

from codememory.paths import shown_path

MOST_FILES = 30  # of a logical change that counts
MOST_CHANGES = 500  # of the subject's newest that are looked at
LEAST_SUPPORT = 2
MOST = 10

_BASE = """
    WITH mine AS (
        SELECT l.id FROM codememory_logicalchange l
        WHERE l.scope_id = %(scope)s AND l.id = ANY(%(changes)s) AND l.files <= %(most_files)s
        ORDER BY l.id DESC LIMIT %(most_changes)s
    )
"""
_FILES = """
    SELECT p.raw, count(DISTINCT f.logical_change_id), (SELECT count(*) FROM mine)
    FROM mine JOIN codememory_filechange f
      ON f.scope_id = %(scope)s AND f.logical_change_id = mine.id
    JOIN codememory_path p ON p.id = coalesce(f.new_path_id, f.old_path_id)
    WHERE NOT p.id = ANY(%(own)s)
    GROUP BY p.id, p.raw HAVING count(DISTINCT f.logical_change_id) >= %(least)s
    ORDER BY 2 DESC, 1 LIMIT %(most)s
"""
_SYMBOLS = """
    SELECT n.qualified, p.raw, count(DISTINCT f.logical_change_id), (SELECT count(*) FROM mine)
    FROM mine JOIN codememory_filechange f
      ON f.scope_id = %(scope)s AND f.logical_change_id = mine.id
    JOIN codememory_symbolchange s
      ON s.scope_id = f.scope_id AND s.content_change_id = f.content_change_id
     AND s.kind NOT IN ('FORMATTING_ONLY', 'COMMENT_ONLY')
     AND (f.hunk_numbers IS NULL OR s.hunk_numbers = '{}' OR f.hunk_numbers && s.hunk_numbers)
    JOIN codememory_symbolname n ON n.id = s.name_id
    JOIN codememory_path p ON p.id = coalesce(f.new_path_id, f.old_path_id)
    WHERE NOT n.id = ANY(%(own)s)
    GROUP BY n.id, n.qualified, p.id, p.raw HAVING count(DISTINCT f.logical_change_id) >= %(least)s
    ORDER BY 3 DESC, 1, 2 LIMIT %(most)s
"""


def files_changed_with(
    scope_id: int, change_ids: Sequence[int], own_paths: Sequence[int]
) -> list[dict[str, Any]]:
    """Files in the same logical changes, the most frequent first.

    `support` counts the changes that hold both, `confidence` is their share of the subject's.
    """
    return [
        {"path": shown_path(bytes(raw)), **_measures(support, of)}
        for raw, support, of in _select(_FILES, scope_id, change_ids, own_paths)
    ]


def symbols_changed_with(
    scope_id: int, change_ids: Sequence[int], own_names: Sequence[int]
) -> list[dict[str, Any]]:
    """Symbols in the same logical changes, in whatever file; measured like files."""
    return [
        {"symbol": name, "path": shown_path(bytes(raw)), **_measures(support, of)}
        for name, raw, support, of in _select(_SYMBOLS, scope_id, change_ids, own_names)
    ]


def _measures(support: int, of: int) -> dict[str, Any]:
    return {"support": support, "confidence": round(support / of, 3)}


def _select(
    statement: str, scope_id: int, change_ids: Sequence[int], own: Sequence[int]
) -> list[tuple[Any, ...]]:
    values: dict[str, Any] = {
        "scope": scope_id,
        "changes": list(change_ids),
        "own": list(own),
        "most_files": MOST_FILES,
        "most_changes": MOST_CHANGES,
        "least": LEAST_SUPPORT,
        "most": MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(_BASE + statement, values)
        return list(cursor.fetchall())
