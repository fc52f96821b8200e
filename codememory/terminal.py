"""How commands speak: one answer on stdout, as JSON or for people; everything else on stderr.

Text of the subject is shown with its control characters made visible, so that nothing collected
can move the cursor, colour the screen or hide itself.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import textwrap
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from codememory.errors import CodeMemoryError
from codememory.models import Project
from codememory.projects import project_of_path, require_project
from codememory.unseen import to_json, visible

__all__ = ["to_json", "visible"]  # as commands import them

INTERRUPTED = 130  # what a shell expects of a program that Ctrl-C ended
NAMED = 5  # projects that a refusal names
PLAIN_SECONDS = 5.0  # between two lines of progress where a line cannot be rewritten
_DJANGO_OPTIONS = ("verbosity", "settings", "pythonpath", "traceback", "no-color", "force-color")


class RefusedError(CodeMemoryError):
    """A command will not do what was asked; its text says why and what to do."""


class TerminalCommand(BaseCommand):
    """A command of ours: one answer, errors in one line, Ctrl-C and a closed pipe without noise."""

    requires_system_checks: list[str] = []
    suppressed_base_arguments = {"--version", "--skip-checks", *(f"--{n}" for n in _DJANGO_OPTIONS)}

    def execute(self, *args: Any, **options: Any) -> str | None:
        logging.getLogger("django-q").setLevel(logging.WARNING)  # it tells of every wake-up
        try:
            answer = super().execute(*args, **options)
            self.stdout.flush()
        except KeyboardInterrupt:
            self.say("\ninterrupted")
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            # Whoever read us has seen enough; Python would complain once more at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        return answer

    def create_parser(self, *names: str, **options: Any) -> CommandParser:
        """Let options stand anywhere among several positional words."""
        parser = super().create_parser(*names, **options)
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser

    def say(self, line: str) -> None:
        """Tell the person something that is no part of the answer."""
        self.stderr.write(visible(line), _as_it_is)  # Django would make all of it red
        self.stderr.flush()

    def answer(self, document: Any, lines: Iterable[str], *, as_json: bool) -> None:
        """Print the one answer, for programs or for people."""
        text = to_json(document) if as_json else "\n".join(map(visible, lines))
        self.stdout.write(_encodable(text, getattr(self.stdout, "encoding", None)))

    def confirm(self, question: str, *, is_given: bool, expected: str = "y") -> bool:
        """Whether the person agrees: by --yes, or by what they type. Raises RefusedError."""
        if is_given:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise RefusedError("nothing was done: there is nobody to ask here, so add --yes")
        self.stderr.write(visible(question), _as_it_is, ending=" ")
        self.stderr.flush()
        typed = sys.stdin.readline().strip()
        return typed.lower() in {"y", "yes"} if expected == "y" else typed == expected


def _as_it_is(text: str) -> str:
    return text


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def add_project(parser: ArgumentParser) -> None:
    help_text = "a name or a path; without it, the project of the current folder"
    parser.add_argument("--project", metavar="P", help=help_text)


def add_page(parser: ArgumentParser, limit: int) -> None:
    parser.add_argument("--limit", type=positive, default=limit, metavar="N", help=f"({limit})")
    parser.add_argument("--cursor", metavar="C", help="go on after an earlier page")


def positive(text: str) -> int:
    """A number from 1 on, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


positive.__name__ = "number"  # argparse names the type in its complaint


def asked_project(name: str | None) -> Project:
    """Return the project asked for, else that of the current folder. Raises CodeMemoryError."""
    if name:
        return require_project(name)
    if found := project_of_path(Path.cwd()):
        return found
    slugs = list(Project.objects.order_by("slug").values_list("slug", flat=True))
    if not slugs:
        raise RefusedError(
            "no project is registered yet: `up --project PATH` registers and reads one"
        )
    more = f", ... and {len(slugs) - NAMED} more" if len(slugs) > NAMED else ""
    names = ", ".join(slugs[:NAMED]) + more
    raise RefusedError(f"{Path.cwd()} is in no registered project: say --project NAME ({names})")


def _encodable(text: str, encoding: str | None) -> str:
    if not encoding or encoding.lower().replace("-", "") == "utf8":
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


def width() -> int:
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


def clip(text: str, most: int) -> str:
    """One line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def wrap(text: str, indent: str = "  ") -> list[str]:
    lines = textwrap.wrap(
        text,
        width(),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines or [indent.rstrip()]


def table(rows: Sequence[Sequence[object]], *, indent: str = "", right: str = "") -> list[str]:
    """Align columns; `right` has an `r` at the place of each column of numbers."""
    texts = [[shown(cell) for cell in row] for row in rows]
    if not texts:
        return []
    sizes = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = []
    for row in texts:
        cells = [
            cell.rjust(size) if right[place : place + 1] == "r" else cell.ljust(size)
            for place, (cell, size) in enumerate(zip(row, sizes, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def shown(value: object) -> str:
    """A cell: numbers with separators, nothing for None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return "" if value is None else str(value)


def count_of(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def in_bytes(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def in_time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class ProgressLine:
    """A line on stderr that is rewritten; where that cannot be done, a plain line now and then."""

    def __init__(self) -> None:
        self._is_live = sys.stderr.isatty()
        self._last = ""
        self._due = 0.0

    def show(self, line: str, *, is_last: bool = False) -> None:
        if line == self._last and not is_last:
            return
        if self._is_live:
            sys.stderr.write("\r\x1b[K" + visible(clip(line, width() - 1)))
            sys.stderr.write("\n" if is_last else "")
        elif line != self._last and (is_last or time.monotonic() >= self._due):
            sys.stderr.write(visible(line) + "\n")
            self._due = time.monotonic() + PLAIN_SECONDS
        else:
            return
        self._last = line
        sys.stderr.flush()

    def clear(self) -> None:
        """Make room for other lines."""
        if self._is_live and self._last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._last = ""
