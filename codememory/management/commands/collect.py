"""`collect`: reads a project's history and documents, or queues that for a running `up`."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from django.conf import settings

from codememory.collect import UNITS, follow, is_up_running, outcome, request_runs
from codememory.collect_history import scratch_folder
from codememory.models import Project, Run, RunState, SourceKind
from codememory.preview import preview_lines
from codememory.projects import project_of_path
from codememory.registering import preview_of, register_after_yes
from codememory.terminal import TerminalCommand, add_json, add_project, asked_project, count_of
from collectors.git import find_root, remove_stale

LOG_BYTES = 5_000_000
LOG_LINE = "%(asctime)s %(levelname)s %(name)s %(message)s"


class Command(TerminalCommand):
    help = (
        "Read what is new in a project. A folder that is not registered yet is registered, after a "
        "preview and your yes. Without --wait the work is queued for a running `up`."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument(
            "--source", action="append", default=[], choices=SourceKind.values, help="(all allowed)"
        )
        parser.add_argument("--yes", action="store_true", help="agree to what the preview shows")
        parser.add_argument("--preview", action="store_true", help="only count; register nothing")
        parser.add_argument("--wait", action="store_true", help="stay until it is done")
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        name, sources = options["project"], options["source"]
        if options["preview"]:
            preview = preview_of(name or _here(), sources)
            self.answer(preview.as_json(), preview_lines(preview), as_json=options["json"])
            return
        project, is_new = register_after_yes(self, name or _here(), is_given=options["yes"])
        remove_stale(scratch_folder())
        runs = request_runs(project, sources)
        if options["wait"]:
            with logged_to_file():
                runs = follow([run.pk for run in runs])
        document = {
            "project": project.slug,
            "is_new": is_new,
            "waited": options["wait"],
            "up_is_running": is_up_running(),
            "runs": [outcome(run) for run in runs],
        }
        self.answer(document, self._lines(project, runs, options), as_json=options["json"])
        if options["wait"] and any(run.state != RunState.DONE for run in runs):
            sys.exit(1)

    def _lines(self, project: Project, runs: list[Run], options: dict[str, Any]) -> list[str]:
        if options["wait"]:
            return [f"{project.slug}: {done_line(run)}" for run in runs]
        names = ", ".join(f"R{run.pk} ({run.source})" for run in runs)
        if is_up_running():
            return [f"{project.slug}: queued {names}; the running `up` works on it"]
        return [
            f"{project.slug}: queued {names}",
            "Nothing works on it until `up` runs; `collect --wait` does it now.",
        ]


@contextmanager
def logged_to_file() -> Iterator[None]:
    """Keep log lines off the terminal of a person, who is told what came of it in words."""
    folder = Path(settings.CODEMEMORY_HOME) / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = RotatingFileHandler(
        folder / "collect.log", maxBytes=LOG_BYTES, backupCount=1, delay=True, encoding="utf-8"
    )
    file.setFormatter(logging.Formatter(LOG_LINE))
    ours = logging.getLogger("codememory")
    ours.addHandler(file)
    ours.propagate = False
    try:
        yield
    finally:
        ours.propagate = True
        ours.removeHandler(file)
        file.close()


def _here() -> str:
    """The project of the current folder, else the repository it is in: to be registered."""
    if found := project_of_path(Path.cwd()):
        return found.slug
    root = find_root(Path.cwd())
    return str(root) if root else asked_project(None).slug  # which says what is missing


def done_line(run: Run) -> str:
    """What came of one run, in words."""
    if run.state != RunState.DONE:
        why = run.error_text or run.error_class or "stopped"
        return f"{run.source} {run.state}: {why}; `runs retry R{run.pk}` goes on"
    if not run.done:
        return f"{run.source} was up to date"
    if "documents_unchanged" in run.metrics:
        return f"{run.source} {_documents(run)}"
    changes = int(run.metrics.get("file_changes", 0))
    more = f", {count_of(changes, 'file change')}" if changes else ""
    unit = UNITS[run.source]
    return f"{run.source} {count_of(run.done, unit[:-1], unit)} read{more}"


def _documents(run: Run) -> str:
    """How many of HEAD's documents were new or different; `done` counts their history as well."""
    documents = int(run.cursor.get("position", run.done))
    unchanged = int(run.metrics["documents_unchanged"])
    removed = int(run.metrics.get("documents_removed", 0))
    more = f", {removed:,} removed" if removed else ""
    if not unchanged:
        return f"{count_of(documents, 'document')} read{more}"
    return f"{max(0, documents - unchanged):,} of {documents:,} changed{more}"
