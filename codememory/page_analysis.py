"""What the process that analyses pages does, and all that is loaded there for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codememory.search.change_fields import ChangedFile, change_fields
from collectors.pair_work import Pair, Work, compare_work
from collectors.policy import Policy
from collectors.redact import find_secrets, mask
from collectors.values import ContentChange, PathClass


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """One file of a commit's own change, as its terms need it."""

    old_path: bytes | None
    new_path: bytes | None
    pair: Pair
    path_class: PathClass


Weighed = tuple[dict[str, float], dict[str, float], list[int], bytes]  # of a ChangeTerms
Found = tuple[list[ContentChange], list[Weighed]]


def analyse(_: bytes, work: Work, policy: Policy, changes: Sequence[Sequence[ChangedRow]]) -> Found:
    """Compare the pairs, and weigh the terms of each change. Pure; runs in the other process."""
    found = compare_work(work, policy)
    contents = {(change.old_oid, change.new_oid): change for change in found}
    masked: dict[str, bytes] = {}

    def side(oid: str | None) -> bytes | None:
        if oid is None:
            return None
        if oid not in masked:
            masked[oid] = mask(work.blobs[oid], find_secrets(work.blobs[oid]))
        return masked[oid]

    terms = []
    for rows in changes:
        files = []
        for row in rows:
            content = contents.get(row.pair)
            if content is None or not content.hunks:
                files.append(ChangedFile(row.old_path, row.new_path, path_class=row.path_class))
                continue
            old, new = (side(oid) for oid in row.pair)
            sides = (old, new, content.hunks, row.path_class)
            files.append(ChangedFile(row.old_path, row.new_path, *sides))
        weighed = change_fields(files).weighed()
        beside = (list(weighed.shape), weighed.neighbours)
        terms.append((dict(weighed.impacts), dict(weighed.added), *beside))
    return found, terms
