"""Charts as SVG drawn here: shapes only, every word and number stands in HTML beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

GAP = 0.6  # percent left free between the parts of a bar
WIDTH, HEIGHT = 600, 140


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: its class in the stylesheet and its share of the whole in percent."""

    kind: str
    share: float
    is_low: bool = False  # half as high: told apart by shape, not by colour alone


def bar(parts: Sequence[Part]) -> SafeString:
    """Draw parts one after the other on an empty track of 100 percent."""
    rects, left = [], 0.0
    for part in parts:
        width = round(min(part.share, 100 - left), 2)
        if width <= 0:
            continue
        y, height = (4, 4) if part.is_low else (0, 8)
        rects.append((part.kind, round(left, 2), y, width, height))
        left += width + (GAP if len(parts) > 1 else 0)
    return format_html(
        '<svg class="bar" width="100" height="8" viewBox="0 0 100 8" preserveAspectRatio="none"'
        ' aria-hidden="true" focusable="false">'
        '<rect class="track" width="100" height="8"/>{}</svg>',
        format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', rects),
    )


def coverage_bar(share: float, gap_share: float, *, is_bad: bool) -> SafeString:
    """Draw what was read (full), what has a gap (low), and that the last run failed (full, red)."""
    gap = min(gap_share, 30.0)
    bad = 6.0 if is_bad else 0.0
    room = 100 - (gap + GAP if gap else 0) - (bad + GAP if bad else 0)
    return bar([Part("ok", min(share, room)), Part("gap", gap, is_low=True), Part("bad", bad)])


def stacked(parts: Sequence[tuple[str, float]], most: float) -> SafeString:
    """Draw amounts of several kinds one after the other, to the scale of the largest bar."""
    whole = most or 1
    shown = [Part(kind, max(100 * amount / whole, 0.8)) for kind, amount in parts if amount]
    return bar(shown)


def column(number: int, most: int) -> SafeString:
    """Draw one upright bar to the scale of the highest."""
    height = round(24 * number / most, 1) if most else 0
    height = max(height, 1.5) if number else 0
    return format_html(
        '<svg class="column" width="24" height="24" viewBox="0 0 24 24" preserveAspectRatio="none"'
        ' aria-hidden="true" focusable="false"><rect class="base" y="23" width="24" height="1"/>'
        '<rect class="b" x="2" y="{}" width="20" height="{}"/></svg>',
        round(24 - height, 1),
        height,
    )


def step_for(most: int) -> int:
    """Return the distance of the lines across a chart: 1, 2 or 5 times a power of ten."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if most <= 4 * factor * size:
                return factor * size
        size *= 10


def area(values: Sequence[int], title: str) -> SafeString:
    """Draw values over equal distances as a line on a filled area, with lines across."""
    step = step_for(max(values, default=0))
    top = max(step * (max(values, default=0) // step + 1), step)
    places = [
        (
            round(WIDTH * index / max(len(values) - 1, 1), 1),
            round(HEIGHT - HEIGHT * value / top, 1),
        )
        for index, value in enumerate(values)
    ]
    line = " L".join(f"{x} {y}" for x, y in places)
    across = [(round(HEIGHT - HEIGHT * at / top, 1),) * 2 for at in range(0, top + 1, step)]
    return format_html(
        '<svg class="chart" width="{w}" height="{h}" viewBox="0 0 {w} {h}"'
        ' preserveAspectRatio="none" role="img" aria-label="{title}">'
        '<path class="area" d="M{line} L{w} {h} L0 {h} Z"/>{across}'
        '<path class="line" d="M{line}"/></svg>',
        w=WIDTH,
        h=HEIGHT,
        title=title,
        line=line,
        across=format_html_join(
            "", f'<line class="across" x1="0" x2="{WIDTH}" y1="{{}}" y2="{{}}"/>', across
        ),
    )
