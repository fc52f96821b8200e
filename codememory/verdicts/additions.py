"""Rules 3 to 11: what became of the lines that a hunk added."""

from __future__ import annotations

from codememory.verdicts.bodies import judge_symbol
from codememory.verdicts.deletions import find_site
from codememory.verdicts.elsewhere import mark_elsewhere
from codememory.verdicts.matter import HELD, LineState, Matter
from codememory.verdicts.survival import mark_in_place, mark_moved_in_file, mark_reformatted
from codememory.verdicts.trail import show
from codememory.verdicts.values import Flag, Method, Verdict

REVERT_CHARACTERS = 40  # below it a match may be a value that came back by itself
REVERT_SHARE = 0.8  # of the commit, before a gone pure addition is called reverted


def judge_added_lines(matter: Matter) -> Verdict:
    if _is_same_blob(matter):
        matter.trail.note("3 blob", show(matter.path), "the after image, byte for byte")
        _flag_reapplied(matter)
        return matter.trail.decide(Method.BLOB_MATCH, share=1.0, path=matter.path)
    mark_in_place(matter)
    in_place = _judge_in_place(matter)
    if in_place is not None:
        return in_place
    mark_moved_in_file(matter)
    mark_reformatted(matter)
    elsewhere = mark_elsewhere(matter)
    told = ", ".join(f"{count} {state}" for state, count in matter.states.most_common())
    compared = f"{len(matter.added)} effective lines against {show(matter.path)}"
    matter.trail.note("4 each line", compared, told)
    return (
        _judge_moved(matter, elsewhere)
        or judge_symbol(matter, elsewhere)
        or _judge_partial(matter, elsewhere)
        or _judge_gone(matter)
    )


def _is_same_blob(matter: Matter) -> bool:
    case, current = matter.case, matter.current
    if current is None:
        return False
    if case.new_oid is not None and current.oid is not None:
        return case.new_oid == current.oid
    return case.new_content == current.content


def _judge_in_place(matter: Matter) -> Verdict | None:
    in_place = matter.states[LineState.IN_PLACE]
    strong = sum(line.is_strong for line in matter.added)
    answer = f"{in_place} of {len(matter.added)} effective lines in place ({strong} are strong)"
    matter.trail.note("5 in place", show(matter.path), answer)
    if in_place < len(matter.added):
        return None
    _flag_reapplied(matter)
    images = matter.images
    fresh = [line for line in matter.added if images.had[line.number] < 0 or line.is_gain]
    if any(line.is_strong for line in fresh):
        method = Method.LINES_IN_PLACE
    elif any(not images.old.counts[line.normal] for line in fresh):
        method = Method.LINES_WEAK_IN_PLACE
    else:
        method = Method.WEAK_ONLY
    return matter.trail.decide(method, share=1.0, path=matter.path)


def _judge_moved(matter: Matter, elsewhere: bytes | None) -> Verdict | None:
    """Rule 6: every line is held, not all of them in place."""
    states = matter.states
    if not set(states) <= HELD:
        return None
    if states[LineState.ELSEWHERE]:
        matter.trail.note("6 moved", show(elsewhere), "in runs, in a file that lacked them")
        return matter.trail.decide(Method.LINES_MOVED_FILE, share=1.0, path=elsewhere)
    matter.trail.note("6 moved", show(matter.path), "all held in the file")
    is_moved = states[LineState.MOVED] > 0
    method = Method.LINES_MOVED_IN_FILE if is_moved else Method.REFORMATTED
    return matter.trail.decide(method, share=1.0, path=matter.path)


def _judge_partial(matter: Matter, elsewhere: bytes | None) -> Verdict | None:
    """Rules 8 and 9: a part is held, or a telling line stands in one other file."""
    states, share = matter.states, matter.share
    if share > 0:
        path = elsewhere if states[LineState.ELSEWHERE] else matter.path
        matter.trail.note("8 part", show(path), f"{share:.0%} by characters")
        return matter.trail.decide(Method.LINES_PARTIAL, share=share, path=path)
    found = states[LineState.MAYBE_ELSEWHERE]
    if found:
        matter.trail.note("9 elsewhere", show(elsewhere), f"{found} lines, in that file only")
        return matter.trail.decide(Method.CONTENT_ELSEWHERE, share=0.0, path=elsewhere)
    return None


def _judge_gone(matter: Matter) -> Verdict:
    """Rules 10 and 11: nothing is left; absence is the proof, the inverse only the citation."""
    trail, path = matter.trail, matter.path
    inverse = matter.world.inverse(matter.case)
    cites = None if inverse is None else inverse.commit_oid
    is_back = _is_before_side_back(matter)
    is_addition = not matter.removed
    if is_addition:
        is_reverted = inverse is not None and inverse.share >= REVERT_SHARE
    else:
        is_reverted = is_back or inverse is not None
    told = f"{len(matter.removed)} removed lines {'are' if is_back else 'are not'} all back"
    trail.note("10 reverted", told, "no inverse hunk" if cites is None else f"undone by {cites}")
    if is_reverted:
        if matter.characters < REVERT_CHARACTERS:
            trail.add_flag(Flag.VALUE_RESTORED)
        return trail.decide(Method.REVERTED, share=0.0, path=path, cites=cites)
    if not matter.case.is_reachable:
        method = Method.NOT_REACHABLE
    elif matter.current is None:
        method = Method.FILE_GONE
    else:
        method = Method.REMOVED if is_addition else Method.REPLACED
    trail.note("11 absence", show(path), f"no effective line is left: {method}")
    return trail.decide(method, share=0.0, path=path, cites=cites)


def _is_before_side_back(matter: Matter) -> bool:
    """Every removed line that the change made absent is there again; weak ones at their place."""
    images, now = matter.images, matter.images.now
    made_absent = [line for line in matter.removed if not images.new.counts[line.normal]]
    if now is None or not made_absent:
        return False
    site = find_site(matter.span, images, now)
    at_site: set[bytes] = set()
    if site.above is not None and site.below is not None:
        at_site = set(now.normals[site.above + 1 : site.below])
    return all(
        now.counts[line.normal] > 0 if line.is_strong else line.normal in at_site
        for line in made_absent
    )


def _flag_reapplied(matter: Matter) -> None:
    if matter.characters < REVERT_CHARACTERS:
        return
    inverse = matter.world.inverse(matter.case)
    if inverse is not None:
        matter.trail.note("reapplied", inverse.commit_oid, "undid it in between")
        matter.trail.add_flag(Flag.REAPPLIED)
