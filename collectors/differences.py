"""Compares the two sides of a content change in process, by libgit2's diff on plain bytes.

Lines end at LF and nowhere else, as in git. No repository is opened, so no attribute or driver of
one can hide anything.
"""

from __future__ import annotations

from hashlib import sha256

from pygit2 import Patch
from pygit2.enums import DiffOption

from collectors.policy import Policy
from collectors.values import ContentChange, ContentClass, Gap, GapReason, Hunk

MAX_HUNKS = 5_000  # of one change; many tiny hunks cost more than their bytes
MAX_LINES = 150_000  # of both sides; above it the comparison may take longer than its worth
_BINARY_PROBE = 8_000  # as far as git itself looks for a NUL
_WHITESPACE = b" \t\r\n\v\f"
_Region = tuple[int, int, int, int]  # old line, old lines, new line, new lines


def compare(
    old: bytes | None, new: bytes | None, old_oid: str | None, new_oid: str | None, policy: Policy
) -> ContentChange:
    """What turns `old` into `new`; None is a side that does not exist."""
    sizes = (None if old is None else len(old), None if new is None else len(new))
    if old_oid == new_oid:
        return ContentChange(old_oid, new_oid, ContentClass.MODE_ONLY, *sizes)
    if is_binary(old) or is_binary(new):
        gap = Gap(GapReason.BINARY, oid=new_oid or old_oid)
        return ContentChange(old_oid, new_oid, ContentClass.BINARY, *sizes, gaps=(gap,))
    if is_too_costly(old, new):
        gap = Gap(GapReason.BUDGET, oid=new_oid, detail="too many lines to compare")
        return ContentChange(old_oid, new_oid, ContentClass.TEXT, *sizes, hunks_cut=1, gaps=(gap,))
    hunks = find_hunks(old or b"", new or b"")
    kept = _within_limits(hunks, policy.max_patch_bytes)
    cut = len(hunks) - len(kept)
    gaps = (Gap(GapReason.BUDGET, oid=new_oid or old_oid, detail=f"{cut} hunks"),) if cut else ()
    return ContentChange(
        old_oid,
        new_oid,
        _classify(old, new, hunks),
        *sizes,
        hunks=tuple(kept),
        added_lines=sum(hunk.new_lines for hunk in hunks),
        removed_lines=sum(hunk.old_lines for hunk in hunks),
        hunks_cut=cut,
        gaps=gaps,
    )


def is_binary(content: bytes | None) -> bool:
    return content is not None and b"\0" in content[:_BINARY_PROBE]


def is_too_costly(old: bytes | None, new: bytes | None) -> bool:
    """Two megabytes of two-byte lines take libgit2 half a minute, and nothing can stop it."""
    return all(
        side is not None and len(side) > MAX_LINES and side.count(b"\n") > MAX_LINES
        for side in (old, new)
    )


def find_hunks(old: bytes, new: bytes) -> list[Hunk]:
    """Every differing region in order, with exact byte ranges on both sides."""
    if not old and not new:
        return []
    if not old:
        return [_make_hunk(old, new, (1, 0, 1, _count_lines(new)), (0, 0, 0, len(new)))]
    if not new:
        return [_make_hunk(old, new, (1, _count_lines(old), 1, 0), (0, len(old), 0, 0))]
    patch = Patch.create_from(
        old, new, flag=DiffOption.FORCE_TEXT, context_lines=0, interhunk_lines=0
    )
    hunks = []
    old_end = new_end = 0
    for hunk in patch.hunks:
        # What lies between two hunks is equal, so one side's distance gives the other's place.
        first = next(iter(hunk.lines)).content_offset
        gap = first - (old_end if hunk.old_lines else new_end)
        old_start, new_start = old_end + gap, new_end + gap
        old_end = _skip_lines(old, old_start, hunk.old_lines)
        new_end = _skip_lines(new, new_start, hunk.new_lines)
        region = (
            hunk.old_start + (hunk.old_lines == 0),  # a side without lines counts from the one
            hunk.old_lines,  # before it
            hunk.new_start + (hunk.new_lines == 0),
            hunk.new_lines,
        )
        hunks.append(_make_hunk(old, new, region, (old_start, old_end, new_start, new_end)))
    return hunks


def _make_hunk(old: bytes, new: bytes, region: _Region, ranges: _Region) -> Hunk:
    old_start, old_end, new_start, new_end = ranges
    return Hunk(
        *region,
        *ranges,
        old_sha256=sha256(memoryview(old)[old_start:old_end]).digest(),
        new_sha256=sha256(memoryview(new)[new_start:new_end]).digest(),
    )


def _skip_lines(content: bytes, start: int, count: int) -> int:
    find = content.find
    for _ in range(count):
        start = find(b"\n", start) + 1
        if not start:
            return len(content)  # the last line has no end
    return start


def _count_lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n"))


def _within_limits(hunks: list[Hunk], max_patch_bytes: int) -> list[Hunk]:
    total = 0
    for count, hunk in enumerate(hunks):
        total += hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start
        if total > max_patch_bytes or count == MAX_HUNKS:
            return hunks[:count]
    return hunks


def _classify(old: bytes | None, new: bytes | None, hunks: list[Hunk]) -> ContentClass:
    if old is None or new is None:
        return ContentClass.TEXT
    # What is equal adds equally to both sides, so unequal hunks settle it without the whole text.
    old_size = sum(len(_drop(old[hunk.old_start : hunk.old_end])) for hunk in hunks)
    new_size = sum(len(_drop(new[hunk.new_start : hunk.new_end])) for hunk in hunks)
    if old_size != new_size or _drop(old) != _drop(new):
        return ContentClass.TEXT
    if _unify(old) == _unify(new):
        return ContentClass.LINE_ENDINGS_ONLY
    return ContentClass.FORMATTING_ONLY


def _drop(content: bytes) -> bytes:
    return content.translate(None, _WHITESPACE)


def _unify(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
