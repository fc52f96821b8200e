"""`demo [QUESTION]`: the whole way from a repository to a cited answer, on a project of its own."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory.answers import coverage_line, gap_lines, result_lines
from codememory.demo import QUESTION, run_demo
from codememory.terminal import TerminalCommand, add_json, count_of, wrap

SHOWN = {"applicable_rules": 3, "relevant_changes": 5, "documented_intent": 2}
SNIPPET_LINES = 5
TITLES = {
    "applicable_rules": "Rules that apply (promoted by a reviewer)",
    "relevant_changes": "What changed (from the code itself: every message is `fx`)",
    "documented_intent": "What documents say",
}


class Command(TerminalCommand):
    help = (
        "Build a small project, read it, promote one rule and answer a question about it, with "
        "evidence. All of it is kept apart from your own projects and made anew each time."
    )
    requires_system_checks = ["codememory"]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question", nargs="?", default=QUESTION, metavar="QUESTION")
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        found = run_demo(options["question"])
        self.answer(found, lines_of(found), as_json=options["json"])


def lines_of(found: dict[str, Any]) -> list[str]:
    totals, promoted, answer = found["totals"], found["promoted"], found["answer"]
    read = ", ".join(
        [
            count_of(found["commits"], "commit") + " that all say `fx`",
            count_of(totals["file_changes"], "file change"),
            count_of(totals["candidates"], "statement") + " proposed from documents",
        ]
    )
    lines = [
        f"read      {read} ({found['seconds']['collecting']} s)",
        f"promoted  {promoted['candidate']} became {promoted['memory']}, through the review form:",
        *wrap(f"“{promoted['statement']}”", " " * 10),
        *_labelled("asked", found["question"]),
        "",
    ]
    for name, title in TITLES.items():
        lines += [title, *_section(answer[name], SHOWN[name])]
    lines += [*gap_lines(answer["verification_gaps"]), "", coverage_line(answer["coverage"]), ""]
    ids = [item["evidence_id"] for item in answer["provenance"]]
    if ids:
        lines += wrap(f"Evidence: {' '.join(ids)}", "")
        code = [i for change in answer["relevant_changes"][:1] for i in change["evidence_ids"]]
        lines.append(f"Open one: python3 manage.py evidence {(code or ids)[0]} --demo")
    lines.append("Your own:  python3 manage.py up --project PATH")
    return lines


def _labelled(label: str, text: str) -> list[str]:
    first, *more = wrap(text, " " * 10)
    return [f"{label:9} {first.strip()}", *more]


def _section(results: list[dict[str, Any]], most: int) -> list[str]:
    lines: list[str] = []
    for result in results[:most]:
        lines += [*result_lines(result, snippet_lines=SNIPPET_LINES), ""]
    if not results:
        lines = ["        nothing about this", ""]
    elif len(results) > most:
        lines += [f"        … and {len(results) - most} more, with --json", ""]
    return lines
