"""What reviewers write: on one line, and nothing where no character of it would be seen."""

from __future__ import annotations

import unicodedata

from codememory.typed_secrets import secrets_in

MAX_REASON = 500
BLANK = "\u115f\u1160\u3164\uffa0\u2800"  # letters and signs that are drawn as nothing


def one_line(text: str) -> str:
    """The text on one line, cut; nothing where no character of it would be seen."""
    line = " ".join(text.split())
    return line[:MAX_REASON] if any(map(_is_seen, line)) else ""


def why_secret(text: str) -> str | None:
    """Say what looks like a secret in what was typed, which is kept for good; None: nothing."""
    kinds = [kind.replace("_", " ") for kind in secrets_in(text)]
    if not kinds:
        return None
    return f"This looks like a secret ({', '.join(kinds)}), and would be kept. Take it out first."


def with_article(constant: str) -> str:
    """Put "A" or "An" before a constant said as a word."""
    word = constant.lower()
    return f"{'An' if word[0] in 'aeiou' else 'A'} {word}"


def _is_seen(character: str) -> bool:
    """Whether it leaves a mark of its own: no space, control, format, filler or lone accent."""
    kind = unicodedata.category(character)
    return kind[0] in "LNPS" and character not in BLANK
