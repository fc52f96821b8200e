"""`context TASK`: what an agent is told before it starts on a task, with evidence for all of it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory import recall
from codememory.answers import context_lines
from codememory.context import over_budget
from codememory.terminal import TerminalCommand, add_json, add_project, asked_project, positive


class Command(TerminalCommand):
    help = "Rules, changes, documents and gaps that matter for a task, each with its evidence."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("task", metavar="TASK", help="the task, in words")
        parser.add_argument("--path", action="append", default=[], metavar="P")
        parser.add_argument("--symbol", action="append", default=[], metavar="S")
        parser.add_argument("--intent", metavar="I", help="what the change is for")
        parser.add_argument("--budget", type=positive, default=4000, metavar="TOKENS")
        parser.add_argument("--cursor", metavar="C", help="go on after an earlier page")
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        found = recall.engineering_context(
            asked_project(options["project"]),
            options["task"],
            paths=options["path"],
            symbols=options["symbol"],
            intent=options["intent"],
            budget=options["budget"],
            cursor=options["cursor"],
        )
        if note := over_budget(found, options["budget"]):
            self.say(note)
        self.answer(found, context_lines(found), as_json=options["json"])
