"""Template parts of the console: icons, text with its invisible characters shown, short times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from review.access import KEYS_COOKIE
from review.differences import Cell, Part
from review.excerpts import ExcerptLine
from review.forms import FLAGS
from review.glyphs import code_and_name, is_seen
from review.icons import ICONS
from review.shortcuts import SHORTCUTS

register = template.Library()

VERDICT_SENTENCES = {
    "CURRENT_SUPPORTED": "The text still stands in the checkout as it was read.",
    "HISTORICAL": "The text stood there once and is gone from the checkout.",
    "RECHECK_REQUIRED": "The text has changed in the checkout. Read it there before relying on it.",
    "UNKNOWN": "Whether the text still stands cannot be said now.",
}
FLAG_WORDS = dict(FLAGS)
TAGS = {"old": "<del>{}</del>", "new": "<ins>{}</ins>", "cited": "<mark>{}</mark>"}
_REDACTED = re.compile(r"\[(REDACTED:[a-z0-9_-]{1,40}:[0-9a-f]{8})\]")


@register.simple_tag
def icon(name: str) -> SafeString:
    """Print an icon as inline SVG; it is decoration, the word stands beside it."""
    return format_html(
        '<svg class="icon" width="16" height="16" viewBox="0 0 16 16" fill="none"'
        ' stroke="currentColor" aria-hidden="true" focusable="false">{}</svg>',
        format_html_join("", '<path d="{}"/>', ((path,) for path in ICONS[name])),
    )


@register.simple_tag
def shortcut(name: str) -> SafeString:
    """Print the attribute by which the script finds the element that a key presses.

    Two keys in a row have no name in ARIA, whose space separates alternatives.
    """
    key = SHORTCUTS[name].key
    return format_html('data-keys="{}"' if " " in key else 'aria-keyshortcuts="{}"', key)


@register.simple_tag
def cap(name: str) -> SafeString:
    """Draw a key's cap; readers are told by the attribute."""
    return format_html('<kbd aria-hidden="true">{}</kbd>', SHORTCUTS[name].cap)


@register.filter
def flag_words(flag: str) -> str:
    """Say a candidate's flag in words."""
    return FLAG_WORDS.get(flag) or words(flag)


@register.filter
def visible(text: str, redactions: list[object] | None = None) -> SafeString:
    """Show text glyph by glyph: characters that cannot be seen become boxed codes.

    Marks of redaction are boxed too where there were any: text can imitate them.
    """
    plain = _with_redactions if redactions else conditional_escape
    parts: list[SafeString] = []
    plain_from = 0
    for index, character in enumerate(text):
        if is_seen(text, index):
            continue
        parts += [plain(text[plain_from:index]), _boxed(character)]
        plain_from = index + 1
    parts.append(plain(text[plain_from:]))
    return format_html_join("", "{}", ((part,) for part in parts))


@register.filter
def marked(parts: Iterable[Part]) -> SafeString:
    """Show a word difference: what went struck, what came underlined."""
    return format_html_join(
        "", "{}", ((format_html(TAGS.get(part.kind, "{}"), visible(part.text)),) for part in parts)
    )


@register.filter
def code(line: ExcerptLine | Cell, redactions: list[object] | bool | None = None) -> SafeString:
    """Show a line of evidence: its marked parts, its code in classes, and every character of it.

    Marks of redaction are boxed where there were any (`redactions`), as `visible` does.
    """
    text = line.text
    markers = list(_REDACTED.finditer(text)) if redactions else []
    shown: list[SafeString] = []
    at = 0
    for part in line.parts:
        end = at + len(part.text)
        inner = _runs(text, at, end, line.spans, markers)
        shown.append(format_html(TAGS.get(part.kind, "{}"), inner))
        at = end
    return format_html_join("", "{}", ((part,) for part in shown))


def _runs(
    text: str,
    start: int,
    end: int,
    spans: Iterable[tuple[int, int, str]],
    markers: Iterable[re.Match[str]],
) -> SafeString:
    """Characters [start, end) of a line; marks of redaction are whole boxes, in no class."""
    boxes = [found for found in markers if start <= found.start() and found.end() <= end]
    edges = [(found.start(), found.end(), "") for found in boxes]
    for first, last, kind in spans:
        edges += [
            (max(first, a), min(last, b), kind)
            for a, b in _between(boxes, start, end)
            if max(first, a) < min(last, b)
        ]
    shown: list[SafeString] = []
    at = start
    for first, last, kind in sorted(edges):
        shown.append(_glyphs(text, at, first))
        if kind:
            shown.append(
                format_html('<span class="{}">{}</span>', kind, _glyphs(text, first, last))
            )
        else:
            shown.append(
                format_html('<span class="redacted">{}</span>', text[first + 1 : last - 1])
            )
        at = last
    shown.append(_glyphs(text, at, end))
    return format_html_join("", "{}", ((part,) for part in shown))


def _between(boxes: list[re.Match[str]], start: int, end: int) -> list[tuple[int, int]]:
    """What is left of [start, end) beside the boxes."""
    edges = [start, *(edge for box in boxes for edge in box.span()), end]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _glyphs(text: str, start: int, end: int) -> SafeString:
    """Characters [start, end) of a text, each shown by what stands around it in all of it."""
    parts: list[SafeString] = []
    plain_from = start
    for index in range(start, end):
        if not is_seen(text, index):
            parts += [conditional_escape(text[plain_from:index]), _boxed(text[index])]
            plain_from = index + 1
    parts.append(conditional_escape(text[plain_from:end]))
    return format_html_join("", "{}", ((part,) for part in parts))


@register.filter
def words(constant: str) -> str:
    """Say a constant in words: error_fix is "error fix", DECISION is "decision"."""
    return str(constant).replace("_", " ").lower()


@register.filter
def article(word: str) -> str:
    """Put "a" or "an" before a word."""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


@register.filter
def verdict_sentence(kind: str) -> str:
    """Say what a verdict means for the reviewer."""
    return VERDICT_SENTENCES.get(kind, VERDICT_SENTENCES["UNKNOWN"])


@register.filter
def with_at(query: str, number: int) -> str:
    """Add the current candidate to a query string."""
    return f"{query}&at={number}" if query else f"?at={number}"


@register.filter
def keys_are_on(cookies: dict[str, str] | str) -> bool:
    """Say whether this browser wants single-key shortcuts; an error page may know no cookies."""
    return not isinstance(cookies, dict) or cookies.get(KEYS_COOKIE) != "off"


@register.filter
def age(moment: datetime) -> str:
    """Say how old something is in its largest unit."""
    seconds = max((timezone.now() - moment).total_seconds(), 0)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return "now"


@register.filter
def moment(when: datetime) -> str:
    """Write a time in full, in UTC."""
    return f"{when.day} {when:%b %Y %H:%M} UTC"


def _boxed(character: str) -> SafeString:
    code, name = code_and_name(character)
    return format_html(
        '<span class="code-point" title="{} {}: not visible in the source">{}</span>',
        code,
        name,
        code,
    )


def _with_redactions(text: str) -> SafeString:
    pieces = _REDACTED.split(text)
    return format_html_join(
        "",
        "{}",
        (
            (format_html('<span class="redacted">{}</span>', piece) if index % 2 else piece,)
            for index, piece in enumerate(pieces)
        ),
    )


@register.filter
def day(when: datetime) -> str:
    """Write the day alone."""
    return f"{when.day} {when:%b %Y}"
