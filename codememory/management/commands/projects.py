"""`projects`: what is registered; registers a folder after preview and yes, or removes one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory.models import Candidate, CandidateState, Project
from codememory.projects import require_exact_project
from codememory.registering import register_after_yes
from codememory.removal import remove_project
from codememory.status import run_counts, totals
from codememory.terminal import RefusedError, TerminalCommand, add_json, count_of, table

WORDS = {"file_changes": "file change", "memories": "memory"}


class Command(TerminalCommand):
    help = "List the registered projects, add one after a preview, or remove one with all its rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", nargs="?", default="list", choices=["list", "add", "remove"])
        parser.add_argument("project", nargs="?", metavar="P", help="a folder to add, or a name")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["action"] == "list":
            rows = [describe(project) for project in Project.objects.order_by("slug")]
            self.answer({"projects": rows}, list_lines(rows), as_json=options["json"])
            return
        if options["project"] is None:
            raise RefusedError("say which project: a name that `projects` lists, or a folder")
        act = {"add": self._add, "remove": self._remove}[options["action"]]
        document, line = act(options["project"], is_given=options["yes"])
        self.answer(document, [line], as_json=options["json"])

    def _add(self, name: str, *, is_given: bool) -> tuple[dict[str, Any], str]:
        project, is_new = register_after_yes(self, name, is_given=is_given)
        state = "registered" if is_new else "was registered already"
        line = f"{project.slug} {state}: `collect --project {project.slug} --wait` reads it"
        return {**describe(project), "is_new": is_new}, line

    def _remove(self, name: str, *, is_given: bool) -> tuple[dict[str, Any], str]:
        project = require_exact_project(name)
        self.say(f"Removing {project.slug} deletes all that is stored about it:")
        for line in removal_lines(project):
            self.say(f"  {line}")
        self.say(f"Nothing under {project.root} is changed. This cannot be undone.")
        question = f"Type {project.slug} to remove it:"
        if not self.confirm(question, is_given=is_given, expected=project.slug):
            raise RefusedError(f"{project.slug} was not removed")
        deleted = remove_project(project)
        line = f"{project.slug} is removed: {count_of(sum(deleted.values()), 'row')}"
        return {"removed": project.slug, "rows": deleted}, line


def describe(project: Project) -> dict[str, Any]:
    counted = totals(project.scope_id)
    pending = Candidate.objects.filter(scope_id=project.scope_id, state=CandidateState.PENDING)
    return {
        "project": project.slug,
        "root": project.root,
        "commits": counted["commits"],
        "segments": counted["segments"],
        "pending": pending.count(),
        "memories": counted["memories"],
        "runs": run_counts(project.scope_id),
        "created_at": project.created_at.isoformat(),
    }


def list_lines(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return ["No project is registered: `up --project PATH` or `projects add PATH` does it."]
    head = ["project", "commits", "segments", "to review", "memories", "root"]
    names = ("project", "commits", "segments", "pending", "memories", "root")
    return table([head, *([row[name] for name in names] for row in rows)], right=" rrrr")


def removal_lines(project: Project) -> list[str]:
    return [
        f"{number:,} {name.replace('_', ' ')}"
        for name, number in totals(project.scope_id).items()
        if number
    ] or ["nothing is stored yet"]
