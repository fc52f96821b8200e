"""Characters that a reader would not see, or that a screen would obey, shown by their numbers.

Plain Python: the command line and the agents' answers show the same characters.
"""

from __future__ import annotations

import json
import re

# What moves the cursor, reverses or hides text, or is no character at all; a carriage return is
# for each place to judge. Joiners and the two emoji styles stay: words need them in some scripts.
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffc\ufffe"
    "\uffff\U000e0000-\U0010ffff"
)
_ON_A_SCREEN = re.compile(f"[{UNSEEN}\r]")


def visible(text: str) -> str:
    """Show what a terminal would obey or hide as \\xNN or \\uNNNN; line feeds and tabs stay."""
    return _ON_A_SCREEN.sub(_escaped, text)


def to_json(document: object, *, indent: int | None = 2) -> str:
    """One JSON document that is safe to print: what is unseen stands in it escaped."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return _ON_A_SCREEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
