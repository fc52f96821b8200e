"""`evidence ID`: one piece of evidence, exactly as its source has it, with where it is from."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory.answers import evidence_lines
from codememory.evidence import find_evidence
from codememory.models import Project
from codememory.terminal import (
    RefusedError,
    TerminalCommand,
    add_json,
    add_project,
    asked_project,
    visible,
)


class Command(TerminalCommand):
    help = "Show a piece of evidence by its id (A12.1, B12.1, S34), with its whole source."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="as answers cite it: A12.1, B12.1 or S34")
        parser.add_argument("--demo", action="store_true", help="of the demo's project")
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["demo"]:  # manage.py has opened the demo's own database: it holds one project
            project = Project.objects.first()
            if project is None:
                raise RefusedError("the demo here is not complete: run `demo` again")
        else:
            project = asked_project(options["project"])
        found = find_evidence(project, options["id"])
        if found is None:
            shown = visible(options["id"][:40])
            raise RefusedError(f"there is no evidence {shown} in {project.slug}")
        self.answer(found, evidence_lines(found), as_json=options["json"])
