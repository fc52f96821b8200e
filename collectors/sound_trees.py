"""Walks the trees of a page of commits before git compares them, and takes over where it must not.

A tree that is missing, forged, ill-formed or too large is compared by the walk alone: without
renames, as far as it goes, and with a gap for each tree that could not be used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from collectors.comparisons import Comparison
from collectors.objects import ObjectReader
from collectors.trees import MAX_COMMIT_BYTES, TreeDifference, TreeWalker, is_oid, tree_of
from collectors.values import Commit, Gap

PAGE_ROWS = 100_000  # a page ends before the commit that brings it above this

Prepared = dict[tuple[str, int], Comparison]  # by commit and parent index


def walk_commits(
    commits: Sequence[Commit], boundary: Collection[str], reader: ObjectReader
) -> tuple[Prepared, int]:
    """The comparisons git must not be asked for, and how many of the commits a page may hold.

    At least one. Commits of `boundary` have no parents here to be compared with.
    """
    walker = TreeWalker(reader)
    reader.prefetch((p for c in commits for p in c.parents), "commit", MAX_COMMIT_BYTES)
    walker.prefetch(_known_trees(commits))
    prepared: Prepared = {}
    rows = 0
    for number, commit in enumerate(commits):
        if commit.oid in boundary:
            continue
        own, count = _walk_trees(commit, reader, walker)
        rows += count
        if rows > PAGE_ROWS and number:
            return prepared, number
        prepared |= own
    return prepared, len(commits)


def _known_trees(commits: Sequence[Commit]) -> Iterator[tuple[str | None, str]]:
    """The pairs of trees to be compared whose commits are both at hand."""
    trees = {c.oid: c.tree_oid for c in commits if is_oid(c.tree_oid.encode(), c.oid)}
    for commit in commits:
        for parent in commit.parents or (None,):
            if commit.oid in trees and (parent is None or parent in trees):
                yield trees[parent] if parent else None, trees[commit.oid]


def _walk_trees(commit: Commit, reader: ObjectReader, walker: TreeWalker) -> tuple[Prepared, int]:
    """The comparisons of a commit that git must not be asked for, and how many rows all have."""
    found: Prepared = {}
    rows = 0
    parents: Sequence[str | None] = commit.parents or (None,)
    for position, parent in enumerate(parents):
        index = -1 if parent is None else position
        trees = [_tree_of(oid, reader) for oid in (parent, commit.oid)]
        gaps = [each for each in trees if isinstance(each, Gap)]
        old, new = (None if isinstance(each, Gap) else each for each in trees)
        difference = TreeDifference(gaps=gaps) if gaps else walker.compare(old, new)
        rows += len(difference.rows)
        if difference.gaps:
            found[commit.oid, index] = Comparison(
                commit.oid,
                parent,
                difference.as_changes(commit.oid, index),
                [replace(gap, commit_oid=commit.oid) for gap in difference.gaps],
            )
    return found, rows


def _tree_of(commit: str | None, reader: ObjectReader) -> str | Gap | None:
    if commit is None:
        return None
    content = reader.read(commit, "commit", MAX_COMMIT_BYTES)
    found = content if isinstance(content, Gap) else tree_of(content, reader.id_bytes)
    return replace(found, oid=commit) if isinstance(found, Gap) else found
