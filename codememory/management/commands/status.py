"""`status`: what of a project was read, what was not, and what is being worked on."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory.collect import is_up_running
from codememory.status import project_status
from codememory.terminal import TerminalCommand, add_json, add_project, asked_project, table

STATES = {
    "EMPTY": "no commit yet",
    "COMPLETE": "all of HEAD is read",
    "PARTIAL": "read as far as it can be: part of it is missing here",
    "BEHIND": "HEAD moved on since: `collect` reads the rest",
    "COLLECTING": "being read",
    "NOT_COLLECTED": "not read yet: `collect` does it",
    "FAILED": "the last run failed: `runs` says why",
    "POISONED": "the last run killed its worker three times: `runs` says more",
    "CANCELLED": "the last run was cancelled: `runs retry ID` goes on",
}
# Why nothing can be read now, and what helps.
REFUSALS = {
    "NOT_A_REPOSITORY": "put the folder back, then `collect`",
    "GITDIR_OUTSIDE_PROJECT": "its git folder lies elsewhere: register that repository",
    "ALTERNATE_NOT_ALLOWED": "its objects lie elsewhere: clone it without alternates",
}
CANNOT = "HEAD cannot be read as it is now; `collect` says why"
UNITS = {"git": "commits", "documents": "documents"}


class Command(TerminalCommand):
    help = "What of a project is read, what is not and why, and which runs there are."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        found = project_status(asked_project(options["project"]))
        self.answer(found, lines_of(found), as_json=options["json"])


def lines_of(found: dict[str, Any]) -> list[str]:
    lines = [f"{found['project']}  {found['worktrees'][0]['root']}"]
    branch = found["worktrees"][0]["branch"]
    for name, source in found["sources"].items():
        lines += ["", *_source(name, source, branch)]
    totals = [(number, name.replace("_", " ")) for name, number in found["totals"].items()]
    lines += ["", "stored", *table(totals, indent="  ", right="r")]
    runs = [f"{number} {state}" for state, number in found["runs"].items() if number]
    lines += ["", f"runs  {', '.join(runs) or 'none waiting, running or failed'}"]
    if found["runs"]["queued"] and not is_up_running():
        lines.append("      nothing works on them: start `up`, or `collect --wait`")
    return lines


def _source(name: str, source: dict[str, Any], branch: str | None) -> list[str]:
    state, head = source["state"], source["head"]
    said = STATES.get(state) or REFUSALS.get(state, CANNOT)
    stored = f"{source['processed']:,}"
    if source["reachable"] is None:
        counts = f"HEAD cannot be read; {stored} {UNITS[name]} are stored"
    else:
        counts = f"{stored} of {source['reachable']:,} {UNITS[name]}{_at(head, branch)}"
    lines = [f"{name:10} {state}: {said}", f"{'':10} {counts}"]
    gaps = [(gap["count"], gap["reason"]) for gap in source["gaps"]]
    if gaps:
        lines += [f"{'':10} not read, by reason", *table(gaps, indent=" " * 13, right="r")]
    return lines


def _at(head: str | None, branch: str | None) -> str:
    if head is None:
        return ""
    return f", HEAD {head[:12]}" + (f" ({branch})" if branch else "")
