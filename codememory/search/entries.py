"""Writes and removes search entries with their terms' document frequencies, in the caller's
transaction.

Writers of one scope take turns on its SearchTotal row, so frequencies stay exact and no two of
them deadlock: call these last in a transaction, it holds that row until it commits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from codememory.models.search import EntryKind
from codememory.search.change_fields import ChangeTerms, change_impacts
from codememory.search.ranking import quantise

ANALYSER_REVISION = 2  # raised when the same text would give another entry

_TARGETS = {
    EntryKind.CHANGE: "logical_change_id",
    EntryKind.SECTION: "segment_id",
    EntryKind.CANDIDATE: "candidate_id",
    EntryKind.MEMORY: "memory_id",
}
_LOCK_TOTAL = """
    INSERT INTO codememory_searchtotal (scope_id, changes, texts) VALUES (%s, 0, 0)
    ON CONFLICT (scope_id) DO UPDATE SET changes = codememory_searchtotal.changes
"""
_SELECT_TERMS = """
    SELECT term, id, df_change > 0 FROM codememory_searchterm
    WHERE scope_id = %s AND term = ANY(%s)
"""
_INSERT_TERMS = """
    INSERT INTO codememory_searchterm (scope_id, term, df_change, df_text)
    SELECT %s, term, 0, 0 FROM unnest(%s::text[]) AS t (term) ORDER BY term COLLATE "C"
    ON CONFLICT (scope_id, term) DO NOTHING RETURNING term, id
"""
_UPDATE_TERMS = """
    UPDATE codememory_searchterm AS term
    SET df_change = df_change + change.times, df_text = df_text + change.texts
    FROM (SELECT * FROM unnest(%s::int[], %s::int[], %s::int[]) AS u (id, times, texts)
          ORDER BY id) AS change
    WHERE term.id = change.id AND term.scope_id = %s
"""
_UPDATE_TOTAL = """
    UPDATE codememory_searchtotal SET changes = changes + %s, texts = texts + %s WHERE scope_id = %s
"""
_ENTRY_COLUMNS = "type, layer, confidence, shape, neighbours, terms, impacts, analyser_revision"
_ENTRY_VALUES = """u.type, u.layer, u.confidence, u.shape::smallint[], u.neighbours,
    u.terms::int[], u.impacts::smallint[], u.revision"""
_ENTRY_ROWS = """
    unnest(%(targets)s::bigint[], %(types)s::text[], %(layers)s::text[], %(confidences)s::float8[],
           %(shapes)s::text[], %(neighbours)s::bytea[], %(terms)s::text[], %(impacts)s::text[],
           %(revisions)s::smallint[])
    AS u (target, type, layer, confidence, shape, neighbours, terms, impacts, revision)
"""


@dataclass(frozen=True, slots=True)
class NewEntry:
    """What is to be found under `target_id`, a row of the kind's own table, by which terms."""

    kind: EntryKind
    target_id: int
    impacts: Mapping[str, float]
    type: str | None = None
    layer: str | None = None
    confidence: float | None = None
    shape: Sequence[int] | None = None
    neighbours: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Stored:
    terms: list[int]
    rest: tuple[Any, ...]


def write_changes(scope_id: int, changes: Sequence[tuple[int, ChangeTerms]]) -> int:
    """Index logical changes, oldest first; return how many were not indexed before.

    A change that has its entry keeps it: which terms were new to the project is decided once.
    """
    if not changes:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_TOTAL, [scope_id])
        stored = _stored(cursor, scope_id, EntryKind.CHANGE, [target for target, _ in changes])
        changes = [change for change in changes if change[0] not in stored]
        wanted = {term for _, change in changes for term in change.impacts}
        cursor.execute(_SELECT_TERMS, [scope_id, sorted(wanted)])
        known = cursor.fetchall()
        seen = {term for term, _, is_seen in known if is_seen}
        entries = {}
        for target, change in changes:
            impacts = change_impacts(change, change.added.keys() - seen)
            seen.update(impacts)
            entries[target] = NewEntry(
                EntryKind.CHANGE,
                target,
                impacts,
                shape=change.shape,
                neighbours=change.neighbours,
            )
        ids = {term: number for term, number, _ in known}
        return _write(cursor, scope_id, EntryKind.CHANGE, entries, ids, {})


def write_entries(scope_id: int, entries: Iterable[NewEntry]) -> int:
    """Insert entries, or bring them up to date; return how many rows that changed."""
    written = 0
    by_kind: dict[EntryKind, dict[int, NewEntry]] = {}
    for entry in entries:
        by_kind.setdefault(EntryKind(entry.kind), {})[entry.target_id] = entry
    with connection.cursor() as cursor:
        for kind, of_kind in sorted(by_kind.items()):
            cursor.execute(_LOCK_TOTAL, [scope_id])
            wanted = {term for entry in of_kind.values() for term in entry.impacts}
            cursor.execute(_SELECT_TERMS, [scope_id, sorted(wanted)])
            ids = {term: number for term, number, _ in cursor.fetchall()}
            stored = _stored(cursor, scope_id, kind, list(of_kind))
            written += _write(cursor, scope_id, kind, of_kind, ids, stored)
    return written


