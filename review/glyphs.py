"""Which characters of a text cannot be seen, and what to show in their place."""

from __future__ import annotations

import unicodedata

_EMOJI_JOINER = "\u200d"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_FIRST_LOST_BYTE, _LAST_LOST_BYTE = 0xDC80, 0xDCFF  # bytes kept by surrogateescape


def is_seen(text: str, index: int) -> bool:
    """Whether the character can be seen as what it is."""
    character = text[index]
    if character.isascii():
        return character.isprintable() or character in "\t\n"
    if character == _EMOJI_JOINER and 0 < index < len(text) - 1:
        return unicodedata.category(text[index + 1]) == "So"
    return unicodedata.category(character) not in _UNSEEN


def count_hidden(text: str) -> int:
    """Count the characters that cannot be seen."""
    return sum(not is_seen(text, index) for index in range(len(text)))


def code_and_name(character: str) -> tuple[str, str]:
    """Return the code to show for a character that cannot be seen, and its name."""
    code = ord(character)
    if _FIRST_LOST_BYTE <= code <= _LAST_LOST_BYTE:
        return f"0x{code - 0xDC00:02X}", "a byte that is not UTF-8"
    return f"U+{code:04X}", unicodedata.name(character, "control character")
