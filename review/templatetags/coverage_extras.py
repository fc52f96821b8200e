"""Template parts of the dashboard and of the pages of rows behind its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django import template
from django.contrib.admin.templatetags import admin_list
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from review.coverage import charts
from review.coverage.claims import Backlog, KnowledgeRow
from review.coverage.figures import Figure, exact, rows_name
from review.coverage.sources import Cell
from review.coverage.work import CostRow
from review.templatetags.review_extras import age

register = template.Library()

UNITS = ("B", "kB", "MB", "GB", "TB")
PHASE_TONES = 4  # greys, over and over: neighbours differ
STANDING_PARTS = ("open", "put-off", "refused", "kept", "past", "past")


@register.filter
def thousands(number: int | None) -> str:
    """Write a number with commas."""
    return "none" if number is None else f"{number:,}"


@register.filter
def size(number: float | Decimal) -> str:
    """Write bytes in the largest unit that leaves at least one."""
    amount = float(number)
    for unit in UNITS:
        if amount < 1000 or unit == UNITS[-1]:
            digits = 1 if unit != "B" and amount < 100 else 0
            return f"{amount:.{digits}f} {unit}"
        amount /= 1000
    raise AssertionError


@register.filter
def part_of(number: float, whole: float) -> str:
    """Write a part in percent."""
    return f"{100 * number / whole:.1f} %" if whole else "all of it"


@register.filter
def duration(seconds: float | Decimal) -> str:
    """Write seconds."""
    amount = float(seconds)
    if amount >= 120:
        return f"{int(amount // 60)} min {int(amount % 60)} s"
    return f"{amount:.1f} s" if amount >= 0.05 else f"{amount * 1000:.0f} ms"


def written(value: Any, unit: str) -> str:
    """Write a value as its unit wants it."""
    if isinstance(value, datetime):
        return age(value)
    if unit == "bytes":
        return size(value)
    if unit == "seconds":
        return duration(value)
    return f"{Decimal(value):,.0f}"


@register.simple_tag
def figure(number: Figure, words: str = "", css: str = "") -> SafeString:
    """Print a number as the link to its rows; `words` tell a screen reader what it counts."""
    said = f"{'about ' if number.is_about else ''}{written(number.value, number.unit)}"
    hidden = format_html('<span class="vh"> {}</span>', words) if words else ""
    faint = "" if number.value else " zero"
    return format_html(
        '<a class="figure{}{}" href="{}" data-value="{}">{}{}</a>',
        faint,
        f" {css}" if css else "",
        number.href,
        number.exact,
        said,
        hidden,
    )


@register.filter
def plural(options: Any) -> str:
    """Say what a table's rows are called, from the model's options."""
    return rows_name(options)


@register.filter
def measured(value: Any, unit: str) -> str:
    """Write what a page of rows measured; nothing where there is nothing to measure."""
    return "none" if value is None else written(value, unit)


@register.filter
def machine(value: Any) -> str:
    """Write a measured value as the dashboard's link does."""
    return "0" if value is None else exact(value)


@register.simple_tag
def coverage_bar(cell: Cell) -> SafeString:
    """Draw how much of a source was read."""
    return charts.coverage_bar(cell.share or 0.0, cell.gap_share, is_bad=cell.is_bad)


@register.simple_tag
def backlog_chart(backlog: Backlog) -> SafeString:
    """Draw what was left to review at the end of each day."""
    points, peak = backlog.points, backlog.peak
    title = (
        f"Candidates left to review: {points[0].number} on {short_day(points[0].day)}, highest"
        f" {peak.number} on {short_day(peak.day)}, {points[-1].number} today"
    )
    return charts.area([point.number for point in points], title)


@register.simple_tag
def column(number: Figure, most: int) -> SafeString:
    """Draw a count as an upright bar."""
    return charts.column(int(str(number.value)), most)


@register.simple_tag
def part_bar(amount: float | Decimal, most: float | Decimal, kind: str = "b") -> SafeString:
    """Draw one amount to the scale of the largest."""
    return charts.stacked([(kind, float(amount))], float(most))


@register.simple_tag
def phase_bar(cost: CostRow, most: Decimal) -> SafeString:
    """Draw the seconds of each phase one after the other."""
    parts = [
        (f"phase{number % PHASE_TONES}", float(str(seconds.value)))
        for number, _, seconds in cost.phases
    ]
    return charts.stacked(parts, float(most))


@register.filter
def tone(number: int) -> int:
    """The grey of a phase."""
    return number % PHASE_TONES


@register.simple_tag
def standing_bar(row: KnowledgeRow, most: int) -> SafeString:
    """Draw a type's candidates and memories by standing: the more solid, the surer."""
    parts = [
        (kind, float(str(number.value)))
        for kind, number in zip(STANDING_PARTS, row.figures, strict=True)
    ]
    return charts.stacked(parts, most)


@register.filter
def short_day(when: date) -> str:
    """Write a day without its year."""
    return f"{when.day} {when:%b}"


@register.filter
def short_oid(oid: str | None) -> str:
    """Write the first digits of an object id."""
    return (oid or "")[:8]


@register.simple_tag
def folded_rows(changes: Any) -> Iterator[list[SafeString]]:
    """Return the cells of a page of rows, each with its column's name for narrow screens."""
    names = [str(header["text"]).capitalize() for header in admin_list.result_headers(changes)]
    for result in admin_list.results(changes):
        yield [_named(cell, name) for cell, name in zip(result, names, strict=True)]


@register.simple_tag
def row_headers(changes: Any) -> list[dict[str, Any]]:
    return list(admin_list.result_headers(changes))


def _named(cell: str, name: str) -> SafeString:
    """Add a column's name to a cell that Django has made (and escaped)."""
    tag = "<th" if cell.startswith("<th") else "<td"
    scope = ' scope="row"' if tag == "<th" else ""
    label = format_html(' data-l="{}"', name)
    return mark_safe(f"{tag}{scope}{label}{cell[len(tag) :]}")  # noqa: S308 -- escaped by Django
