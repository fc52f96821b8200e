"""The table of languages with symbols: languages.toml, read and checked once.

`language_of` says by its path which one a file is written in.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collectors.symbol_values import SymbolKind

_RULE_KEYS = {
    *("node", "kind", "name", "body", "value", "types", "words", "prefix", "rest", "fixed", "mark"),
    *("until", "joins", "top"),
}
_LISTS = ("comments", "strings", "blocks", "wrappers")


@dataclass(frozen=True, slots=True)
class DefinitionRule:
    """How a node of a grammar is a definition; see the head of languages.toml."""

    node: str
    kind: SymbolKind | None
    names: tuple[str, ...]
    bodies: tuple[str, ...]
    value: str | None
    types: frozenset[str]
    words: frozenset[bytes]
    prefix: str | None
    is_rest: bool
    fixed: str | None
    mark: str
    until: str | None
    is_joined: bool
    is_top_only: bool


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table. `parser` is "tree-sitter", or the name of a parser of our own."""

    name: str
    grammar: str
    parser: str
    extensions: tuple[str, ...]
    files: tuple[str, ...]
    comments: tuple[str, ...]
    strings: tuple[str, ...]
    blocks: tuple[str, ...]
    wrappers: tuple[str, ...]
    repairs: tuple[bytes, ...]
    keeps_words: bool
    rules: tuple[DefinitionRule, ...]


def language_of(path: bytes) -> Language | None:
    """The language of a path, by file name or extension; None: no grammar is enabled for it."""
    name = path.rpartition(b"/")[2].decode("utf-8", "replace").lower()
    found = _BY_FILE.get(name)
    at = name.find(".", 1)
    while found is None and at != -1:
        found = _BY_EXTENSION.get(name[at:])
        at = name.find(".", at + 1)
    return found


def language_named(name: str) -> Language:
    """The row of that name; KeyError if there is none. For callers that hand names to a process."""
    return _BY_NAME[name]


def _paths(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _rule(entry: dict[str, Any]) -> DefinitionRule:
    if unknown := set(entry) - _RULE_KEYS:
        raise ValueError(f"languages.toml: unknown {sorted(unknown)} at {entry['node']}")
    return DefinitionRule(
        node=entry["node"],
        kind=SymbolKind(entry["kind"]) if "kind" in entry else None,
        names=_paths(entry.get("name", [] if "fixed" in entry or "until" in entry else "name")),
        bodies=_paths(entry.get("body", "body")),
        value=entry.get("value"),
        types=frozenset(entry.get("types", ())),
        words=frozenset(word.encode() for word in entry.get("words", ())),
        prefix=entry.get("prefix"),
        is_rest=entry.get("rest", False),
        fixed=entry.get("fixed"),
        mark=entry.get("mark", ""),
        until=entry.get("until"),
        is_joined=entry.get("joins", False),
        is_top_only=entry.get("top", False),
    )


def _read() -> tuple[Language, ...]:
    text = (Path(__file__).parent / "languages.toml").read_text("utf-8")
    rows: dict[str, Language] = {}
    for entry in tomllib.loads(text)["language"]:
        base = rows.get(entry.get("like", ""))
        lists = {
            key: (getattr(base, key) if base else ()) + tuple(entry.get(key, ())) for key in _LISTS
        }
        rows[entry["name"]] = Language(
            name=entry["name"],
            grammar=entry["grammar"],
            parser=entry.get("parser", "tree-sitter"),
            extensions=tuple(entry.get("extensions", ())),
            files=tuple(entry.get("files", ())),
            repairs=tuple(pattern.encode() for pattern in entry.get("repairs", ())),
            keeps_words=entry.get("spaces") == "words",
            rules=(*map(_rule, entry.get("definitions", ())), *(base.rules if base else ())),
            **lists,
        )
    return tuple(rows.values())


LANGUAGES = _read()
_BY_NAME = {language.name: language for language in LANGUAGES}
_BY_EXTENSION = {end.lower(): one for one in LANGUAGES for end in one.extensions}
_BY_FILE = {name.lower(): one for one in LANGUAGES for name in one.files}
