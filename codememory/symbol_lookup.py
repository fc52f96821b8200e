"""Finds stored symbols by the names that people and agents use, and tells which a hunk touches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from codememory.models import CodeFacts, FileChange, SymbolChange, SymbolName
from codememory.models.symbols import LEAF_CHARACTERS
from collectors.symbol_values import Coverage

MOST_NAMES = 200  # that one asked name may mean
NOT_READ = "symbols of this change are not read yet: evidence is textual only"
NO_SYMBOLS = "no symbols were read of this file ({}): evidence is textual only"
OUTSIDE = "the hunk changes no symbol: it stands outside of them all"


def names_like(scope_id: int, text: str) -> list[SymbolName]:
    """Names that are the text, or end in it at a dot (`refund`, `Order.refund`)."""
    leaf = text.rpartition(".")[2][:LEAF_CHARACTERS]
    if not leaf or "\0" in text or not is_text(text):
        return []
    rows = SymbolName.objects.filter(scope_id=scope_id, leaf=leaf).order_by("qualified")
    found = [row for row in rows[:MOST_NAMES] if f".{row.qualified}".endswith(f".{text}")]
    return [row for row in found if row.qualified == text] or found


def is_text(text: str) -> bool:
    """Whether it is valid Unicode: an argument of other bytes holds lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def dotted(text: str) -> str:
    """A name as other languages qualify it (`Order::refund`, `Order#refund`), with dots."""
    return text.replace("::", ".").replace("#", ".")


def changes_of_symbols(scope_id: int, symbols: Sequence[str], most: int) -> list[int]:
    """The logical changes that touched each symbol last, the newest first."""
    found: list[int] = []
    for text in symbols:
        after_path = dotted(text).rpartition(":")[2]
        names = names_like(scope_id, dotted(text)) or names_like(scope_id, after_path)
        told = SymbolChange.objects.filter(
            scope_id=scope_id, name_id__in=[row.pk for row in names]
        ).exclude(kind__in=["FORMATTING_ONLY", "COMMENT_ONLY"])
        rows = FileChange.objects.filter(
            scope_id=scope_id,
            logical_change__isnull=False,
            content_change_id__in=told.values("content_change_id"),
        )
        ids = rows.order_by("-commit_id").values_list("logical_change_id", flat=True)
        found += [pk for pk in list(dict.fromkeys(ids[: most * 4]))[:most] if pk not in found]
    return found


def textual_only(scope_id: int, content_ids: Collection[int]) -> int:
    """How many of these content changes were compared as text, without symbols."""
    rows = CodeFacts.objects.filter(scope_id=scope_id, content_change_id__in=content_ids)
    read = rows.exclude(coverage=Coverage.TEXTUAL_ONLY.value).count()
    return len(set(content_ids)) - read


def symbol_fields(scope_id: int, content_id: int, number: int, side: str) -> dict[str, Any]:
    """What a hunk's side is told of symbols; `reasons` says why there is none.

    `symbol` is the innermost one that the hunk touches, and `others` are those beside it.
    """
    facts = CodeFacts.objects.filter(scope_id=scope_id, content_change_id=content_id).first()
    if facts is None:
        reasons = {"symbol": NOT_READ, "index_generation": NOT_READ}
        return {"parser_coverage": Coverage.TEXTUAL_ONLY.value, "symbol": None, "reasons": reasons}
    fields: dict[str, Any] = {
        "parser_coverage": facts.coverage,
        "index_generation": facts.policy_generation,
        "symbol": None,
        "reasons": {},
    }
    if facts.coverage == Coverage.TEXTUAL_ONLY:
        return {**fields, "reasons": {"symbol": NO_SYMBOLS.format(facts.reason)}}
    rows = SymbolChange.objects.filter(
        scope_id=scope_id, content_change_id=content_id, hunk_numbers__contains=[number]
    )
    first, last = ("new_first_line", "new_last_line")
    if side == "B":
        first, last = ("old_first_line", "old_last_line")
    here = [row for row in rows.select_related("name", "old_name") if getattr(row, first)]
    here.sort(key=lambda row: (getattr(row, last) - getattr(row, first), row.position))
    if not here:
        return {**fields, "reasons": {"symbol": OUTSIDE}}
    inner = here[0]
    fields["symbol"] = {
        "name": _name(inner, side),
        "kind": inner.symbol_kind,
        "lines": [getattr(inner, first), getattr(inner, last)],
        "change": inner.kind,
        "language": facts.language,
        "extractor_revision": facts.extractor_revision,
        "others": [_name(row, side) for row in here[1:]],
    }
    return fields


def _name(row: SymbolChange, side: str) -> str:
    name = row.old_name if side == "B" and row.old_name else row.name
    return str(name.qualified)
