"""The keys of a policy: what each means, how its words are read, and how two policies differ.

Values are plain: sources are `{"git": "enabled", ...}`, globs lists, bytes and days numbers or
None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codememory.errors import CodeMemoryError
from codememory.models import SourceKind
from collectors.policy import MAX_GLOBS, glob_error

ENABLED, DISABLED, ARCHIVED = STATES = ("enabled", "disabled", "archived")
UNITS = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 10**6, "mb": 10**6, "g": 10**9, "gb": 10**9}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30}
NOTHING_BEHIND = (
    "provider stays off: no code here sends evidence to a model, so there is nothing to allow"
)
Values = dict[str, Any]
_SIZE = re.compile(r"([0-9]{1,15})\s*([a-z]{0,3})", re.IGNORECASE)
_SWITCH = {"on": True, "off": False}


class PolicyError(CodeMemoryError):
    """A policy cannot say that; `key` is where, the text is a sentence for the owner."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its title and help, and the reader of its words; `is_reading`: says what is read."""

    title: str
    help: str
    read: Callable[[str, Sequence[str], Any], Any]
    is_reading: bool = False


def changed(values: Values, key: str, words: Sequence[str]) -> Values:
    """Return the values with one key set to what the words say. Raises PolicyError."""
    if key not in KEYS:
        raise PolicyError(key, f"there is no such key; the keys are {', '.join(KEYS)}")
    return {**values, key: KEYS[key].read(key, words, values[key])}


def difference(old: Values, new: Values) -> dict[str, dict[str, Any]]:
    """What differs, by key: `{"from": ..., "to": ...}`; of lists and sources only what differs."""
    found: dict[str, dict[str, Any]] = {}
    for key in KEYS:
        if old[key] != new[key]:
            found[key] = _part(old[key], new[key])
    return found


def _part(old: Any, new: Any) -> dict[str, Any]:
    if isinstance(old, dict):
        names = [name for name in new if old.get(name) != new[name]]
        return {"from": {n: old.get(n) for n in names}, "to": {n: new[n] for n in names}}
    if isinstance(old, list):
        added = [glob for glob in new if glob not in old]
        removed = [glob for glob in old if glob not in new]
        if added or removed:
            return {"added": added, "removed": removed}
    return {"from": old, "to": new}


