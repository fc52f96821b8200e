"""The one escape by which paths of any bytes are shown and asked for: lossless both ways.

A path is UTF-8 text; a byte that is not, a control character, a mark that is not seen but turns or
breaks the text around it, and a backslash become `\\xNN` for each byte.
"""

from __future__ import annotations

import hashlib
import re

from django.conf import settings

from collectors.redact import redact_path

_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\\\\\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def shown_path(raw: bytes | None) -> str | None:
    """Return the text form of a path; None stays None."""
    if raw is None:
        return None
    text = raw.decode("utf-8", "surrogateescape")
    text = _HIDDEN.sub(lambda match: "".join(f"\\x{b:02x}" for b in match[0].encode()), text)
    return "".join(f"\\x{ord(c) - 0xDC00:02x}" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text)


def raw_path(text: str) -> bytes:
    """Return the bytes that `shown_path` was given; a secret in a path is asked for by its mark."""
    parts = _ESCAPED.split(text)
    raw = b"".join(
        bytes([int(part, 16)]) if index % 2 else _encoded(part) for index, part in enumerate(parts)
    )
    return redact_path(raw, settings.CODEMEMORY_REDACTION_KEY)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "surrogatepass")


def path_digest(raw: bytes) -> bytes:
    """Return the key by which a path's row is found."""
    return hashlib.sha256(raw).digest()
