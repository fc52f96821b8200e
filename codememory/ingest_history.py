"""Writes one page of history as rows: commits, content changes, file changes, logical changes,
observations, search entries and gaps, all inside the caller's fenced transaction.

Every row has a natural key, so a page written twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from codememory.bulk import insert_rows, int_array, text_array
from codememory.logical_changes import (
    Comparison,
    Pair,
    assign_identities,
    group_comparisons,
    pair_of,
)
from codememory.models import (
    EntryKind,
    FileChange,
    GapRecord,
    GitCommit,
    LogicalChange,
    Observation,
    ObservationKind,
    SourceKind,
)
from codememory.reclassified import (
    forget_unshown,
    reclassified_commits,
    rewrite_file_changes,
    shown_changes,
)
from codememory.search.change_fields import ChangedFile, ChangeTerms, change_fields
from codememory.search.entries import remove_entries, write_changes
from codememory.stored_contents import (
    content_ids,
    known_pairs,
    load_contents,
    make_readable,
    store_contents,
    unread_rows,
)
from codememory.stored_gaps import store_gaps, store_paths
from collectors.history import HistoryPage, classify_change
from collectors.policy import Policy
from collectors.values import ContentChange as ContentChangeValue
from collectors.values import GapReason, PathClass

__all__ = ["known_pairs", "prepare_page", "store_gaps", "store_page", "store_paths"]

UNREAD_CLASSES = (PathClass.EXCLUDED, PathClass.PROTECTED)
NAME_BYTES = 256
# Gaps of a commit's comparisons: whoever compares it again finds them again, or they are gone.
_OF_COMPARISONS = [
    GapReason.MISSING_OBJECT.value,
    GapReason.OBJECT_CORRUPT.value,
    GapReason.INVALID_TREE.value,
    GapReason.OVERSIZE.value,
    GapReason.BUDGET.value,
    GapReason.RENAME_LIMIT.value,
]


@dataclass(slots=True)
class PreparedPage:
    """A page with all that needs reading done: what is left is one transaction of writes."""

    page: HistoryPage
    policy: Policy
    algorithm: str
    comparisons: list[Comparison]
    contents: dict[Pair, ContentChangeValue]
    # Search terms of logical changes the project does not have yet, in topological order, and
    # of those whose content can be read only now.
    terms: dict[bytes, ChangeTerms] = field(default_factory=dict)
    healed: dict[Pair, int] = field(default_factory=dict)  # unread until now, with their row
    # Stored commits whose rows are of another class now: their rows are brought up to date.
    reclassified: set[int] = field(default_factory=set)


def prepare_page(
    scope_id: int,
    page: HistoryPage,
    policy: Policy,
    algorithm: str,
    terms: Mapping[tuple[str, int], ChangeTerms] = MappingProxyType({}),
    *,
    has_unread: bool = True,
) -> PreparedPage:
    """Do everything of a page that reads or computes; nothing is written.

    `terms` are those already found, by commit and parent index; without `has_unread`, no content
    of the page is looked up as one that is stored and could not be read before.
    """
    comparisons = group_comparisons(page.changes)
    contents = {(c.old_oid, c.new_oid): c for c in page.content_changes}
    missing = {
        pair_of(row)
        for row in page.changes
        if classify_change(row, policy) not in UNREAD_CLASSES and pair_of(row) not in contents
    }
    contents |= load_contents(scope_id, missing)
    healed = unread_rows(scope_id, page.content_changes) if has_unread else {}
    assign_identities(
        comparisons,
        # A change keeps the identity it got while it could not be read.
        lambda pair: None if pair in healed else contents.get(pair),
        lambda asked: _known_identities(scope_id, asked),
        {commit.oid: len(commit.parents) for commit in page.commits},
    )
    identities = {c.identity for c in comparisons if c.identity}
    known = _known_identities(scope_id, identities)
    prepared = PreparedPage(page, policy, algorithm, comparisons, contents, healed=healed)
    prepared.reclassified = reclassified_commits(scope_id, page, policy)
    for comparison in comparisons:
        identity = comparison.identity
        is_known = identity in known and not _is_healed(comparison, prepared)
        if identity and not is_known and identity not in prepared.terms:
            found = terms.get((comparison.commit_oid, comparison.parent_index))
            if found is None:
                found = change_fields(_changed_files(comparison, prepared)).weighed()
            prepared.terms[identity] = found
    return prepared


def _is_healed(comparison: Comparison, prepared: PreparedPage) -> bool:
    return any(pair_of(comparison.rows[p]) in prepared.healed for p in comparison.owned)


def _known_identities(scope_id: int, identities: Collection[bytes]) -> set[bytes]:
    found = LogicalChange.objects.filter(scope_id=scope_id, identity__in=list(identities))
    return {bytes(identity) for identity in found.values_list("identity", flat=True)}


def _changed_files(comparison: Comparison, prepared: PreparedPage) -> list[ChangedFile]:
    files = []
    for position, numbers in comparison.owned.items():
        row = comparison.rows[position]
        content = prepared.contents.get(pair_of(row))
        path_class = classify_change(row, prepared.policy)
        if content is None or path_class in UNREAD_CLASSES or not content.hunks:
            files.append(ChangedFile(row.old_path, row.new_path, path_class=path_class))
            continue
        hunks = content.hunks
        if numbers is not None:
            hunks = tuple(hunks[number - 1] for number in numbers)
        old, new = prepared.page.sides(pair_of(row))
        files.append(ChangedFile(row.old_path, row.new_path, old, new, hunks, path_class))
    return files


def store_page(scope_id: int, run_id: int, prepared: PreparedPage) -> dict[str, int]:
    """Write a prepared page; returns how many rows of each kind are new."""
    page, generation = prepared.page, prepared.policy.generation
    paths = store_paths(scope_id, _paths_of(page))
    commits = _store_commits(scope_id, prepared)
    make_readable(scope_id, generation, prepared.healed, prepared.contents)
    new_contents = store_contents(scope_id, generation, page.content_changes)
    others = {pair_of(row) for row in page.changes} - new_contents.keys()
    contents = new_contents | content_ids(scope_id, others)
    changes, new_changes = _store_logical_changes(scope_id, prepared)
    mended = _withdraw_gaps(scope_id, commits)
    shown_before = shown_changes(scope_id, prepared.reclassified | mended)
    FileChange.objects.filter(scope_id=scope_id, commit_id__in=mended).delete()
    rows = _store_file_changes(scope_id, prepared, paths, commits, contents, changes)
    gaps = store_gaps(scope_id, run_id, SourceKind.GIT, page.gaps, paths)
    # Last: it holds the row that writers of a project's index take turns on.
    _rewrite_healed(scope_id, prepared, changes, new_changes)
    forget_unshown(scope_id, shown_before)
    terms = [(changes[i], found) for i, found in prepared.terms.items() if i in changes]
    entries = write_changes(scope_id, terms)
    return {
        "new_content_changes": len(new_contents),
        "new_logical_changes": len(new_changes),
        "new_file_changes": rows,
        "new_search_entries": entries,
        "new_gaps": gaps,
    }


def _withdraw_gaps(scope_id: int, commits: Mapping[str, int]) -> set[int]:
    """Delete what earlier comparisons of these commits lacked; returns the commits of such gaps.

    Their rows may be others now: what was compared without renames may have some.
    """
    gaps = GapRecord.objects.filter(
        scope_id=scope_id,
        source=SourceKind.GIT,
        reason__in=_OF_COMPARISONS,
        commit_oid__in=list(commits),
    )
    found = {commits[oid] for oid in gaps.values_list("commit_oid", flat=True) if oid}
    gaps.delete()
    return found


def _paths_of(page: HistoryPage) -> set[bytes]:
    sides = {p for row in page.changes for p in (row.old_path, row.new_path)}
    return {p for p in sides | {gap.path for gap in page.gaps} if p is not None}


def _store_commits(scope_id: int, prepared: PreparedPage) -> dict[str, int]:
    rows = [
        (
            scope_id,
            commit.oid,
            prepared.algorithm,
            commit.tree_oid,
            text_array(commit.parents),
            commit.author.name[:NAME_BYTES],
            commit.author.email[:NAME_BYTES],
            commit.author.time,
            commit.author.offset,
            commit.committer.time,
            commit.message,
            commit.message_truncated,
        )
        for commit in prepared.page.commits
    ]
    names = [
        "scope", "oid", "algorithm", "tree_oid", "parent_oids", "author_name", "author_email",
        "author_time", "author_offset", "committer_time", "message", "is_message_truncated",
    ]  # fmt: skip
    insert_rows(GitCommit, names, rows)
    oids = {commit.oid for commit in prepared.page.commits}
    oids |= {row.commit_oid for row in prepared.page.changes}
    found = GitCommit.objects.filter(scope_id=scope_id, oid__in=list(oids))
    return dict(found.values_list("oid", "id"))


def _store_logical_changes(
    scope_id: int, prepared: PreparedPage
) -> tuple[dict[bytes, int], dict[bytes, int]]:
    """Return the ids of all identities of the page, and of those that are new."""
    rows, seen = [], set()
    for comparison in prepared.comparisons:
        identity = comparison.identity
        if identity is None or identity in seen:
            continue
        seen.add(identity)
        added, removed = _line_counts(comparison, prepared)
        rows.append((scope_id, identity, len(comparison.owned), added, removed))
    names = ["scope", "identity", "files", "added_lines", "removed_lines"]
    inserted = insert_rows(LogicalChange, names, rows, ["identity", "id"])
    new = {bytes(identity): row_id for identity, row_id in inserted}
    found = LogicalChange.objects.filter(scope_id=scope_id, identity__in=list(seen))
    ids = {bytes(identity): row_id for identity, row_id in found.values_list("identity", "id")}
    observed = [
        (scope_id, ObservationKind.FILE_CHANGED, row_id, "UNKNOWN", 1) for row_id in new.values()
    ]
    insert_rows(
        Observation, ["scope", "kind", "logical_change", "rationale", "rule_revision"], observed
    )
    return ids, new


def _rewrite_healed(
    scope_id: int, prepared: PreparedPage, ids: dict[bytes, int], new: dict[bytes, int]
) -> None:
    """Recount logical changes whose content can be read only now, and index them again."""
    healed = set()
    for comparison in prepared.comparisons:
        identity = comparison.identity
        if not identity or identity in new or not _is_healed(comparison, prepared):
            continue
        added, removed = _line_counts(comparison, prepared)
        rows = LogicalChange.objects.filter(scope_id=scope_id, pk=ids[identity])
        rows.update(added_lines=added, removed_lines=removed)
        healed.add(ids[identity])
    remove_entries(scope_id, EntryKind.CHANGE, healed)


def _line_counts(comparison: Comparison, prepared: PreparedPage) -> tuple[int, int]:
    """Sum the lines that a comparison's owned rows (or owned hunks) add and remove."""
    added = removed = 0
    for position, numbers in comparison.owned.items():
        content = prepared.contents.get(pair_of(comparison.rows[position]))
        if content is None:
            continue
        if numbers is None:
            added, removed = added + content.added_lines, removed + content.removed_lines
            continue
        for number in numbers:
            hunk = content.hunks[number - 1]
            added, removed = added + hunk.new_lines, removed + hunk.old_lines
    return added, removed


