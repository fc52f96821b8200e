"""Template parts of the explorer: where an id leads, times of commits, words of its constants."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlencode

from django import template
from django.urls import reverse

from codememory.models import GitCommit, OriginKind, OriginState, Project
from codememory.timeline_events import text_of
from review.explorer.dates import when
from review.explorer.hunk_rows import unified
from review.explorer.titles import KINDS, SYMBOL_KINDS, path_of

register = template.Library()
ORIGIN_STATES = {
    OriginState.CERTAIN: "the only possible source",
    OriginState.OPEN: "one of several possible sources, nobody chose yet",
    OriginState.ACCEPTED: "chosen by a reviewer",
    OriginState.REFUSED: "refused by a reviewer",
}


@register.simple_tag
def history_of(project: Project, path: str | None, symbol: str | None = None) -> str:
    """Return the address of a subject's history."""
    subject = f"{path}:{symbol}" if path and symbol else symbol or path
    address = reverse("review:history", kwargs={"slug": project.slug})
    return f"{address}?{urlencode({'subject': subject})}"


@register.simple_tag
def place_of(project: Project, name: str) -> str:
    """Return the address of what an id names: a change, a document, evidence, a candidate."""
    letter, number = name[:1], name[1:]
    if letter == "L":
        return _address("change", project, number=int(number))
    if letter == "D":
        return _address("document", project, number=int(number))
    if letter == "C":
        return _address("candidate", project, number=int(number))
    return _address("evidence", project, name=name)


def _address(view: str, project: Project, **named: object) -> str:
    return reverse(f"review:{view}", kwargs={"slug": project.slug, **named})


@register.filter
def moment_of(seconds: int) -> datetime | None:
    """Return the moment of a commit's seconds, in UTC."""
    return when(seconds)


@register.filter
def written(commit: GitCommit) -> datetime | None:
    """Return when a commit's author says they wrote it, in their zone."""
    return when(commit.author_time, commit.author_offset)


@register.filter
def stamp(moment: datetime | None) -> str:
    """Write a time in full, in the zone that it was written in."""
    return f"{moment.day} {moment:%b %Y %H:%M %z}" if moment else "a time of no calendar"


@register.filter
def iso(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""


@register.filter
def day_of(moment: datetime | None) -> str:
    """Write the day alone."""
    return f"{moment.day} {moment:%b %Y}" if moment else "no date"


@register.filter
def name_of(raw: bytes | memoryview) -> str:
    """Return text that Git gives as bytes."""
    return text_of(raw)


@register.filter
def first_line(raw: bytes | memoryview) -> str:
    """Return the first line of a message."""
    return text_of(raw).strip().split("\n")[0][:200]


@register.filter
def file_words(kind: str) -> str:
    """Say what Git's letter of a file change means."""
    return KINDS.get(kind, "changed")


@register.filter
def origin_words(kind: str) -> str:
    """Say how a file may have come from another."""
    return "copied from" if kind == OriginKind.COPY else "renamed from"


@register.filter
def origin_state(state: str) -> str:
    """Say how sure it is that a file came from another."""
    return ORIGIN_STATES[OriginState(state)]


@register.filter
def symbol_words(kind: str) -> str:
    """Say what happened to a symbol."""
    return SYMBOL_KINDS.get(kind, "changed")


@register.filter
def octal(mode: int) -> str:
    """Write a file's mode as Git does."""
    return f"{mode:06o}"


@register.filter
def percent(share: float) -> int:
    """Say a share of one in percent."""
    return round(share * 100)


@register.filter
def portion(share: float) -> str:
    """Say how much of a change is meant by a share of its lines."""
    if share >= 1:
        return "all of its lines"
    return f"{round(share * 100)} % of its lines" if share >= 0.01 else "a line of it"


@register.filter
def grouped(number: int | None) -> str:
    """Write a large number so that it can be read."""
    return f"{number:,}" if number is not None else "unknown"


@register.filter
def share_of(count: int, most: int) -> int:
    """Return the width of a bar of 100 for a count."""
    return round(100 * count / most) if most else 0


register.filter("unified", unified)
register.filter("path_of", path_of)
