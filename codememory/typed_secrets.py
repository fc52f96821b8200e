"""What people type is kept for good as well: whether it holds a secret, by the rules of reading."""

from __future__ import annotations

from collectors.redact import find_secrets


def secrets_in(text: str) -> list[str]:
    """Return the kind of each secret that would be cut out of a document, in order, each once."""
    raw = text.encode("utf-8", "surrogateescape")
    return [*dict.fromkeys(found.kind for found in find_secrets(raw))]
