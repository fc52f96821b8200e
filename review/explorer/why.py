"""Why a result ranks where it does, in words and numbers: the parts of its score, made rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codememory.checkout import Checkout
from codememory.explaining import explain_hit
from codememory.models import EntryKind, Project, SearchEntry
from codememory.search.query import Hit

TARGETS = {
    EntryKind.CHANGE.value: "logical_change",
    EntryKind.SECTION.value: "segment",
    EntryKind.CANDIDATE.value: "candidate",
    EntryKind.MEMORY.value: "memory",
}
# What the fields of an entry are called for people; `w` of each is in codememory/search.
FIELDS = {
    "base": "file name", "dir": "folder", "oldpath": "old path", "first": "new to the project",
    "achg": "added to a change log", "rchg": "removed from a change log", "tdef": "test's name",
    "fn": "function around it", "acfg": "added setting", "rcfg": "removed setting",
    "adoc": "added text", "rdoc": "removed text", "dnew": "only in the new code",
    "dgone": "only in the old code", "delta": "more or fewer of it", "acode": "added code",
    "rcode": "removed code", "def": "definition", "acmt": "added comment",
    "rcmt": "removed comment", "ctx": "code around it", "atest": "added test code",
    "rtest": "removed test code", "heading": "heading", "symbol": "symbol", "path": "path",
    "body": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question that the entry holds: what it adds, and where it stands there."""

    term: str
    is_exact: bool  # the very word or path, not its stem
    weight: float
    rarity: float
    impact: float
    score: float
    fields: list[tuple[str, float]]  # the strongest first


@dataclass(frozen=True, slots=True)
class Why:
    """All parts of a score: `terms` add up to `first`, the rest makes `second` of it."""

    score: float
    first: float
    second: float
    terms: list[Term]
    neighbours: list[tuple[str, float]]
    verbs: list[str]
    shape: list[tuple[str, float]]

    @property
    def behind(self) -> float:
        """What keeps a hit behind the best ones, which alone are ranked a second time."""
        return round(self.second - self.score, 4)


def why(project: Project, question: str, found: Mapping[str, Any]) -> Why | None:
    """Explain a result of a search for the question; None where no word of it led there."""
    if found["score"] is None:
        return None
    number, kind = int(found["id"][1:]), found["kind"]
    entries = SearchEntry.objects.filter(scope_id=project.scope_id, kind=kind)
    entry = entries.filter(**{f"{TARGETS[kind]}_id": number}).values_list("pk", flat=True).first()
    if entry is None:
        return None
    hit = Hit(kind, entry, number, project.scope_id, float(found["score"]))
    with Checkout(project) as checkout:
        parts = explain_hit(checkout, question, hit)
    return _why(parts) if parts and parts["terms"] else None


def _why(parts: Mapping[str, Any]) -> Why:
    return Why(
        parts["score"],
        parts["first"],
        parts["second"],
        [_term(part) for part in parts["terms"]],
        [(" ".join(pair["words"]), pair["score"]) for pair in parts["neighbours"]],
        [verb for verb in parts["verbs"] if verb != "none"],
        _largest(parts["shape"]),
    )


def _term(part: Mapping[str, Any]) -> Term:
    term = part["term"]
    fields = [(FIELDS.get(name, name), value) for name, value in _largest(part["fields"])]
    return Term(
        term.removeprefix("="),
        term.startswith("="),
        part["weight"],
        part["idf"],
        part["impact"],
        part["score"],
        fields,
    )


def _largest(values: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(
        ((name.replace("_", " "), value) for name, value in values.items()),
        key=lambda pair: (-abs(pair[1]), pair[0]),
    )
