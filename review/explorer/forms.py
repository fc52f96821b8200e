"""Addresses and forms of the explorer: every part is bounded, and an unknown value is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django import forms

from codememory.models import EntryKind, KnowledgeType, Layer
from codememory.recall import MAX_QUESTION
from review.explorer.finding import STANDINGS, VERDICTS
from review.forms import LARGEST

MAX_SUBJECT = 2_000
MAX_CURSOR = 4_000
MOST_PATHS = 20  # that a question may name, and symbols
VIEWS = [("side-by-side", "Side by side"), ("unified", "Unified")]
BUDGETS = [(2_000, "2,000"), (4_000, "4,000"), (8_000, "8,000"), (16_000, "16,000")]
DEFAULT_BUDGET = 4_000
WHY = r"^[A-Z][1-9][0-9]{0,17}$"
FORMATS = [("json", "JSON")]


class WordsField(forms.CharField):
    """Words separated by white space, or by lines where a line holds spaces of its own."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_SUBJECT, required=False, **options)

    def clean(self, value: Any) -> list[str]:
        text: str = super().clean(value)
        words = [line.strip() for line in text.split("\n")] if "\n" in text else text.split()
        found = [word for word in words if word]
        if len(found) > MOST_PATHS:
            raise forms.ValidationError("too many of them")
        return found


class HistoryForm(forms.Form):
    """A path, a symbol or both; nothing: the project. `after` is the last event shown.

    Of a subject it is a cursor that names the subject too.
    """

    subject = forms.CharField(max_length=MAX_SUBJECT, required=False, strip=False)
    after = forms.RegexField(r"^[0-9]{1,18}(\.[0-9a-f]{16})?$", required=False)


class ChangeForm(forms.Form):
    """Where the page begins: at a file of the change, after a number of its hunks."""

    view = forms.ChoiceField(choices=VIEWS, required=False)
    file = forms.RegexField(r"^F[1-9][0-9]{0,17}$", required=False)
    after = forms.IntegerField(min_value=0, max_value=10**9, required=False)

    def clean_file(self) -> int | None:
        text = self.cleaned_data["file"]
        return int(text[1:]) if text else None


class DocumentForm(forms.Form):
    """After which segment, by its number in the document, the page begins."""

    after = forms.IntegerField(min_value=0, max_value=10**9, required=False)


def _one_of(values: Iterable[str]) -> forms.ChoiceField:
    return forms.ChoiceField(choices=[(value, value) for value in values], required=False)


class KnowledgeForm(forms.Form):
    """What is searched for, and what it is narrowed to; `why` is the result to explain."""

    TYPES = KnowledgeType.values

    q = forms.CharField(max_length=MAX_QUESTION, required=False)
    kind = forms.ChoiceField(choices=EntryKind.choices, required=False)
    path = forms.CharField(max_length=MAX_SUBJECT, required=False)
    standing = _one_of(STANDINGS)
    verdict = _one_of(VERDICTS)
    type = _one_of(TYPES)
    layer = _one_of(Layer.values)
    cursor = forms.CharField(max_length=MAX_CURSOR, required=False)
    before = forms.IntegerField(min_value=1, max_value=LARGEST, required=False)
    why = forms.RegexField(WHY, required=False)


class AskForm(forms.Form):
    """A question as an agent asks it."""

    task = forms.CharField(max_length=MAX_QUESTION, required=False)
    paths = WordsField()
    symbols = WordsField()
    intent = forms.CharField(max_length=1_000, required=False)
    budget = forms.TypedChoiceField(choices=BUDGETS, coerce=int, required=False)
    cursor = forms.CharField(max_length=MAX_CURSOR, required=False)
    format = forms.ChoiceField(choices=FORMATS, required=False)
    why = forms.RegexField(WHY, required=False)

    def clean_budget(self) -> int:
        return self.cleaned_data["budget"] or DEFAULT_BUDGET


class RenamesForm(forms.Form):
    """Which origins: those that nobody chose yet, or those that somebody did."""

    state = forms.ChoiceField(choices=[("open", "open"), ("settled", "settled")], required=False)
    after = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)


class SettleForm(forms.Form):
    """A choice: an origin, none of them, or to leave it open again; and what was in view."""

    choice = forms.CharField(max_length=20)
    seen = forms.RegexField(r"^[0-9a-f]{64}$")
    state = forms.ChoiceField(choices=[("open", "open"), ("settled", "settled")], required=False)

    def clean_choice(self) -> str:
        text: str = self.cleaned_data["choice"]
        if text not in {"none", "open"} and not re.fullmatch(r"[1-9][0-9]{0,17}", text):
            raise forms.ValidationError("not one of the choices")
        return text
