"""The enclosing symbol: is its body, without comments and white space, now what the change made it?

Asked last, when lines alone do not tell: it sees through what re-wrapping and comments hide, and
would therefore also hold before a change that is nothing but these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codememory.verdicts.lines import has_alnum, normalise
from codememory.verdicts.matter import HELD, EffectiveLine, Matter
from codememory.verdicts.trail import show
from codememory.verdicts.values import ChangedSymbol, CurrentSymbol, Method, Verdict

MIN_BODY = 60  # bytes of code: shorter bodies are equal by chance
MIN_BODY_ELSEWHERE = 150
_COMMENT = re.compile(rb"#|//|/\*|--|;|%|\(\*|^\s*\*")


def judge_symbol(matter: Matter, elsewhere: bytes | None) -> Verdict | None:
    """Rule 7: every lost line lies in a symbol whose body the change made what it is now."""
    lost = [line for line in matter.added if line.state not in HELD]
    code = [(line, _code_of(matter.images.new.lines[line.number])) for line in lost]
    if not any(text for _, text in code):
        return None  # comments: of these a body says nothing
    places = [(matter.path, MIN_BODY), (elsewhere, MIN_BODY_ELSEWHERE)]
    for path, size in places:
        if path is None or not _may_hold(matter, path, [text for _, text in code]):
            continue
        changed = _enclosing(lost, matter.world.changed_symbols(matter.case))
        if not changed:
            return None
        current = matter.world.symbols_now(path) or ()
        is_there = all(_is_equal(one, current, size) for one in changed)
        names = ", ".join(sorted({one.name for one in changed}))
        told = "what the change made it" if is_there else "not what the change made it"
        matter.trail.note("7 symbol", f"{names} in {show(path)}", told)
        if is_there:
            return matter.trail.decide(Method.SYMBOL_MATCH, share=1.0, path=path)
    return None


def is_symbol_gone(matter: Matter) -> bool:
    """Whether the innermost symbol that lines were removed from has no namesake in the file now."""
    changed = matter.world.changed_symbols(matter.case)
    inner = min(changed, key=lambda one: one.last_line - one.first_line, default=None)
    if inner is None or matter.images.now is None or matter.path is None:
        return False
    leaf = inner.name.rpartition(".")[2].encode("utf-8", "surrogatepass")
    is_gone = leaf not in matter.images.now.content
    if not is_gone:
        current = matter.world.symbols_now(matter.path)
        is_gone = current is not None and all(one.name != inner.name for one in current)
    told = "there is none of that name" if is_gone else "a symbol of that name is there"
    matter.trail.note("deletions: symbol", f"{inner.name} in {show(matter.path)}", told)
    return is_gone


def _code_of(line: bytes) -> bytes:
    """The line up to what may begin a comment in any language, without white space."""
    found = _COMMENT.search(line)
    text = normalise(line[: found.start()] if found else line)
    return text if has_alnum(text) else b""


def _may_hold(matter: Matter, path: bytes, texts: Sequence[bytes]) -> bool:
    """A body can be equal only where all its code stands: much cheaper than to parse."""
    current = matter.world.current(path)
    if current is None or current.content is None:
        return False
    whole = matter.cache.facts(current.content).joined_normals
    return all(text in whole for text in texts)


def _enclosing(
    lost: Sequence[EffectiveLine], changed: Sequence[ChangedSymbol]
) -> list[ChangedSymbol]:
    """The innermost changed symbol of each line; none where a line is in none of them."""
    found = []
    for line in lost:
        around = [one for one in changed if one.first_line <= line.number + 1 <= one.last_line]
        if not around:
            return []
        found.append(min(around, key=lambda one: one.last_line - one.first_line))
    return list(dict.fromkeys(found))


def _is_equal(one: ChangedSymbol, current: Sequence[CurrentSymbol], size: int) -> bool:
    """Equal now and other before; one copy only, or it is not known which."""
    if one.after is None or one.before == one.after:
        return False
    same = [now for now in current if now.name == one.name and now.body == one.after]
    return len(same) == 1 and same[0].size >= size