def _store_file_changes(
    scope_id: int,
    prepared: PreparedPage,
    paths: dict[bytes, int],
    commits: dict[str, int],
    contents: dict[Pair, int],
    changes: dict[bytes, int],
) -> int:
    rows = []
    for comparison in prepared.comparisons:
        if comparison.commit_oid not in commits:
            continue  # the commit itself could not be read: its gap says so
        change_id = changes.get(comparison.identity) if comparison.identity else None
        for position, row in enumerate(comparison.rows):
            path_class = classify_change(row, prepared.policy)
            is_read = path_class not in UNREAD_CLASSES
            is_owned = position in comparison.owned
            rows.append(
                (
                    scope_id,
                    commits[row.commit_oid],
                    row.parent_index,
                    row.kind,
                    row.old_mode,
                    row.new_mode,
                    paths[row.old_path] if row.old_path is not None else None,
                    paths[row.new_path] if row.new_path is not None else None,
                    row.similarity,
                    path_class.value,
                    contents.get(pair_of(row)) if is_read else None,
                    None if is_read else row.old_oid,
                    None if is_read else row.new_oid,
                    change_id if is_owned else None,
                    int_array(comparison.owned.get(position)),
                )
            )
    names = [
        "scope", "commit", "parent_index", "kind", "old_mode", "new_mode", "old_path", "new_path",
        "similarity", "path_class", "content_change", "unread_old_oid", "unread_new_oid",
        "logical_change", "hunk_numbers",
    ]  # fmt: skip
    new = len(insert_rows(FileChange, names, rows))
    rewrite_file_changes(
        scope_id,
        (dict(zip(names, row, strict=True)) for row in rows if row[1] in prepared.reclassified),
    )
    return new
