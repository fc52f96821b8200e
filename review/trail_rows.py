"""Which events of the audit trail are asked for, who may see them, and how a file tells them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from codememory.models import AuditEvent
from review.forms import LARGEST
from review.glyphs import code_and_name, is_seen

CHUNK = 500  # events that are read and written at once
COLUMNS = ("number", "time", "project", "actor", "actor kind", "act", "on", "facts")
# What a spreadsheet takes for a formula, or for the beginning of another cell.
_FORMULA = re.compile(r"\s*[=+\-@|%]")
_PERSON = re.compile(r"user ([0-9]{1,9})")
FILTERS = ("action", "person", "subject", "since", "until", "project")


class TrailForm(forms.Form):
    """The trail's address: every part is optional, and an unknown value is refused."""

    action = forms.RegexField(r"^[a-z.-]{1,40}$", required=False)
    person = forms.IntegerField(min_value=1, max_value=LARGEST, required=False)
    subject = forms.CharField(max_length=80, required=False)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    project = forms.SlugField(max_length=80, required=False)
    before = forms.IntegerField(min_value=1, max_value=LARGEST, required=False)


def chosen_filters(asked: Mapping[str, Any]) -> dict[str, str]:
    """What the address narrows by, as the address writes it."""
    return {name: str(asked[name]) for name in FILTERS if asked[name]}


def narrowed(events: QuerySet[AuditEvent], asked: Mapping[str, Any]) -> QuerySet[AuditEvent]:
    """Return the events that pass; days are of UTC, the last one included."""
    exact = {"action": "action", "actor_id": "person", "subject": "subject"}
    exact["scope__project__slug"] = "project"
    events = events.filter(**{name: asked[key] for name, key in exact.items() if asked[key]})
    if asked["since"]:
        events = events.filter(created_at__gte=_midnight(asked["since"]))
    if asked["until"] and asked["until"] < date.max:
        events = events.filter(created_at__lt=_midnight(asked["until"] + timedelta(days=1)))
    return events


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as the page and the file show it; `person` is the account's name."""

    event: AuditEvent
    candidate: int | None
    person: str | None
    facts: list[tuple[str, str]]


_CANDIDATE = re.compile(r"C([0-9]{1,18})")
_LETTERS = {"memory": "M", "ended": "M", "restored": "M"}


def entries_of(events: Sequence[AuditEvent]) -> list[Entry]:
    """Return the events with the names of the accounts that they are about; one statement."""
    numbers = {int(m[1]) for event in events if (m := _PERSON.fullmatch(event.subject))}
    users = User.objects.in_bulk(numbers)
    names = {f"user {number}": user.get_username() for number, user in users.items()}
    return [_entry(event, names) for event in events]


def _entry(event: AuditEvent, names: Mapping[str, str]) -> Entry:
    candidate = _CANDIDATE.fullmatch(event.subject)
    facts = [
        (name.replace("_", " "), f"{_LETTERS.get(name, '')}{_plain(value)}")
        for name, value in event.facts.items()
    ]
    number = int(candidate[1]) if candidate else None
    return Entry(event, number, names.get(event.subject), facts)


def _plain(value: object) -> str:
    """A list as its parts: none of them is a list itself."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def written(events: QuerySet[AuditEvent]) -> Iterator[bytes]:
    """Write events, newest first, as CSV in UTF-8, a chunk at a time; none is held twice."""
    yield _lines([COLUMNS])
    rows = events.select_related("actor__user", "scope__project").order_by("-pk")
    before = LARGEST
    while chunk := list(rows.filter(pk__lt=before)[:CHUNK]):
        yield _lines([_cells(entry) for entry in entries_of(chunk)])
        before = chunk[-1].pk


async def written_later(events: QuerySet[AuditEvent]) -> AsyncIterator[bytes]:
    """The same for a server that waits for nobody: the database is asked in a thread."""
    chunks = written(events)
    while (chunk := await sync_to_async(lambda: next(chunks, None))()) is not None:
        yield chunk


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _cells(entry: Entry) -> list[str]:
    event = entry.event
    project = getattr(event.scope, "project", None) if event.scope else None
    who = event.actor.name if event.actor else str(event.facts.get("account", "the machine"))
    facts = json.dumps(event.facts, ensure_ascii=False, sort_keys=True)
    cells = [
        str(event.pk),
        event.created_at.astimezone(UTC).isoformat(),
        project.slug if project else "",
        who,
        event.actor.kind if event.actor else "",
        event.action,
        entry.person or event.subject,
        facts if event.facts else "",
    ]
    return [harmless(cell) for cell in cells]


def harmless(cell: str) -> str:
    """Show controls as codes, and keep a spreadsheet from reading a cell as a formula."""
    shown = "".join(
        one if is_seen(cell, place) and one not in "\t\n" else f"<{code_and_name(one)[0]}>"
        for place, one in enumerate(cell)
    )
    return f"'{shown}" if _FORMULA.match(shown) else shown
