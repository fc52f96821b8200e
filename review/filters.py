"""What the queue's address may say: filters, order, position and selection, checked and written.

The position (`asof` and `after`) belongs to a page that is being read: links of that page carry
it, so that it stays as it was; choosing another filter starts anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django import forms

from codememory.candidate_places import ALSO_PLANNED
from codememory.models import KnowledgeType, Layer, Modality, SourceKind
from review.forms import FLAGS as DANGERS
from review.forms import LARGEST, STATES, NumbersField

FLAGS = [*DANGERS, (ALSO_PLANNED, "also planned")]
SOURCES = [(kind.value, kind.label.lower()) for kind in SourceKind]
AGES = [("day", "up to a day"), ("week", "1 to 7 days"), ("older", "over 7 days")]
CLAIMED = [("mine", "by me"), ("others", "by others"), ("nobody", "by nobody")]
SECOND = [("others", "waits for you"), ("mine", "waits for another")]
SORTS = [
    ("", "Oldest first"),
    ("new", "Newest first"),
    ("conflict", "Conflicts first"),
    ("sure", "Surest first"),
    ("unsure", "Least sure first"),
]
FACETS = ("type", "modality", "layer", "source", "flag", "conflict", "age", "claimed", "second")
NARROWING = (*FACETS, "path", "q", "like")


class QueueForm(forms.Form):
    """The queue's address: every part is optional, and an unknown value is refused."""

    state = forms.ChoiceField(choices=STATES, required=False)
    type = forms.ChoiceField(choices=KnowledgeType.choices, required=False)
    modality = forms.ChoiceField(choices=Modality.choices, required=False)
    layer = forms.ChoiceField(choices=Layer.choices, required=False)
    source = forms.ChoiceField(choices=SOURCES, required=False)
    flag = forms.ChoiceField(choices=FLAGS, required=False)
    conflict = forms.ChoiceField(choices=[("yes", "yes")], required=False)
    age = forms.ChoiceField(choices=AGES, required=False)
    claimed = forms.ChoiceField(choices=CLAIMED, required=False)
    second = forms.ChoiceField(choices=SECOND, required=False)
    path = forms.CharField(max_length=1000, required=False, strip=False)
    q = forms.CharField(max_length=200, required=False)
    like = forms.IntegerField(min_value=1, max_value=LARGEST, required=False)
    sort = forms.ChoiceField(choices=SORTS, required=False)
    each = forms.ChoiceField(choices=[("yes", "yes")], required=False)
    asof = forms.RegexField(r"^[0-9]{1,13}$", required=False)  # milliseconds since 1970
    after = forms.RegexField(r"^[01]_[0-9.]{1,20}_[0-9]{1,18}_[0-9]{1,9}$", required=False)
    at = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    c = NumbersField(required=False)  # the selected candidates
    g = NumbersField(required=False)  # those selected with all that are similar
    upto = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)


@dataclass(frozen=True, slots=True)
class Filters:
    """What the address asks for, and who asks (the number of a user; for "claimed by me")."""

    state: str = "pending"
    type: str = ""
    modality: str = ""
    layer: str = ""
    source: str = ""
    flag: str = ""
    conflict: str = ""
    age: str = ""
    claimed: str = ""
    second: str = ""
    path: str = ""
    q: str = ""
    like: str = ""
    sort: str = ""
    each: str = ""
    asof: str = ""
    after: str = ""
    me: int | None = None

    @classmethod
    def of(cls, cleaned: Mapping[str, Any], me: int | None = None) -> Filters:
        names = (*NARROWING, "sort", "each", "asof", "after")
        chosen = {name: str(cleaned[name] or "") for name in names}
        return cls(cleaned["state"] or "pending", **chosen, me=me)

    @property
    def fields(self) -> dict[str, str]:
        """What a form sends along to keep filters and order."""
        chosen = {"state": "" if self.state == "pending" else self.state}
        chosen |= {name: getattr(self, name) for name in (*NARROWING, "sort", "each")}
        return {name: value for name, value in chosen.items() if value}

    @property
    def position(self) -> dict[str, str]:
        """What a form sends along besides to stay on the page as it was."""
        found = {"asof": self.asof, "after": self.after}
        return {name: value for name, value in found.items() if value}

    @property
    def page_fields(self) -> dict[str, str]:
        return self.fields | self.position

    def query(self, **more: object) -> str:
        """Return the query string of the page, "?" included; empty when nothing is chosen."""
        parts = {**self.page_fields, **more}
        kept = {name: value for name, value in parts.items() if value}
        return f"?{urlencode(kept, doseq=True)}" if kept else ""

    def anew(self, **changes: str) -> str:
        """Return the address of a first page with other filters or another order."""
        other = replace(self, asof="", after="", **changes)  # type: ignore[arg-type]
        return other.query() or "?"

    @property
    def ungrouped(self) -> str:
        return self.anew(each="yes")

    @property
    def regrouped(self) -> str:
        return self.anew(each="")

    @property
    def chips(self) -> list[dict[str, str]]:
        """What narrows the queue, in words, each with the address without it."""
        return [
            {"label": _said(name, value), "query": self.anew(**{name: ""})}
            for name in NARROWING
            if (value := getattr(self, name))
        ]

    @property
    def is_narrowed(self) -> bool:
        return any(getattr(self, name) for name in NARROWING)

    @property
    def is_grouped(self) -> bool:
        """Whether near-duplicates stand in one row."""
        return not (self.each or self.like)

    @property
    def is_counted_whole(self) -> bool:
        """Whether the counts of the whole project answer how many pass."""
        return not (self.path or self.q or self.like)


def _said(name: str, value: str) -> str:
    """Say a chosen value where its filter is not beside it."""
    spoken = {"q": f"“{value}”", "like": f"similar to C{value}", "conflict": "conflict"}
    if name == "modality":  # a requirement by its type may be said as a proposal
        return f"said as {value.replace('_', ' ').lower()}"
    spoken["claimed"] = f"claimed {dict(CLAIMED).get(value, value)}"
    spoken["second"] = f"{dict(SECOND).get(value, value)}, as second reviewer"
    spoken |= {"flag": dict(FLAGS).get(value, value), "age": dict(AGES).get(value, value)}
    return spoken.get(name) or (value if name == "path" else value.replace("_", " ").lower())
