"""Content changes as rows: each pair of blobs once, read back, and made whole when it can be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from django.db import connection
from django.db.models import Q

from codememory.bulk import insert_rows, int_array
from codememory.logical_changes import Pair
from codememory.models import ContentChange, GapRecord, SourceKind
from collectors.values import ContentChange as ContentChangeValue
from collectors.values import ContentClass, Hunk

# Of a content change that is read now: it was not, or not to its end.
_NOT_READ = "(c.content_class IN ('UNREAD', 'OVERSIZE') OR c.hunks_cut > 0)"


def known_pairs(scope_id: int, pairs: Collection[Pair], since: int) -> set[Pair]:
    """Return those pairs of blobs that are analysed; one that could not be read is tried again.

    So is one that was too large under the limits of a policy generation before `since`.
    """
    is_whole = "c.content_class <> 'OVERSIZE' AND c.hunks_cut = 0"
    is_read = f"c.content_class <> 'UNREAD' AND (c.policy_generation >= {since:d} OR {is_whole})"
    return set(content_ids(scope_id, pairs, f"AND {is_read}"))


def content_ids(scope_id: int, pairs: Collection[Pair], more: str = "") -> dict[Pair, int]:
    """Return the rows of those pairs that are stored; `more` narrows them, in SQL of ours."""
    table = ContentChange._meta.db_table
    asked = "FROM unnest(%s::text[], %s::text[]) AS a (o, n) JOIN"
    # Three statements, so that each is an equality the unique index serves.
    kinds = (
        ("c.old_oid = a.o AND c.new_oid = a.n", [p for p in pairs if p[0] and p[1]]),
        ("c.old_oid IS NULL AND c.new_oid = a.n", [p for p in pairs if p[1] and not p[0]]),
        ("c.new_oid IS NULL AND c.old_oid = a.o", [p for p in pairs if p[0] and not p[1]]),
    )
    found: dict[Pair, int] = {}
    with connection.cursor() as cursor:
        for condition, of_kind in kinds:
            if not of_kind:
                continue
            cursor.execute(
                f"SELECT c.old_oid, c.new_oid, c.id {asked} {table} c "
                f"ON c.scope_id = %s AND {condition} {more}",
                [[p[0] for p in of_kind], [p[1] for p in of_kind], scope_id],
            )
            found |= {(old, new): row_id for old, new, row_id in cursor.fetchall()}
    return found


def load_contents(scope_id: int, pairs: Collection[Pair]) -> dict[Pair, ContentChangeValue]:
    """Read stored content changes back as values (for merges and for content seen again)."""
    ids = content_ids(scope_id, pairs)
    rows = ContentChange.objects.filter(scope_id=scope_id, pk__in=list(ids.values()))
    return {
        (row.old_oid, row.new_oid): ContentChangeValue(
            old_oid=row.old_oid,
            new_oid=row.new_oid,
            content_class=ContentClass(row.content_class),
            hunks=tuple(row.hunks()),
            added_lines=row.added_lines,
            removed_lines=row.removed_lines,
            hunks_cut=row.hunks_cut,
        )
        for row in rows
    }


def unread_rows(scope_id: int, contents: Iterable[ContentChangeValue]) -> dict[Pair, int]:
    """Return the rows of those that are read now and were not, or not to their end."""
    unread = {ContentClass.UNREAD, ContentClass.OVERSIZE}
    read_now = [(c.old_oid, c.new_oid) for c in contents if c.content_class not in unread]
    return content_ids(scope_id, read_now, f"AND {_NOT_READ}")


def has_unread(scope_id: int) -> bool:
    """Whether anything is stored that could not be read, or not to its end."""
    rows = ContentChange.objects.filter(scope_id=scope_id)
    unread = Q(content_class__in=[ContentClass.UNREAD.value, ContentClass.OVERSIZE.value])
    return rows.filter(unread | Q(hunks_cut__gt=0)).exists()


def store_contents(
    scope_id: int, generation: int, contents: Sequence[ContentChangeValue]
) -> dict[Pair, int]:
    """Write those that are not stored; returns the rows of the new ones."""
    rows = [
        (
            scope_id,
            content.old_oid,
            content.new_oid,
            content.content_class.value,
            content.old_size,
            content.new_size,
            content.added_lines,
            content.removed_lines,
            int_array(_hunk_numbers(content.hunks)),
            b"".join(h.old_sha256 + h.new_sha256 for h in content.hunks),
            content.hunks_cut,
            generation,
            1,
        )
        for content in contents
    ]  # fmt: skip
    names = [
        "scope", "old_oid", "new_oid", "content_class", "old_size", "new_size", "added_lines",
        "removed_lines", "hunk_ranges", "hunk_digests", "hunks_cut", "policy_generation",
        "extractor_revision",
    ]  # fmt: skip
    new = insert_rows(ContentChange, names, rows, ["old_oid", "new_oid", "id"])
    return {(old, new): row_id for old, new, row_id in new}


def make_readable(
    scope_id: int,
    generation: int,
    rows: Mapping[Pair, int],
    contents: Mapping[Pair, ContentChangeValue],
) -> None:
    """Bring content changes that could not be read up to date, in their rows; drop their gaps."""
    for pair, row_id in rows.items():
        content = contents[pair]
        ContentChange.objects.filter(scope_id=scope_id, pk=row_id).update(
            content_class=content.content_class.value,
            old_size=content.old_size,
            new_size=content.new_size,
            added_lines=content.added_lines,
            removed_lines=content.removed_lines,
            hunk_ranges=list(_hunk_numbers(content.hunks)),
            hunk_digests=b"".join(h.old_sha256 + h.new_sha256 for h in content.hunks),
            hunks_cut=content.hunks_cut,
            policy_generation=generation,
        )
        GapRecord.objects.filter(
            scope_id=scope_id, source=SourceKind.GIT, object_oid__in=[o for o in pair if o]
        ).delete()


def _hunk_numbers(hunks: Iterable[Hunk]) -> Iterator[int]:
    for h in hunks:
        yield from (
            h.old_line, h.old_lines, h.new_line, h.new_lines,
            h.old_start, h.old_end, h.new_start, h.new_end,
        )  # fmt: skip
