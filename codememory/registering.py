"""Registers a folder as a project for `up`, `collect` and `projects add`: preview, yes, row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codememory.models import Project
from codememory.policies import default_policy, read_policy
from codememory.preview import Preview, preview_lines, preview_project
from codememory.projects import find_exact_project, register_project
from codememory.terminal import RefusedError, TerminalCommand


def preview_of(name: str, sources: Sequence[str] = ()) -> Preview:
    """Count what collecting a project or a folder would read. Raises RefusedProjectError."""
    project = find_exact_project(name)
    if project is None:
        return preview_project(Path(name), default_policy(), sources)
    return preview_project(Path(project.root), read_policy(project.scope_id), sources)


def register_after_yes(
    command: TerminalCommand, name: str, *, is_given: bool
) -> tuple[Project, bool]:
    """Return the registered project, and whether it is new: after its preview and a yes.

    Raises RefusedError without the yes, RefusedProjectError for what is no repository.
    """
    if found := find_exact_project(name):
        return found, False
    if "/" not in name and not Path(name).exists():
        raise RefusedError(f"there is no project and no folder {name!r}: give the path of a folder")
    preview = preview_of(name)
    for line in preview_lines(preview):
        command.say(line)
    if not command.confirm(f"\nRead {preview.root}? [y/N]", is_given=is_given):
        raise RefusedError(f"{preview.root} is not registered, and nothing of it was read")
    return register_project(preview.root)
