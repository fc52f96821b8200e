"""Where the secrets of a content are, remembered for the questions that follow.

They depend on its bytes and on the rules of this very code, on nothing else: the key is a digest of
the bytes, and a process has one set of rules. Whether a content may be read, and under which key
its secrets are marked, is asked of the policy each time, after this.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from threading import Lock

from collectors.redact import find_secrets
from collectors.values import Redaction

MOST_SPANS = 20_000  # in all; a content without any counts as one
_kept: OrderedDict[bytes, tuple[Redaction, ...]] = OrderedDict()
_lock = Lock()
_held = 0


def spans_of(content: bytes) -> tuple[Redaction, ...]:
    """`find_secrets` of a content, looked for once."""
    global _held  # noqa: PLW0603 -- one count for the one table
    key = blake2b(content, digest_size=32).digest()
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
            return found
    found = find_secrets(content)
    with _lock:
        if key not in _kept:
            _kept[key] = found
            _held += max(1, len(found))
        while _held > MOST_SPANS:
            _, dropped = _kept.popitem(last=False)
            _held -= max(1, len(dropped))
    return found
