"""Writes paths and gaps as rows, for every source; called inside the caller's transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable

from django.conf import settings

from codememory.bulk import insert_rows
from codememory.models import GapRecord, Path
from collectors.redact import find_secrets, redact
from collectors.values import Gap

DETAIL_CHARACTERS = 200


def store_paths(scope_id: int, raw_paths: Collection[bytes]) -> dict[bytes, int]:
    """Return the row id of each path, making rows where needed."""
    digests = {hashlib.sha256(raw).digest(): raw for raw in sorted(raw_paths)}
    found: dict[bytes, int] = {}
    known = Path.objects.filter(scope_id=scope_id, digest__in=list(digests))
    for row_id, digest in known.values_list("id", "digest"):
        found[digests[bytes(digest)]] = row_id
    rows = [(scope_id, raw, digest) for digest, raw in digests.items() if raw not in found]
    for row_id, raw in insert_rows(Path, ["scope", "raw", "digest"], rows, ["id", "raw"]):
        found[bytes(raw)] = row_id
    if len(found) < len(digests):  # another transaction made some meanwhile
        again = Path.objects.filter(scope_id=scope_id, digest__in=list(digests))
        found |= {digests[bytes(d)]: row_id for row_id, d in again.values_list("id", "digest")}
    return found


def store_gaps(
    scope_id: int, run_id: int, source: str, gaps: Iterable[Gap], paths: dict[bytes, int]
) -> int:
    """Write gaps; one found before is the same row. Returns how many are new."""
    rows = [
        (
            scope_id,
            run_id,
            source,
            gap.reason.value,
            paths[gap.path] if gap.path is not None else None,
            gap.oid,
            gap.commit_oid,
            _detail(gap),
        )
        for gap in gaps
    ]
    names = [
        "scope", "run", "source", "reason", "path", "object_oid", "commit_oid", "detail",
    ]  # fmt: skip
    return len(insert_rows(GapRecord, names, rows))


def _detail(gap: Gap) -> str:
    """What the gap says, which may be a pattern out of the project's own ignore file."""
    raw = gap.detail.encode()
    text = redact(raw, find_secrets(raw), settings.CODEMEMORY_REDACTION_KEY)[0].decode()
    return text[:DETAIL_CHARACTERS]