def difference_lines(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A difference in words, one line a key."""
    lines = []
    for key, part in found.items():
        if "added" in part:
            words = [f"+ {glob}" for glob in part["added"]] + [f"- {g}" for g in part["removed"]]
        elif isinstance(part["to"], dict):
            words = [f"{n} {part['from'][n]} -> {state}" for n, state in part["to"].items()]
        else:
            words = [f"{shown(key, part['from'])} -> {shown(key, part['to'])}"]
        lines.append(f"{key}: {', '.join(words)}")
    return lines


def shown(key: str, value: Any) -> str:
    """A value in the words that `set` takes."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return " ".join(f"{name}={state}" for name, state in value.items())
    if isinstance(value, list):
        return " ".join(value) or "none"
    if key.endswith("_bytes"):
        for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
            if value % size == 0:
                return f"{value // size}{unit}"
    return str(value)


def _read_sources(key: str, words: Sequence[str], old: Any) -> dict[str, str]:
    states = dict(old)
    for word in words:
        name, _, state = word.partition("=")
        if name not in SourceKind.values:
            raise PolicyError(key, f"{name!r} is no source; there are {', '.join(states)}")
        if state not in STATES:
            raise PolicyError(key, f"{word!r}: say {name}={'|'.join(STATES)}")
        states[name] = state
    if not words:
        raise PolicyError(key, f"say which: {next(iter(states))}={'|'.join(STATES)}")
    return states


def _read_globs(key: str, words: Sequence[str], _: Any) -> list[str]:
    for glob in words:
        if why := glob_error(glob):
            raise PolicyError(key, f"{glob!r} is no glob: {why}")
    if len(words) > MAX_GLOBS:
        raise PolicyError(key, f"more than {MAX_GLOBS:,} globs")
    return list(dict.fromkeys(words))


def _one(key: str, words: Sequence[str], what: str) -> str:
    if len(words) != 1:
        raise PolicyError(key, f"say one value: {what}")
    return words[0].strip()


def _read_switch(key: str, words: Sequence[str], _: Any) -> bool:
    word = _one(key, words, "on or off")
    if word not in _SWITCH:
        raise PolicyError(key, f"{word!r} is neither on nor off")
    return _SWITCH[word]


def _read_provider(key: str, words: Sequence[str], old: Any) -> bool:
    if _read_switch(key, words, old):
        raise PolicyError(key, NOTHING_BEHIND)
    return False


def _bytes(least: int, most: int, *, may_be_none: bool = False) -> Callable[..., int | None]:
    def read(key: str, words: Sequence[str], _: Any) -> int | None:
        example = "such as 512KiB, 2MiB" + (", 5GB or none" if may_be_none else "")
        word = _one(key, words, example)
        if may_be_none and word == "none":
            return None
        match = _SIZE.fullmatch(word)
        if match is None or match[2].lower() not in UNITS:
            raise PolicyError(key, f"{word!r} is no number of bytes: {example}")
        number = int(match[1]) * UNITS[match[2].lower()]
        if not least <= number <= most:
            raise PolicyError(key, f"from {shown(key, least)} to {shown(key, most)}, not {word}")
        return number

    return read


def _read_days(key: str, words: Sequence[str], _: Any) -> int | None:
    word = _one(key, words, "a number of days, or none")
    if word == "none":
        return None
    if not re.fullmatch(r"[0-9]{1,5}", word) or not 1 <= int(word) <= 36_500:
        raise PolicyError(key, f"{word!r} is neither none nor a number of days up to 36,500")
    return int(word)


_KEPT = "Stored and shown; nothing deletes by it yet."
KEYS: dict[str, Key] = {
    "sources": Key(
        "Sources",
        "git=STATE documents=STATE. enabled: read. disabled: not read further, and what is stored"
        " of it stays served. archived: not read, kept, and no longer served to search or context.",
        _read_sources,
    ),
    "include": Key(
        "Include",
        "Globs in the manner of .gitignore. With any, only what they match is read.",
        _read_globs,
        is_reading=True,
    ),
    "exclude": Key(
        "Exclude",
        "Globs that are not read and not served. !GLOB brings back what a built-in rule or an"
        " earlier glob leaves out; nothing brings back a protected path.",
        _read_globs,
        is_reading=True,
    ),
    "untracked": Key(
        "Untracked documents",
        "on: documents that Git does not track may be read. Only tracked ones are, so far.",
        _read_switch,
        is_reading=True,
    ),
    "max_blob_bytes": Key(
        "Largest file", "A larger file is a gap.", _bytes(2**10, 2**26), is_reading=True
    ),
    "max_patch_bytes": Key(
        "Largest patch",
        "Of one file's change; the hunks beyond are a gap. What was read stays as it is.",
        _bytes(2**10, 2**24),
        is_reading=True,
    ),
    "max_document_bytes": Key(
        "Largest document", "A larger document is a gap.", _bytes(2**10, 2**24), is_reading=True
    ),
    "excerpt_bytes": Key(
        "Excerpt", "Of one evidence answer's text; the rest is said to be cut.", _bytes(2**8, 2**20)
    ),
    "disk_bytes": Key(
        "Disk",
        "What the project's rows may take of the database: a run that finds more ends with the gap"
        " BUDGET. none: no limit.",
        _bytes(2**20, 2**50, may_be_none=True),
    ),
    "transcript_days": Key("Keep transcripts", f"Days, or none for ever. {_KEPT}", _read_days),
    "audit_days": Key("Keep the audit trail", f"Days, or none for ever. {_KEPT}", _read_days),
    "provider": Key(
        "Model provider",
        "Whether evidence may be sent to a model provider: off, and on is refused, since nothing"
        " here sends any.",
        _read_provider,
    ),
}
