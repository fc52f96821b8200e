"""`projects`: what is registered; adds, moves and removes, each after a preview and a yes."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory.models import Candidate, CandidateState, Project
from codememory.policies import read_policy
from codememory.preview import preview_lines, preview_project
from codememory.projects import linked_worktrees, require_exact_project
from codememory.registering import preview_of, register_after_yes
from codememory.removal import remove_project
from codememory.status import run_counts, totals
from codememory.terminal import RefusedError, TerminalCommand, add_json, count_of, table
from codememory.worktrees import (
    add_worktree,
    find_movable,
    move_lines,
    move_project,
    plan_move,
    plan_worktree,
)

ACTIONS = ("list", "add", "add-worktree", "move", "remove")
Answer = tuple[dict[str, Any], list[str]]


class Command(TerminalCommand):
    help = (
        "List the registered projects; add one; add-worktree: a linked worktree of a registered "
        "clone to its project; move: follow a checkout to its new folder; remove: delete all rows "
        "of a project. Each shows what it does first. See `policy` to disable or archive a source."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", nargs="?", default="list", choices=ACTIONS)
        parser.add_argument("project", nargs="?", metavar="P", help="a folder to add, or a name")
        parser.add_argument("target", nargs="?", metavar="NEW", help="for move: where P is now")
        parser.add_argument("--preview", action="store_true", help="only show what it would do")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["action"] == "list":
            rows = [describe(project) for project in Project.objects.order_by("slug")]
            self.answer({"projects": rows}, list_lines(rows), as_json=options["json"])
            return
        if options["project"] is None:
            raise RefusedError("say which project: a name that `projects` lists, or a folder")
        self._is_preview = options["preview"]
        if (options["action"] == "move") != (options["target"] is not None):
            raise RefusedError("`projects move OLD NEW` takes two folders, and nothing else does")
        if options["action"] == "move":
            document, lines = self._move(
                options["project"], options["target"], is_given=options["yes"]
            )
        else:
            act = {"add": self._add, "remove": self._remove, "add-worktree": self._add_worktree}
            document, lines = act[options["action"]](options["project"], is_given=options["yes"])
        self.answer(document, lines, as_json=options["json"])

    def _ask(self, question: str, refusal: str, *, is_given: bool, expected: str = "y") -> None:
        if not self.confirm(question, is_given=is_given, expected=expected):
            raise RefusedError(refusal)

    def _add(self, name: str, *, is_given: bool) -> Answer:
        if self._is_preview:
            preview = preview_of(name)
            return {"is_preview": True, **preview.as_json()}, preview_lines(preview)
        project, is_new = register_after_yes(self, name, is_given=is_given)
        state = "registered" if is_new else "was registered already"
        line = f"{project.slug} {state}: `collect --project {project.slug} --wait` reads it"
        return {**describe(project), "is_new": is_new}, [line]

    def _add_worktree(self, path: str, *, is_given: bool) -> Answer:
        project, repository = plan_worktree(path)
        preview = preview_project(repository.root, read_policy(project.scope_id))
        lines = [
            f"A checkout of the clone of {project.slug}, to be read under its policy:",
            *preview_lines(preview),
        ]
        if self._is_preview:
            document = {"is_preview": True, "project": project.slug, **preview.as_json()}
            return document, lines
        for line in lines:
            self.say(line)
        refusal = f"{repository.root} was not added, and nothing of it was read"
        question = f"\nAdd {repository.root} to {project.slug}? [y/N]"
        self._ask(question, refusal, is_given=is_given)
        worktree = add_worktree(project, repository)
        line = f"{worktree.root} is a worktree of {project.slug}: `collect` reads it"
        return {**describe(project), "added": worktree.root}, [line]

    def _move(self, old: str, new: str, *, is_given: bool) -> Answer:
        move = plan_move(find_movable(old), new)
        lines = move_lines(move)
        document = {
            "project": move.project.slug,
            "from": move.project.root,
            "to": str(move.repository.root),
            "known_by": {"head": move.head_oid, "root_commits": list(move.root_oids)},
        }
        if self._is_preview:
            return {"is_preview": True, **document}, lines
        for line in lines:
            self.say(line)
        refusal = f"{move.project.slug} was not moved"
        self._ask("\nMove it? [y/N]", refusal, is_given=is_given)
        broken = [worktree.root for worktree in move_project(move)]
        said = [f"{move.project.slug} is at {move.project.root} from now on"]
        said += [
            f"Its worktree {root} does not open: `git worktree repair` in {move.project.root} may"
            " mend it"
            for root in broken
        ]
        return {**document, "broken_worktrees": broken}, said

    def _remove(self, name: str, *, is_given: bool) -> Answer:
        project = require_exact_project(name)
        lines = [
            f"Removing {project.slug} deletes all that is stored about it:",
            *(f"  {line}" for line in removal_lines(project)),
            f"Nothing under {project.root} is changed. This cannot be undone.",
        ]
        if self._is_preview:
            return {"is_preview": True, **describe(project)}, lines
        for line in lines:
            self.say(line)
        question, refusal = f"Type {project.slug} to remove it:", f"{project.slug} was not removed"
        self._ask(question, refusal, is_given=is_given, expected=project.slug)
        deleted = remove_project(project)
        line = f"{project.slug} is removed: {count_of(sum(deleted.values()), 'row')}"
        return {"removed": project.slug, "rows": deleted}, [line]


def describe(project: Project) -> dict[str, Any]:
    counted = totals(project.scope_id)
    pending = Candidate.objects.filter(scope_id=project.scope_id, state=CandidateState.PENDING)
    return {
        "project": project.slug,
        "root": project.root,
        "worktrees": [worktree.root for worktree in linked_worktrees(project)],
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
