"""What became of each effective added line within its own file: in place, moved or re-wrapped.

Where a line is found says more than how long it is: in place it is alive in 98 of 100 cases,
elsewhere in the same file in 44, in another file in 17.
"""

from __future__ import annotations

from collections import Counter

from codememory.verdicts.lines import TextFacts, has_alnum, is_prose, is_strong, squash
from codememory.verdicts.matter import EffectiveLine, Images, LineState, Matter
from codememory.verdicts.runs import Runs, carry_weak

MIN_RUN_IN_FILE = 2
MIN_REFORMATTED = 20  # characters: shorter text occurs by chance


def effective_lines(
    side: TextFacts, span: range, other_side: Counter[bytes]
) -> list[EffectiveLine]:
    """Lines of one side of a hunk less those of the other, without lines of punctuation only."""
    balance = other_side.copy()
    found = []
    for number in span:
        normal = side.normals[number]
        if balance[normal] > 0:
            balance[normal] -= 1
        elif has_alnum(normal):
            found.append(EffectiveLine(number, normal, is_strong(side.lines[number])))
    return found


def truly_added(lines: list[EffectiveLine], images: Images) -> list[EffectiveLine]:
    """Without the lines that the comparison used here finds in place before the change already.

    They are what the change moved, or aligned otherwise: in place now, they prove nothing. When no
    other line is left they are returned, none of them a gain.
    """
    for line in lines:
        line.is_gain = images.new.counts[line.normal] > images.old.counts[line.normal]
    fresh = [line for line in lines if line.is_gain or images.had[line.number] < 0]
    if fresh:
        return fresh
    return lines


def mark_in_place(matter: Matter) -> None:
    """Kept by the comparison, unless fewer of the same are left than the hunk had brought.

    A line that stands more than once must have kept a neighbour too: else it may be another.
    """
    images = matter.images
    if images.now is None:
        return
    old, new, now = images.old.counts, images.new.counts, images.now.counts
    for line in matter.added:
        if images.kept[line.number] < 0:
            continue
        had, has = new[line.normal], now[line.normal]
        is_spent = had > 1 and has < had and has <= old[line.normal]
        if is_spent:
            continue
        is_known = has == 1 or _has_kept_neighbour(line.number, images)
        line.state = LineState.IN_PLACE if is_known else LineState.MAYBE_MOVED


def _has_kept_neighbour(number: int, images: Images) -> bool:
    """Whether the line with text before or after is still the one before or after it now."""
    now = images.now
    if now is None:
        return False
    here, there = images.new.solid_at[number], now.solid_at[images.kept[number]]
    for step in (1, -1):
        beside, beside_now = here + step, there + step
        is_edge = not 0 <= beside < len(images.new.solid)
        is_edge_now = not 0 <= beside_now < len(now.solid)
        if is_edge or is_edge_now:
            if is_edge and is_edge_now:
                return True
        elif images.kept[images.new.solid[beside]] == now.solid[beside_now]:
            return True
    return False


def mark_moved_in_file(matter: Matter) -> None:
    """Strong lines found where the file had no such line before, in order with neighbours."""
    images, now = matter.images, matter.images.now
    lost = [line for line in matter.added if line.state is LineState.GONE]
    if now is None or not lost:
        return
    taken = {number for number in images.kept if number >= 0}  # there all along: no trace of it
    runs = Runs(images.new, matter.span, now)
    matched: dict[int, int] = {}
    for line in lost:
        if not line.is_strong:
            continue
        length, at = runs.longest(line.number, taken)
        # A line that the change had itself moved within the file is no sure trace of it.
        if length >= MIN_RUN_IN_FILE and line.is_gain:
            line.state = LineState.MOVED
            matched[line.number] = at
        elif length:
            line.state = LineState.MAYBE_MOVED
    carry_weak(lost, matched, images.new, now, LineState.MOVED)


def mark_reformatted(matter: Matter) -> None:
    """Lost lines whose text, joined, stands across other line ends now and did not before."""
    images, now = matter.images, matter.images.now
    if now is None:
        return
    anywhere = is_prose(matter.case.new_path)
    for group in _lost_groups(matter.added, images.new):
        for piece in [group, *([line] for line in group)] if len(group) > 1 else [group]:
            text = squash(b"".join(line.normal for line in piece))
            is_telling = len(text) >= MIN_REFORMATTED and any(line.is_strong for line in piece)
            if not is_telling or any(now.counts[line.normal] for line in piece):
                continue
            is_new = not images.old.has_joined(text, anywhere=anywhere)
            if is_new and now.has_joined(text, anywhere=anywhere):
                for line in piece:
                    line.state = LineState.REFORMATTED


def _lost_groups(lines: list[EffectiveLine], new: TextFacts) -> list[list[EffectiveLine]]:
    """Lost lines that stood together (lines of punctuation only do not part them)."""
    position = new.solid_at
    groups: list[list[EffectiveLine]] = []
    for line in lines:
        if line.state not in {LineState.GONE, LineState.MAYBE_MOVED}:
            continue
        if groups and position[groups[-1][-1].number] + 1 == position[line.number]:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups
