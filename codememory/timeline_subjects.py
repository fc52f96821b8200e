"""What somebody means who asks for the history of a path or a symbol."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max

from codememory.lineage import SymbolLife, life_of_file, life_of_symbol
from codememory.models import FileChange, Path, SymbolName
from codememory.paths import raw_path, shown_path
from codememory.symbol_lookup import dotted, names_like
from collectors.symbol_values import SymbolChangeKind

MOST_CHOICES = 20
MOST_LETTERS, MOST_COLONS = 5_000, 20  # of a question, in which the end of a path is sought
MOST_NAMED = 2_000  # symbol changes of a name that are looked at to tell its files apart


@dataclass(frozen=True, slots=True)
class Subject:
    """What is asked about: a file (without a name), or a symbol of a file with its life."""

    path_id: int
    path: str
    name_id: int | None = None
    name: str | None = None
    life: SymbolLife | None = field(default=None, compare=False)

    def shown(self) -> dict[str, Any]:
        kind = "file" if self.name is None else "symbol"
        return {"kind": kind, "path": self.path, "symbol": self.name}


def find_subjects(scope_id: int, text: str) -> list[Subject]:
    """The file of that path; else the symbols of that name, one for each file they live in."""
    path = _path(scope_id, text)
    if path is not None:
        return [Subject(path.pk, shown_path(bytes(path.raw)) or "")]
    # Names may hold colons, and so may paths: whatever stands before one of them is looked up.
    colons = [at for at, letter in enumerate(text[:MOST_LETTERS]) if letter == ":"][:MOST_COLONS]
    for at in colons:
        if (path := _path(scope_id, text[:at])) is not None:
            return _symbols(scope_id, text[at + 1 :], path)
    return _symbols(scope_id, text, None)


def _path(scope_id: int, text: str) -> Path | None:
    if not text or "\0" in text:
        return None
    raw = raw_path(text.removeprefix("./"))
    return Path.objects.filter(scope_id=scope_id, digest=hashlib.sha256(raw).digest()).first()


def _symbols(scope_id: int, text: str, path: Path | None) -> list[Subject]:
    """Symbols of exactly that name, else those whose name ends in it."""
    names = names_like(scope_id, text) or names_like(scope_id, dotted(text))
    return _places(scope_id, names, path)


def _places(scope_id: int, names: Sequence[SymbolName], path: Path | None) -> list[Subject]:
    """One subject for each life: a symbol that moved or whose file was renamed is one."""
    by_id = {name.pk: name for name in names}
    asked = {path.pk, *life_of_file(scope_id, path.pk).names} if path is not None else None
    rows = (
        FileChange.objects.filter(
            scope_id=scope_id,
            logical_change__isnull=False,
            content_change__symbol_changes__name_id__in=list(by_id),
        )
        .values_list("content_change__symbol_changes__name_id", "new_path_id", "old_path_id")
        .annotate(last=Max("pk"))
        .order_by("-last")[:MOST_NAMED]
    )
    found: list[Subject] = []
    is_gone: dict[Subject, bool] = {}
    lived: set[tuple[int, int]] = set()
    for name_id, new, old, _ in rows:
        path_id = new if new is not None else old
        is_asked = asked is None or path_id in asked
        if not is_asked or path_id is None or (path_id, name_id) in lived:
            continue
        life = life_of_symbol(scope_id, path_id, name_id)
        places = {(p, n) for p in life.path_ids for n in life.name_ids}
        lived |= places
        # Seen where it ended first: what it was moved to lived there before.
        found = [
            one for one in found if not (is_gone[one] and (one.path_id, one.name_id) in places)
        ]
        last = life.path_ids[-1]
        shown = shown_path(bytes(Path.objects.get(pk=last).raw)) or ""
        subject = Subject(last, shown, name_id, by_id[name_id].qualified, life)
        is_gone[subject] = _ends_removed(life)
        found.append(subject)
        if len(found) >= MOST_CHOICES:
            break
    return found


def _ends_removed(life: SymbolLife) -> bool:
    """Whether the last that is known of a symbol is that it went from its file."""
    changes = life.changes[life.steps[-1].id] if life.steps else []
    own = [one for one in changes if one.name_id in life.name_ids]
    return bool(own) and all(one.kind == SymbolChangeKind.REMOVED for one in own)
