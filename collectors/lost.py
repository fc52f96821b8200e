"""Where a history is cut off because commits are missing or broken: git lists none of it then.

Walks commits by their own re-hashed objects; only asked when git has given up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from collectors.objects import ObjectReader
from collectors.trees import MAX_COMMIT_BYTES, is_oid, tree_of
from collectors.values import Gap

_CHUNK = 1_000
_PARENT = re.compile(rb"parent ([^\n]*)\n")


@dataclass(slots=True)
class Cut:
    """Commits with a parent that cannot be read, and those of their parents that can be."""

    children: set[str] = field(default_factory=set)
    tips: set[str] = field(default_factory=set)


def find_cut(heads: Iterable[str], reader: ObjectReader) -> Cut:
    """Walk all that these commits reach."""
    waiting = list(dict.fromkeys(heads))
    seen = set(waiting)
    parents_of: dict[str, list[str]] = {}
    while waiting:
        chunk = waiting[-_CHUNK:]
        del waiting[-_CHUNK:]
        reader.prefetch(chunk, "commit", MAX_COMMIT_BYTES)
        for oid in chunk:
            parents = _read_parents(oid, reader)
            if parents is None:
                continue
            parents_of[oid] = parents
            new = [parent for parent in parents if parent not in seen]
            seen.update(new)
            waiting += new
    cut = Cut()
    for oid, parents in parents_of.items():
        if any(parent not in parents_of for parent in parents):
            cut.children.add(oid)
            cut.tips.update(parent for parent in parents if parent in parents_of)
    return cut


def _read_parents(oid: str, reader: ObjectReader) -> list[str] | None:
    """None for a commit that cannot be read, or that git does not take for one."""
    content = reader.read(oid, "commit", MAX_COMMIT_BYTES)
    if isinstance(content, Gap) or isinstance(tree_of(content, reader.id_bytes), Gap):
        return None
    at = content.index(b"\n") + 1
    parents = []
    while found := _PARENT.match(content, at):
        if not is_oid(found[1], oid):
            return None
        parents.append(found[1].decode())
        at = found.end()
    return parents
