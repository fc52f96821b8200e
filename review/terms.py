"""With what a candidate is promoted: edited wording, where it holds, on what it depends.

Checked once, against what the project holds; the decision keeps them, and the memory repeats them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from codememory.models import Candidate, NarrowKind, ReviewDecision
from codememory.narrowing import plain_symbol
from codememory.path_filter import at_or_below
from codememory.paths import raw_path, shown_path
from codememory.symbol_lookup import names_like
from review.glyphs import count_hidden
from review.words import one_line, why_secret

MAX_WORDING = 2000
MAX_PLACE = 1000
NO_WORDING = "Write the words that are to hold, then promote again."
HIDDEN_WORDING = "Your wording holds {} that nobody can see. Take {} out, then promote again."
NO_CONTEXT = "Say in a few words on what it depends, then promote again."
NO_PLACE = "Name the file, the folder or the symbol in which it holds, then promote again."


@dataclass(frozen=True, slots=True)
class Terms:
    """`wording` None: the candidate's own words; blank texts: no narrowing, no context."""

    wording: str | None = None
    narrow_kind: str = ""
    narrow_to: str = ""
    context: str = ""

    @property
    def is_plain(self) -> bool:
        return self == AS_IT_IS


AS_IT_IS = Terms()


def terms_of(decision: ReviewDecision) -> Terms:
    """Return the terms that a decision keeps."""
    return Terms(decision.wording, decision.narrow_kind, decision.narrow_to, decision.context)


def settle_terms(candidate: Candidate, asked: Terms) -> Terms | str:
    """Return the terms as they are to be kept, or the sentence that refuses them."""
    terms = _settle_wording(candidate, asked)
    if isinstance(terms, str):
        return terms
    place = _settle_place(candidate.scope_id, asked)
    if isinstance(place, str):
        return place
    if asked.context and not one_line(asked.context):
        return NO_CONTEXT
    if refusal := why_secret(asked.context):
        return refusal
    kind, to = place
    return replace(terms, narrow_kind=kind, narrow_to=to, context=one_line(asked.context))


def _settle_wording(candidate: Candidate, asked: Terms) -> Terms | str:
    """Edited words stand on one line, as statements do; what is not edited is none."""
    if asked.wording is None or asked.wording == candidate.statement:
        return replace(asked, wording=None)
    wording = " ".join(asked.wording.split())
    if wording == " ".join(candidate.statement.split()):
        return replace(asked, wording=None)
    if not one_line(wording):
        return NO_WORDING
    if len(wording) > MAX_WORDING:
        return f"Say it in {MAX_WORDING} characters or fewer."
    if hidden := count_hidden(wording):
        one = hidden == 1
        return HIDDEN_WORDING.format(
            "a character" if one else f"{hidden} characters", "it" if one else "them"
        )
    if refusal := why_secret(wording):
        return refusal
    return replace(asked, wording=wording)


def _settle_place(scope_id: int, asked: Terms) -> tuple[str, str] | str:
    to = " ".join(asked.narrow_to.split()) if asked.narrow_kind == "SYMBOL" else asked.narrow_to
    if not asked.narrow_kind:
        return "", ""
    if not to.strip():
        return NO_PLACE
    if asked.narrow_kind == NarrowKind.PATH:
        raw = raw_path(to.strip().removeprefix("./")).rstrip(b"/")
        if not raw or b"\0" in raw or not at_or_below(scope_id, raw).exists():
            return (
                f"Nothing was ever read at {to.strip()[:MAX_PLACE]}: name a path of this project."
            )
        return NarrowKind.PATH, shown_path(raw) or ""
    plain = plain_symbol(to)
    if not names_like(scope_id, plain):
        return f"No symbol {plain[:MAX_PLACE]} was read in this project: name one, or a path."
    return NarrowKind.SYMBOL, plain
