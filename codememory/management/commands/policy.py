"""`policy`: what may be read of a project, how much of it, and what a change of it would do."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from codememory.audit import account_name
from codememory.models import Policy, Project
from codememory.policies import newest_policy, set_policy, values_of
from codememory.policy_keys import KEYS, Values, changed, shown
from codememory.policy_preview import PolicyPreview, policy_preview_lines, preview_policy
from codememory.policy_runs import request_reading
from codememory.terminal import (
    RefusedError,
    TerminalCommand,
    add_json,
    add_project,
    asked_project,
    table,
    wrap,
)

LISTS = ("include", "exclude")


class Command(TerminalCommand):
    help = (
        "Show what may be read of a project, preview a change of it to the path, or set it. Each "
        "change is a new generation: a run keeps the one that it started with, answers go by the "
        "newest. Removing a project is another thing: see `projects remove`."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = "\n".join(["keys:", *key_help()])
        parser.add_argument("action", nargs="?", default="show", choices=["show", "set", "preview"])
        parser.add_argument("key", nargs="?", metavar="KEY", help="one of the keys below")
        parser.add_argument(
            "values", nargs="*", metavar="VALUE", help="for include and exclude: all their globs"
        )
        parser.add_argument("--add", action="store_true", help="add the globs to those there are")
        parser.add_argument("--remove", action="store_true", help="take the globs away")
        parser.add_argument("--clear", action="store_true", help="leave no glob")
        parser.add_argument("--all", action="store_true", help="list every path, not three a rule")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        project = asked_project(options["project"])
        row = newest_policy(project)
        if options["action"] == "show":
            self._show(project, row, options)
            return
        if options["key"] is None:
            raise RefusedError(f"say which key: {', '.join(KEYS)}")
        values = asked_values(values_of(row), options)
        preview = preview_policy(project, values)
        if options["action"] == "preview" or not preview.difference:
            self._answer_preview(project, preview, options)
            return
        self._set(project, row, values, preview, options)

    def _show(self, project: Project, row: Policy, options: dict[str, Any]) -> None:
        if options["key"] is not None:
            raise RefusedError("`policy show` takes no key: it shows all of them")
        document = {"project": project.slug, **policy_facts(row)}
        self.answer(document, show_lines(project, row), as_json=options["json"])

    def _answer_preview(
        self, project: Project, preview: PolicyPreview, options: dict[str, Any]
    ) -> None:
        document = {
            "project": project.slug,
            "is_set": False,
            **preview.as_json(has_all=options["all"]),
        }
        lines = policy_preview_lines(preview, has_all=options["all"])
        self.answer(document, lines, as_json=options["json"])

    def _set(
        self,
        project: Project,
        row: Policy,
        values: Values,
        preview: PolicyPreview,
        options: dict[str, Any],
    ) -> None:
        for line in policy_preview_lines(preview, has_all=options["all"]):
            self.say(line)
        number = row.generation + 1
        question = f"\nMake this generation {number} of {project.slug}'s policy? [y/N]"
        if not self.confirm(question, is_given=options["yes"]):
            raise RefusedError(f"the policy of {project.slug} is generation {row.generation} still")
        new = set_policy(
            project,
            values,
            opened=row.generation,
            actor=None,
            by="command line",
            account=account_name(),
        )
        requested = request_reading(project) if new is not None else []
        lines = [f"{project.slug}: generation {number} holds from now on"]
        lines += [f"  {note}" for note in requested]
        document = {
            "project": project.slug,
            "is_set": new is not None,
            **preview.as_json(has_all=options["all"]),
            "generation": number,
            "notes": requested,
        }
        self.answer(document, lines, as_json=options["json"])


def asked_values(values: Values, options: dict[str, Any]) -> Values:
    """The values that a change asks for. Raises PolicyError or RefusedError."""
    key, words = options["key"], list(options["values"])
    ways = [way for way in ("add", "remove", "clear") if options[way]]
    if ways and key not in LISTS:
        raise RefusedError(f"--{ways[0]} is for {' and '.join(LISTS)}")
    if len(ways) > 1 or (options["clear"] and words):
        raise RefusedError("--add, --remove and --clear exclude each other; --clear takes no glob")
    if key in LISTS and not words and not options["clear"]:
        raise RefusedError(f"say which globs, or `policy {options['action']} {key} --clear`")
    if options["remove"]:
        absent = [word for word in words if word not in values[key]]
        if absent:
            raise RefusedError(f"{absent[0]!r} is not among the globs of {key}")
        return {**values, key: [glob for glob in values[key] if glob not in words]}
    return changed(values, key, [*values[key], *words] if options["add"] else words)


def policy_facts(row: Policy) -> dict[str, Any]:
    return {
        "generation": row.generation,
        "set_at": row.created_at.isoformat(),
        "set_by": row.actor.name if row.actor else None,
        "policy": values_of(row),
    }


def show_lines(project: Project, row: Policy) -> list[str]:
    by = f" by {row.actor.name}" if row.actor else ""
    head = f"{project.slug}: generation {row.generation}, since {row.created_at:%Y-%m-%d %H:%M}{by}"
    values = values_of(row)
    lines = [head, ""]
    for key in KEYS:
        if key in LISTS and values[key]:
            lines += [key, *(f"  {glob}" for glob in values[key])]
        else:
            lines += table([[f"{key:18}", shown(key, values[key])]])
    return [*lines, "", "`policy --help` says what each key means."]


def key_help() -> list[str]:
    return [line for name, key in KEYS.items() for line in (f"  {name}", *wrap(key.help, " " * 6))]