def remove_entries(scope_id: int, kind: EntryKind, target_ids: Collection[int]) -> int:
    """Delete the entries of these targets; return how many there were."""
    if not target_ids:
        return 0
    column = _TARGETS[kind]
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_TOTAL, [scope_id])
        cursor.execute(
            f"DELETE FROM codememory_searchentry WHERE scope_id = %s AND kind = %s"  # noqa: S608
            f" AND {column} = ANY(%s) RETURNING terms",
            [scope_id, kind.value, sorted(target_ids)],
        )
        rows = [terms for (terms,) in cursor.fetchall()]
        counts = Counter({term: -n for term, n in Counter(t for ts in rows for t in ts).items()})
        _count(cursor, scope_id, kind, counts, -len(rows))
    return len(rows)


def settle_index() -> None:
    """Work what waits in the index's list into the index, so that no search has to read it."""
    with connection.cursor() as cursor:
        for index in ("search_entry_terms", "search_entry_text_terms"):
            cursor.execute("SELECT gin_clean_pending_list(%s)", [index])


def _write(
    cursor: Any,
    scope_id: int,
    kind: EntryKind,
    entries: dict[int, NewEntry],
    ids: dict[str, int],
    stored: dict[int, _Stored],
) -> int:
    """Write what is new or differs from `stored`; `ids` gains the terms it lacks."""
    missing = {term for entry in entries.values() for term in entry.impacts} - ids.keys()
    if missing:
        cursor.execute(_INSERT_TERMS, [scope_id, sorted(missing)])
        ids.update(cursor.fetchall())
    fresh: list[tuple[Any, ...]] = []
    changed: list[tuple[Any, ...]] = []
    counts: Counter[int] = Counter()
    for target, entry in sorted(entries.items()):
        pairs = sorted((ids[term], quantise(impact)) for term, impact in entry.impacts.items())
        terms, impacts = [term for term, _ in pairs], [impact for _, impact in pairs]
        said = (entry.type, entry.layer, entry.confidence)
        shape = None if entry.shape is None else list(entry.shape)
        old = stored.get(target)
        rest = (*said, shape, entry.neighbours, impacts, ANALYSER_REVISION)
        if old is not None and (old.terms, old.rest) == (terms, rest):
            continue
        arrays = (_array(terms), _array(impacts))
        (fresh if old is None else changed).append(
            (target, *said, shape and _array(shape), entry.neighbours, *arrays, ANALYSER_REVISION)
        )
        counts.update(terms)
        counts.subtract(old.terms if old else ())
    _insert(cursor, scope_id, kind, fresh)
    _update(cursor, scope_id, kind, changed)
    _count(cursor, scope_id, kind, counts, len(fresh))
    return len(fresh) + len(changed)


def _stored(
    cursor: Any, scope_id: int, kind: EntryKind, target_ids: list[int]
) -> dict[int, _Stored]:
    column = _TARGETS[kind]
    cursor.execute(
        f"SELECT {column}, terms, type, layer, confidence, shape, neighbours, impacts,"  # noqa: S608
        f" analyser_revision FROM codememory_searchentry"
        f" WHERE scope_id = %s AND kind = %s AND {column} = ANY(%s)",
        [scope_id, kind.value, target_ids],
    )
    return {target: _Stored(terms, tuple(rest)) for target, terms, *rest in cursor.fetchall()}


def _insert(cursor: Any, scope_id: int, kind: EntryKind, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        cursor.execute(
            f"INSERT INTO codememory_searchentry"  # noqa: S608
            f" (scope_id, kind, {_TARGETS[kind]}, {_ENTRY_COLUMNS})"
            f" SELECT %(scope)s, %(kind)s, u.target, {_ENTRY_VALUES} FROM {_ENTRY_ROWS}",
            _row_values(scope_id, kind, rows),
        )


def _update(cursor: Any, scope_id: int, kind: EntryKind, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        cursor.execute(
            f"UPDATE codememory_searchentry AS entry SET ({_ENTRY_COLUMNS})"  # noqa: S608
            f" = ROW({_ENTRY_VALUES}) FROM {_ENTRY_ROWS} WHERE entry.scope_id = %(scope)s"
            f" AND entry.kind = %(kind)s AND entry.{_TARGETS[kind]} = u.target",
            _row_values(scope_id, kind, rows),
        )


def _row_values(scope_id: int, kind: EntryKind, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    names = (
        *("targets", "types", "layers", "confidences", "shapes", "neighbours"),
        *("terms", "impacts", "revisions"),
    )
    columns = (list(column) for column in zip(*rows, strict=True))
    return {"scope": scope_id, "kind": kind.value, **dict(zip(names, columns, strict=True))}


def _count(cursor: Any, scope_id: int, kind: EntryKind, counts: Counter[int], entries: int) -> None:
    """Add to the frequencies of terms and to the number of entries: changes and texts apart."""
    moved = sorted((term, times) for term, times in counts.items() if times)
    ids, times = [term for term, _ in moved], [times for _, times in moved]
    none = [0] * len(ids)
    is_change = kind is EntryKind.CHANGE
    if ids:
        columns = (times, none) if is_change else (none, times)
        cursor.execute(_UPDATE_TERMS, [ids, *columns, scope_id])
    if entries:
        totals = (entries, 0) if is_change else (0, entries)
        cursor.execute(_UPDATE_TOTAL, [*totals, scope_id])


def _array(numbers: list[int]) -> str:
    """The text form: `unnest` would flatten an array of arrays."""
    return "{" + ",".join(map(str, numbers)) + "}"
