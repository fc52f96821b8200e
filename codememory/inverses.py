"""Which later commits of a path undid a hunk exactly, looked up for a whole answer at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

from django.db import connection

from codememory.models.history import stored_hunks
from codememory.verdicts import HunkCase, Inverse

MOST_LATER = 20  # commits with such a hunk that are looked at

# The later changes of each asked path that hold the asked pair of digests.
_LATER = """
    SELECT asked.number, later.commit_id, later.oid, later.at
    FROM unnest(%s::int[], %s::bytea[], %s::bigint[], %s::bytea[])
        AS asked (number, pair, after, path)
    JOIN codememory_path path ON path.scope_id = %s AND path.digest = asked.path
    CROSS JOIN LATERAL (
        SELECT row.commit_id, commit.oid, position(asked.pair in content.hunk_digests) AS at
        FROM codememory_filechange row
        JOIN codememory_contentchange content ON content.id = row.content_change_id
        JOIN codememory_gitcommit commit ON commit.id = row.commit_id
        WHERE row.scope_id = %s AND row.new_path_id = path.id AND row.commit_id > asked.after
          AND position(asked.pair in content.hunk_digests) > 0
        ORDER BY row.commit_id LIMIT %s
    ) AS later
    ORDER BY asked.number, later.commit_id
"""
# What a commit changed of its first parent.
_HUNKS = """
    SELECT content.hunk_ranges, content.hunk_digests FROM codememory_filechange row
    JOIN codememory_contentchange content ON content.id = row.content_change_id
    WHERE row.scope_id = %s AND row.commit_id = %s AND row.parent_index <= 0
"""
_Key = tuple[int, bytes | None, bytes]  # after which commit, which path, the pair of digests
_Later = list[tuple[int, str]]  # (row of a commit, its id), the first one first


class LaterInverses:
    """Finds them for one question. `names_of` gives the names that a case's file has had since."""

    def __init__(
        self,
        scope_id: int,
        names_of: Callable[[HunkCase], Iterable[bytes]],
        is_reachable: Callable[[int], bool],
    ) -> None:
        self._scope_id = scope_id
        self._names_of = names_of
        self._is_reachable = is_reachable
        self._expected: dict[_Key, HunkCase] = {}
        self._found: dict[_Key, _Later] = {}

    def expect(self, cases: Iterable[HunkCase]) -> None:
        """These may be asked for: with the first that is, all of them are looked up."""
        for case in cases:
            if case.hunk is not None and case.new_path is not None:
                self._expected[_key(case)] = case

    def of(self, case: HunkCase) -> Inverse | None:
        """The first later commit of the path with a hunk that undoes this one exactly."""
        if case.hunk is None or case.new_path is None:
            return None
        key = _key(case)
        if key not in self._found:
            self._look_up({**self._expected, key: case})
        for commit_id, oid in self._found[key]:
            if self._is_reachable(commit_id):
                return Inverse(oid, self._share_undone(case, commit_id))
        return None

    def _look_up(self, cases: dict[_Key, HunkCase]) -> None:
        keys = list(cases)
        asked = [
            (number, key[2], key[0], hashlib.sha256(name).digest())
            for number, key in enumerate(keys)
            for name in dict.fromkeys(self._names_of(cases[key]))
        ]
        columns = [list(column) for column in zip(*asked, strict=True)]
        with connection.cursor() as cursor:
            cursor.execute(_LATER, [*columns, self._scope_id, self._scope_id, MOST_LATER])
            rows = cursor.fetchall()
        self._found |= {key: [] for key in keys}
        for number, commit_id, oid, at in rows:
            later = self._found[keys[number]]
            if len(later) < MOST_LATER and (at - 1) % len(keys[number][2]) == 0:
                later.append((commit_id, oid))
        self._expected.clear()

    def _share_undone(self, case: HunkCase, later_id: int) -> float:
        """The part of the case's whole commit, in changed lines, that a later commit undid."""
        undone = {(new, old) for old, new, _ in self._hunks_of(later_id)}
        mine = list(self._hunks_of(case.ordinal))
        total = sum(lines for _, _, lines in mine)
        back = sum(lines for old, new, lines in mine if (old, new) in undone)
        return back / total if total else 0.0

    def _hunks_of(self, commit_id: int) -> Iterator[tuple[bytes, bytes, int]]:
        with connection.cursor() as cursor:
            cursor.execute(_HUNKS, [self._scope_id, commit_id])
            rows = cursor.fetchall()
        for ranges, digests in rows:
            for hunk in stored_hunks(ranges, bytes(digests)):
                yield hunk.old_sha256, hunk.new_sha256, hunk.old_lines + hunk.new_lines


def _key(case: HunkCase) -> _Key:
    assert case.hunk is not None
    # A hunk's two digests stand side by side: those of the inverse stand the other way round.
    return case.ordinal, case.new_path, case.hunk.new_sha256 + case.hunk.old_sha256
