"""Finds the stored paths that a path filter means: the file itself, or what lies below a folder."""

from __future__ import annotations

import hashlib

from django.db.models import Q, QuerySet

from codememory.models import Path
from codememory.models.evidence import PATH_HEAD, path_head

MOST_LISTED = 2_000


def at_or_below(scope_id: int, raw: bytes) -> QuerySet[Path, int]:
    """Return the ids of a project's paths that are `raw` or lie below it, as a subquery.

    A trailing slash changes nothing; nothing at all means every path.
    """
    rows = Path.objects.filter(scope_id=scope_id)
    folder = raw.rstrip(b"/")
    if folder:
        below = folder + b"/"
        # The index has a path's first bytes only: they find it, and its whole folder decides.
        first = below[:PATH_HEAD]
        rows = rows.annotate(head=path_head(PATH_HEAD), whole=path_head(len(below)))
        is_file = Q(digest=hashlib.sha256(folder).digest())
        is_below = Q(head__gte=first, head__lte=first.ljust(PATH_HEAD, b"\xff"), whole=below)
        rows = rows.filter(is_file | is_below)
    return rows.values_list("pk", flat=True)


def of_paths(asked: QuerySet[Path, int]) -> Q:
    """Return the condition on file changes that either side is one of these paths."""
    # Two subqueries joined by OR keep the planner from both indexes: few paths are listed.
    listed = list(asked[: MOST_LISTED + 1])
    among = listed if len(listed) <= MOST_LISTED else asked
    return Q(new_path_id__in=among) | Q(old_path_id__in=among)
