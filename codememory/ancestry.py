"""Whether one stored commit is an ancestor of another, by their rows; ids follow the topology."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from heapq import heappop, heappush

from codememory.models import GitCommit

MOST_COMMITS = 400_000  # beyond it every earlier commit passes for an ancestor
MOST_VISITED = 50_000  # of one question


class Ancestry:
    """Reads the graph of a project once, when first asked."""

    def __init__(self, scope_id: int) -> None:
        self._scope_id = scope_id
        self._past = _Past(0)

    @cached_property
    def _parents(self) -> dict[int, tuple[int, ...]] | None:
        rows = GitCommit.objects.filter(scope_id=self._scope_id).order_by("pk")
        if rows.count() > MOST_COMMITS:
            return None
        ids: dict[bytes, int] = {}
        parents: dict[int, tuple[int, ...]] = {}
        for pk, oid, oids in rows.values_list("pk", "oid", "parent_oids").iterator():
            ids[bytes.fromhex(oid)] = pk
            known = (ids.get(bytes.fromhex(parent)) for parent in oids)
            parents[pk] = tuple(parent for parent in known if parent is not None)
        return parents

    def is_ancestor(self, earlier: int, later: int) -> bool:
        if self._parents is None:
            return earlier < later
        if self._past.commit != later:
            self._past = _Past(later)
        return self._past.holds(earlier, self._parents)


class _Past:
    """What one commit reaches, walked newest first and only as far down as was asked."""

    def __init__(self, commit: int) -> None:
        self.commit = commit
        self._seen = {commit}
        self._waiting = [-commit]  # a heap, so that the largest id comes first

    def holds(self, earlier: int, parents: Mapping[int, tuple[int, ...]]) -> bool:
        seen, waiting = self._seen, self._waiting
        while waiting and -waiting[0] > earlier and len(seen) < MOST_VISITED:
            for parent in parents.get(-heappop(waiting), ()):
                if parent not in seen:
                    seen.add(parent)
                    heappush(waiting, -parent)
        return earlier in seen
