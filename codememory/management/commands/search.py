"""`search QUERY`: changes, document sections, candidates and memories that fit the words best."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory import recall
from codememory.answers import gap_lines, next_line, result_lines
from codememory.models import EntryKind
from codememory.terminal import TerminalCommand, add_json, add_page, add_project, asked_project


class Command(TerminalCommand):
    help = "Find changes, document sections, candidates and memories by words, names or paths."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", metavar="QUERY", help="words, identifiers or paths")
        parser.add_argument(
            "--kind", action="append", default=[], choices=EntryKind.values, help="(all)"
        )
        parser.add_argument("--path", metavar="P", help="only what touches this path")
        add_page(parser, 10)
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        found = recall.search(
            asked_project(options["project"]),
            options["query"],
            kinds=options["kind"],
            path=options["path"],
            limit=options["limit"],
            cursor=options["cursor"],
        )
        self.answer(found, lines_of(found), as_json=options["json"])


def lines_of(found: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for result in found["results"]:
        lines += [*result_lines(result), ""]
    if not found["results"]:
        lines = ["Nothing here fits these words.", ""]
    lines += gap_lines(found["gaps"])
    return [*lines, *next_line(found["next"])] or lines
