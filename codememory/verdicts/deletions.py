"""Does a removal still hold? Judged by the place it left and by whether its lines are back."""

from __future__ import annotations

from dataclasses import dataclass

from codememory.verdicts.bodies import is_symbol_gone
from codememory.verdicts.lines import TextFacts
from codememory.verdicts.matter import EffectiveLine, Images, Matter
from codememory.verdicts.trail import Trail, show
from codememory.verdicts.values import Method, Verdict

BACK_WHOLLY = 0.8
BACK_PARTLY = 0.2


@dataclass(frozen=True, slots=True)
class Site:
    """Where the removed lines would be now: the mapped neighbours on each side, None if lost."""

    above: int | None
    below: int | None

    @property
    def is_kept(self) -> bool:
        return self.above is not None and self.below is not None and self.above < self.below


def judge_removed_lines(matter: Matter) -> Verdict:
    trail, now, path = matter.trail, matter.images.now, matter.path
    if now is None:
        trail.note("deletions: its place", show(path), "the file is gone")
        return trail.decide(Method.CONTEXT_GONE)
    site = find_site(matter.span, matter.images, now)
    after = matter.images.new.counts
    vanished = [line for line in matter.removed if not after[line.normal]]
    told = f"{len(matter.removed)} removed lines, {len(vanished)} nowhere in the file afterwards"
    between = len(_between(site, now))
    if not vanished:
        is_intact = site.is_kept and not between
        trail.note("deletions: vanished lines", told, "only the place can tell")
        trail.note("deletions: neighbours", show(path), "adjacent" if is_intact else "parted")
        return trail.decide(Method.SITE_INTACT if is_intact else Method.DUPLICATED_LINES, path=path)
    asked, back = _lines_back(vanished, site, now)
    trail.note("deletions: lines back", told, f"{len(back)} of {len(asked)} asked for are back")
    if back:
        share = sum(len(line.normal) for line in back) / sum(len(line.normal) for line in asked)
        method = Method.RESTORED if len(back) == len(asked) else Method.PARTLY_RESTORED
        return trail.decide(method, share=share, path=path)
    if site.is_kept:
        trail.note("deletions: neighbours", show(path), f"both kept, {between} lines between them")
        return trail.decide(Method.SITE_EDITED if between else Method.SITE_INTACT, path=path)
    if is_symbol_gone(matter):
        return trail.decide(Method.CONTEXT_GONE, path=path)
    strong = sum(line.is_strong for line in vanished)
    trail.note("deletions: neighbours", show(path), f"not kept; {strong} strong lines are absent")
    return trail.decide(Method.ABSENT if strong else Method.WEAK_ONLY, path=path)


def _lines_back(
    vanished: list[EffectiveLine], site: Site, now: TextFacts
) -> tuple[list[EffectiveLine], list[EffectiveLine]]:
    """(lines asked for, those that are back): strong ones anywhere, else weak ones at the place."""
    strong = [line for line in vanished if line.is_strong]
    if strong:
        return strong, [line for line in strong if now.counts[line.normal]]
    there = {now.normals[number] for number in _between(site, now)} if site.is_kept else set()
    return vanished, [line for line in vanished if line.normal in there]


def find_site(span: range, images: Images, now: TextFacts) -> Site:
    """Map the nearest lines with text around a span of the after image to the file now."""
    new, kept = images.new, images.kept
    end = len(new.normals)
    above = next((n for n in range(span.start - 1, -1, -1) if new.normals[n]), -1)
    below = next((n for n in range(span.stop, end) if new.normals[n]), end)
    mapped_above = -1 if above < 0 else kept[above]
    mapped_below = len(now.normals) if below == end else kept[below]
    return Site(
        above=None if above >= 0 and mapped_above < 0 else mapped_above,
        below=None if mapped_below < 0 else mapped_below,
    )


def _between(site: Site, now: TextFacts) -> list[int]:
    if site.above is None or site.below is None:
        return []
    return [number for number in range(site.above + 1, site.below) if now.normals[number]]


def judge_deleted_file(
    old: TextFacts, now: TextFacts | None, path: bytes | None, trail: Trail
) -> Verdict:
    """A deleted file stays deleted while its path is absent or holds something else."""
    if now is None:
        trail.note("deleted file", show(path), "the path is absent")
        return trail.decide(Method.ABSENT)
    strong = {old.normals[number] for number in old.strong} or {
        old.normals[number] for number in old.solid
    }
    back = sum(1 for normal in strong if now.counts[normal])
    share = back / len(strong) if strong else 0.0
    trail.note("deleted file", show(path), f"the path is back with {back} of {len(strong)} lines")
    if share >= BACK_WHOLLY:
        return trail.decide(Method.RESTORED, share=share, path=path)
    if share >= BACK_PARTLY:
        return trail.decide(Method.PARTLY_RESTORED, share=share, path=path)
    return trail.decide(Method.ABSENT, share=share, path=path)
