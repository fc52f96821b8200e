"""The form of a project's policy: what a lead typed, as values of the policy's keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms

from codememory.models import SourceKind
from codememory.policy_keys import KEYS, STATES, PolicyError, Values, changed, shown

STATE_WORDS = {
    "enabled": "read and served",
    "disabled": "not read further; what is stored stays served",
    "archived": "kept, and served to no question",
}
GLOBS = ("include", "exclude")
SIZES = ("max_blob_bytes", "max_patch_bytes", "max_document_bytes")
BUDGETS = ("excerpt_bytes", "disk_bytes")
DAYS = ("transcript_days", "audit_days")
TYPED = (*SIZES, *BUDGETS, *DAYS)


class PolicyForm(forms.Form):
    """Everything as the page wrote it: the keys themselves say what a text means."""

    opened = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    include = forms.CharField(required=False, max_length=100_000, strip=False)
    exclude = forms.CharField(required=False, max_length=100_000, strip=False)
    untracked = forms.ChoiceField(choices=[("on", "on")], required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for source in SourceKind.values:
            states = [(state, state) for state in STATES]
            self.fields[f"source-{source}"] = forms.ChoiceField(choices=states)
        for key in TYPED:
            self.fields[key] = forms.CharField(required=False, max_length=40)

    @property
    def opened_generation(self) -> int:
        return int(self.cleaned_data["opened"])

    def words(self) -> dict[str, list[str]]:
        """What was typed, key by key, in the words that the keys read."""
        said = self.cleaned_data
        sources = [f"{source}={said[f'source-{source}']}" for source in SourceKind.values]
        globs = {key: [g for g in said[key].splitlines() if g.strip()] for key in GLOBS}
        typed = {key: [said[key].strip() or "none"] for key in TYPED}
        untracked = ["on" if said["untracked"] else "off"]
        return {"sources": sources, **globs, "untracked": untracked, **typed}

    def values(self, current: Values) -> tuple[Values, dict[str, str]]:
        """The values that were typed, and what is wrong by key."""
        values, errors = current, {}
        for key, words in self.words().items():
            try:
                values = changed(values, key, words)
            except PolicyError as error:
                errors[key] = error.reason
        return values, errors


@dataclass(frozen=True, slots=True)
class Entry:
    """One typed key as the page shows it."""

    key: str
    title: str
    help: str
    text: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Fields:
    """What the form's fields hold: the policy's values, or what was typed over them."""

    opened: int
    sources: list[tuple[str, str]]
    globs: list[Entry]
    is_untracked: bool
    untracked_help: str
    sizes: list[Entry]
    budgets: list[Entry]
    days: list[Entry]
    provider_help: str


def fields_of(opened: int, words: dict[str, list[str]], errors: dict[str, str]) -> Fields:
    def entries(keys: tuple[str, ...], separator: str = "") -> list[Entry]:
        return [
            Entry(
                key,
                KEYS[key].title,
                KEYS[key].help,
                separator.join(words[key]),
                errors.get(key),
            )
            for key in keys
        ]

    return Fields(
        opened=opened,
        sources=[(name, state) for name, _, state in (w.partition("=") for w in words["sources"])],
        globs=entries(GLOBS, "\n"),
        is_untracked=words["untracked"] == ["on"],
        untracked_help=KEYS["untracked"].help,
        sizes=entries(SIZES),
        budgets=entries(BUDGETS),
        days=entries(DAYS),
        provider_help=KEYS["provider"].help,
    )


def words_of(values: Values) -> dict[str, list[str]]:
    """A policy's values in the words that the form shows."""
    words = {key: [shown(key, values[key])] for key in (*TYPED, "untracked")}
    sources = [f"{source}={state}" for source, state in values["sources"].items()]
    return {**words, "sources": sources, **{key: values[key] for key in GLOBS}}
