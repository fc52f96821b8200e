"""The sections of a document, nested as its headings are; `documents.py` feeds it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from collectors.lines import Lines
from collectors.values import Section


@dataclass(slots=True)
class _OpenSection:
    heading: str
    level: int
    path: tuple[str, ...]
    ordinal: int
    first: int


class Outline:
    """The sections of a document as its headings come by."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.open_sections: list[_OpenSection] = []
        self.closed: list[Section] = []
        self.seen: dict[tuple[str, ...], int] = {}

    @property
    def path(self) -> tuple[str, ...]:
        return self.open_sections[-1].path if self.open_sections else ()

    def open_preamble(self, line: int) -> None:
        self.open_sections.append(_OpenSection("", 0, (), 0, line))

    def open(self, line: int, level: int, heading: str) -> None:
        while self.open_sections and self.open_sections[-1].level not in range(1, level):
            self._close_last(line)
        path = (*self.path, heading)
        ordinal = self.seen.get(path, 0)
        self.seen[path] = ordinal + 1
        self.open_sections.append(_OpenSection(heading, level, path, ordinal, line))

    def close(self) -> tuple[Section, ...]:
        while self.open_sections:
            self._close_last(len(self.lines.starts))
        return tuple(sorted(self.closed, key=lambda section: (section.start, section.level)))

    def _close_last(self, end_line: int) -> None:
        section = self.open_sections.pop()
        lines = self.lines
        last = end_line - 1
        while last > section.first and lines.is_blank(last):
            last -= 1
        start, end = lines.starts[section.first], lines.ends[last]
        self.closed.append(
            Section(
                heading=section.heading,
                level=section.level,
                heading_path=section.path,
                ordinal=section.ordinal,
                start=start,
                end=end,
                first_line=section.first + 1,
                last_line=last + 1,
                sha256=sha256(lines.content[start:end]).digest(),
            )
        )
