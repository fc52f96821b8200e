"""Does what a hunk did still hold? The rules in their measured order; the first match wins."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from codememory.verdicts.additions import judge_added_lines
from codememory.verdicts.deletions import judge_deleted_file, judge_removed_lines
from codememory.verdicts.lines import TextFacts, squash
from codememory.verdicts.mapping import SHARED, TextCache
from codememory.verdicts.matter import Images, Matter
from codememory.verdicts.survival import effective_lines, truly_added
from codememory.verdicts.trail import Trail, show
from codememory.verdicts.values import (
    CurrentFile,
    Flag,
    HunkCase,
    Method,
    Source,
    Verdict,
    World,
)
from collectors.values import Hunk, PathClass

NAMES_TRIED = 3
AROUND = 3  # lines on each side of a hunk that tell which of two files continues it


def judge_hunk(case: HunkCase, world: World, cache: TextCache = SHARED) -> Verdict:
    """The verdict of one hunk (or of a change without lines) in this world."""
    trail = Trail()
    if case.path_class is not PathClass.NORMAL:
        trail.note("judged at all", show(case.new_path or case.old_path), case.path_class)
        return trail.decide(Method.NOT_JUDGED)
    if case.hunk is not None and _is_missing(case):
        trail.note("0 objects", "before and after image", "an object is missing")
        return trail.decide(Method.SOURCE_UNAVAILABLE)
    if not case.is_reachable:
        twin = world.twin(case)
        if twin is not None:
            return _as_twin(case, judge_hunk(replace(twin, is_reachable=True), world, cache), twin)
        trail.note("1 reachable", case.commit_oid, "not from here, and no twin is")
    current = _current(case, world, cache)
    if current is not None and current.content is None and case.hunk is not None:
        trail.note("0 objects", show(current.path), "the file is there and cannot be read")
        return trail.decide(Method.SOURCE_UNAVAILABLE, path=current.path)
    for flag in _source_flags(current):
        trail.add_flag(flag)
    if case.hunk is None:
        return _judge_whole(case, current, trail)
    return _judge_lines(case, current, world, cache, trail)


def judge_deletion(case: HunkCase, world: World, cache: TextCache = SHARED) -> Verdict:
    """`judge_hunk` for a case known to add nothing; the deletion rules are chosen by the case."""
    if case.hunk is not None and case.hunk.new_lines:
        raise ValueError("a deletion adds no lines")
    return judge_hunk(case, world, cache)


def _is_missing(case: HunkCase) -> bool:
    is_old_missing = case.old_oid is not None and case.old_content is None
    return is_old_missing or (case.new_oid is not None and case.new_content is None)


def _as_twin(case: HunkCase, verdict: Verdict, twin: HunkCase) -> Verdict:
    trail = Trail()
    trail.note("1 reachable", case.commit_oid, f"not from here; judged by {twin.commit_oid}")
    (step,) = trail.decide(verdict.method).steps
    judged = replace(verdict, cites=twin.commit_oid, steps=(step, *verdict.steps))
    return judged.flagged(Flag.TWIN)


def _current(case: HunkCase, world: World, cache: TextCache) -> CurrentFile | None:
    """The file to judge; of several names that continue it, the one that keeps most around."""
    if case.new_path is None:  # a deleted file is looked for at its own path only
        return None if case.old_path is None else world.current(case.old_path)
    paths = world.followed_paths(case.new_path, case)[:NAMES_TRIED]
    found = [current for path in paths if (current := world.current(path)) is not None]
    if len(found) < 2 or case.hunk is None:
        return found[0] if found else None
    first = case.hunk.new_line - 1
    around = slice(max(0, first - AROUND), first + case.hunk.new_lines + AROUND)

    def kept_around(current: CurrentFile) -> int:
        if current.content is None:
            return 0
        kept = cache.kept(case.new_content or b"", current.content)[around]
        return sum(at >= 0 for at in kept)

    return max(found, key=kept_around)  # the first of equals: the likeliest


def _source_flags(current: CurrentFile | None) -> list[Flag]:
    if current is None:
        return []
    if current.source is Source.HEAD:
        return [Flag.HEAD_ONLY]
    return [Flag.DIRTY] if current.is_dirty else []


def _judge_whole(case: HunkCase, current: CurrentFile | None, trail: Trail) -> Verdict:
    """A change without lines: binary, submodule, mode. Only blobs can be compared."""
    path = None if current is None else current.path
    told = f"{case.new_oid or 'no object'} against {show(path)}"
    if case.new_oid is not None and case.new_oid == case.old_oid:
        trail.note("whole objects", told, "the change left the content alone")
        return trail.decide(Method.NOT_JUDGED, path=path)
    if case.new_path is None or current is None:
        trail.note("whole objects", told, "absent" if current is None else "there")
        gone = Method.ABSENT if case.new_path is None else _gone_method(case)
        is_back = current is not None and current.oid == case.old_oid
        return trail.decide(Method.RESTORED if is_back else gone, path=path)
    if current.oid is None:
        trail.note("whole objects", told, "the file's object id is not known")
        return trail.decide(Method.SOURCE_UNAVAILABLE, path=path)
    methods = {case.old_oid: Method.REVERTED, case.new_oid: Method.BLOB_MATCH}
    method = methods.get(current.oid, Method.REPLACED)
    trail.note("whole objects", told, method)
    return trail.decide(method, path=path)


def _gone_method(case: HunkCase) -> Method:
    return Method.FILE_GONE if case.is_reachable else Method.NOT_REACHABLE


def _judge_lines(
    case: HunkCase, current: CurrentFile | None, world: World, cache: TextCache, trail: Trail
) -> Verdict:
    content = None if current is None else current.content
    now = None if content is None else cache.facts(content)
    old = cache.facts(case.old_content or b"")
    if case.new_path is None or case.hunk is None:
        return judge_deleted_file(old, now, case.old_path, trail)
    after = case.new_content or b""
    new = cache.facts(after)
    images = Images(
        old=old,
        new=new,
        now=now,
        kept=[] if content is None else cache.kept(after, content),
        had=cache.kept(after, old.content),
    )
    old_span, new_span = _spans(case.hunk, images)
    old_normals, new_normals = images.old.normals, images.new.normals
    gone = old_normals[old_span.start : old_span.stop]
    came = new_normals[new_span.start : new_span.stop]
    added = effective_lines(new, new_span, Counter(gone))
    removed = effective_lines(old, old_span, Counter(came))
    matter = Matter(case, world, images, added, removed, new_span, current, cache, trail)
    if squash(b"".join(gone)) == squash(b"".join(came)) or not (added or removed):
        trail.note("2 effective lines", "both sides without whitespace and quotes", "none")
        return trail.decide(Method.FORMAT_ONLY, path=matter.path)
    if added:
        return judge_added_lines(replace(matter, added=truly_added(added, images)))
    if case.moved_to is not None:
        trail.note("deletions: moved", show(case.moved_to), "the same commit added them there")
        return trail.decide(Method.MOVED_BY_CHANGE, path=case.moved_to)
    return judge_removed_lines(matter)


def _spans(hunk: Hunk, images: Images) -> tuple[range, range]:
    old = _line_at(images.old, hunk.old_start, hunk.old_line, hunk.old_lines)
    new = _line_at(images.new, hunk.new_start, hunk.new_line, hunk.new_lines)
    return range(old, old + hunk.old_lines), range(new, new + hunk.new_lines)


def _line_at(facts: TextFacts, start: int, line: int, count: int) -> int:
    """Index of a side's first line; a side without lines has only its byte place to go by."""
    if count:
        return line - 1
    if start >= len(facts.content):
        return len(facts.lines)
    return facts.content.count(b"\n", 0, start)
