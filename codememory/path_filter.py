"""Finds the stored paths that a path filter means: the file itself, or what lies below a folder."""

from __future__ import annotations

from django.db.models import BinaryField, F, Func, Q, QuerySet, Value

from codememory.models import Path


def at_or_below(scope_id: int, raw: bytes) -> QuerySet[Path, int]:
    """Return the ids of a project's paths that are `raw` or lie below it, as a subquery.

    A trailing slash changes nothing; nothing at all means every path.
    """
    rows = Path.objects.filter(scope_id=scope_id)
    folder = raw.rstrip(b"/")
    if folder:
        below = folder + b"/"
        length = Value(len(below))
        head = Func(F("raw"), Value(1), length, function="substr", output_field=BinaryField())
        rows = rows.annotate(head=head).filter(Q(raw=folder) | Q(head=below))
    return rows.values_list("pk", flat=True)


def of_paths(asked: QuerySet[Path, int]) -> Q:
    """Return the condition on file changes that either side is one of these paths."""
    return Q(new_path_id__in=asked) | Q(old_path_id__in=asked)
