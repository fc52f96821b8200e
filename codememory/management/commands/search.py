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
        parser.add_argument("--explain", action="store_true", help="say why each result ranked")
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
            explain=options["explain"],
        )
        self.answer(found, lines_of(found), as_json=options["json"])


def lines_of(found: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for result in found["results"]:
        lines += [*result_lines(result), *_why_lines(result.get("why")), ""]
    if not found["results"]:
        lines = ["Nothing here fits these words.", ""]
    lines += gap_lines(found["gaps"])
    return [*lines, *next_line(found["next"])] or lines


def _why_lines(why: dict[str, Any] | None) -> list[str]:
    """A score part by part: terms with their fields, neighbours, the shape of a change."""
    if why is None:
        return []
    lines = [f"        score {why['score']}: terms {why['first']}, with the rest {why['second']}"]
    for part in why["terms"]:
        fields = ", ".join(f"{name} {share:.3f}" for name, share in part["fields"].items())
        lines.append(
            f"          {part['score']:+.3f} {part['term']}: weight {part['weight']:g}, rarity"
            f" {part['idf']:.2f}, impact {part['impact']:.3f} ({fields})"
        )
    lines += [
        f"          {pair['score']:+.3f} neighbours: {' '.join(pair['words'])}"
        for pair in why["neighbours"]
    ]
    if why["shape"]:
        shape = sorted(why["shape"].items(), key=lambda pair: -abs(pair[1]))
        said = ", ".join(f"{name} {share:+.3f}" for name, share in shape)
        asked = ", ".join(why["verbs"])
        lines.append(f"          {sum(why['shape'].values()):+.3f} shape ({asked}): {said}")
    return lines
