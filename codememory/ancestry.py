"""Whether one stored commit is an ancestor of another, by their rows; ids follow the topology."""

from __future__ import annotations

from functools import cached_property

from codememory.models import GitCommit

MOST_COMMITS = 400_000  # beyond it every earlier commit passes for an ancestor
MOST_VISITED = 50_000  # of one question


class Ancestry:
    """Reads the graph of a project once, when first asked."""

    def __init__(self, scope_id: int) -> None:
        self._scope_id = scope_id
        self._last: tuple[int, int, set[int]] = (0, 0, set())

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
        of, down_to, found = self._last
        if of != later or earlier < down_to:
            found = self._reached(later, earlier)
            self._last = (later, earlier, found)
        return earlier in found

    def _reached(self, commit: int, down_to: int) -> set[int]:
        parents = self._parents or {}
        seen, waiting = {commit}, [commit]
        while waiting and len(seen) < MOST_VISITED:
            for parent in parents.get(waiting.pop(), ()):
                if parent >= down_to and parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return seen
