#!/usr/bin/env python3
"""The one entry: it finds a Python it can use, makes .venv from the lock files, runs Django there.

It is read by whatever Python is at hand, so it uses the standard library alone and no new syntax.
Everything it says goes to stderr: stdout belongs to the command.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
SUPPORTED = ("3.12", "3.11")
LOCK, TEST_LOCK = "requirements.lock", "requirements-test.lock"
PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
WINDOWS = os.name == "nt"
STARTED = "CODEMEMORY_STARTED"  # set before re-executing: a second time would be for ever
OVERVIEW = """\
CodeMemory: engineering memory for coding agents.

Start here
  up [--project P]... [--port N] [--yes] [--preview]   read projects, serve console, REST and MCP
  demo [QUESTION] [--json]                             the whole way in a minute, on a toy project

Projects and collecting
  projects [list|add P|add-worktree P|move OLD NEW|remove P]
  policy [show|set KEY VALUE...|preview KEY VALUE...]  what may be read, each change previewed
  collect [--project P] [--source documents|git]... [--yes] [--preview] [--wait] [--json]
  status [--project P] [--json]
  runs [list|show ID|cancel ID|retry ID] [--json]

Asking
  search QUERY [--kind change|section|candidate|memory]... [--path P] [--limit N] [--cursor C]
         [--json]
  context TASK [--path P]... [--symbol S]... [--intent I] [--budget TOKENS] [--cursor C] [--json]
  list documents|changes|segments|candidates|memories [--path P] [--limit N] [--cursor C] [--json]
  history PATH|SYMBOL [--limit N] [--cursor C] [--json]
  evidence ID [--json] [--demo]

People and agents
  createadmin                                          print a one-time sign-in link
  token create --project P --scopes read,propose [--expires D]
  mcp [--project P]...                                 MCP over stdio

Looking after it
  doctor [--json]                                      what is used and what is missing
  test [pytest arguments]                              every check and every test

COMMAND --help says more. All of Django's commands work as well: help --commands lists them.
"""


def main(arguments: Sequence[str]) -> int:
    if not arguments or list(arguments) in (["--help"], ["-h"], ["help"]):
        print(OVERVIEW, end="")
        return 0
    lock = TEST_LOCK if arguments[0] == "test" else LOCK
    inside = Path(sys.prefix).resolve() == ENVIRONMENT.resolve()
    if not is_fresh(lock, running=version() if inside else None):
        with alone():
            if not is_fresh(lock, running=version() if inside else None):
                make_environment(lock)
                inside = False  # what this process has loaded may just have been replaced
                os.environ.pop(STARTED, None)
    if not inside:
        return restart([str(interpreter(ENVIRONMENT)), str(ROOT / "manage.py"), *arguments])
    sys.path[0] = str(ROOT)
    from codememory.entry import run  # noqa: PLC0415 -- needs the environment made above

    return run(arguments)


def version() -> str:
    return "%d.%d" % sys.version_info[:2]  # noqa: UP031 -- as the probe prints it


def say(line: str) -> None:
    print(f"codememory: {line}", file=sys.stderr, flush=True)


# --- the environment -----------------------------------------------------------------------------


def interpreter(environment: Path, *, windows: bool = WINDOWS) -> Path:
    return environment / ("Scripts/python.exe" if windows else "bin/python")


def is_fresh(lock: str, running: str | None = None) -> bool:
    """Whether the environment was completed from this very lock, here, for the Python it runs."""
    try:
        stamp = json.loads((ENVIRONMENT / "codememory.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(
        stamp.get("root") == str(ROOT)
        and stamp.get("locks", {}).get(lock) == digest(lock)
        and running in (None, stamp.get("python"))
        and is_usable(interpreter(ENVIRONMENT))
    )


def is_usable(python: Path) -> bool:
    """Whether the environment's Python is there, and is ours to run."""
    try:
        return python.exists()
    except PermissionError:
        raise SystemExit(
            f"codememory: {ENVIRONMENT} belongs to somebody else: clone the project for yourself"
        ) from None


def digest(lock: str) -> str:
    return hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()


def make_environment(lock: str) -> None:
    """Update what is complete, else build anew; a marker tells a build that was interrupted."""
    building = ENVIRONMENT / "codememory-building"
    stamp = ENVIRONMENT / "codememory.json"
    if lock == LOCK and stamp.exists() and TEST_LOCK in stamp.read_text(encoding="utf-8"):
        lock = TEST_LOCK  # keep what the tests need where it was there before
    if not building.exists() and probe([str(interpreter(ENVIRONMENT))]):
        say(f"bringing .venv up to date with {lock}")
        building.touch()
        if install(lock):
            finish(lock)
            return
        say("that failed; building .venv anew")
    python = find_python()
    say(f"making .venv from {lock} with {' '.join(python)} (once, about half a minute)")
    clear(ENVIRONMENT)
    ENVIRONMENT.mkdir()
    building.touch()
    command = [*python, "-m", "venv", str(ENVIRONMENT)]
    if subprocess.call(command, stdout=2, env=clean(), close_fds=False):
        raise SystemExit("codememory: python -m venv failed, as said above")
    if not install(lock):
        raise SystemExit(f"codememory: installing {lock} failed, as pip said above")
    finish(lock)


def install(lock: str) -> bool:
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"]
    command = [str(interpreter(ENVIRONMENT)), "-m", "pip", "install", *options]
    command += ["-r", str(ROOT / lock)]
    environment = dict(clean(), PIP_USER="0")
    return subprocess.call(command, stdout=2, env=environment, close_fds=False) == 0


def finish(lock: str) -> None:
    """Write the command, then the stamp: whoever sees the stamp sees a complete environment."""
    name, content = launcher(interpreter(ENVIRONMENT), ROOT / "manage.py", windows=WINDOWS)
    command = interpreter(ENVIRONMENT).parent / name
    command.write_text(content, encoding="utf-8")
    command.chmod(0o755)
    locks = {LOCK: digest(LOCK)}
    if lock == TEST_LOCK:  # the test lock holds everything of the other one, and more
        locks[TEST_LOCK] = digest(TEST_LOCK)
    stamp = {"root": str(ROOT), "python": probe([str(interpreter(ENVIRONMENT))]), "locks": locks}
    draft = ENVIRONMENT / "codememory.json.new"
    draft.write_text(json.dumps(stamp), encoding="utf-8")
    draft.replace(ENVIRONMENT / "codememory.json")
    (ENVIRONMENT / "codememory-building").unlink()


def launcher(python: Path, script: Path, *, windows: bool) -> tuple[str, str]:
    """Name and content of the command that is this program from any directory."""
    if windows:
        return "codememory.cmd", f'@"{python}" "{script}" %*\r\n'
    first = f"#!{python}\n"
    if " " in str(python) or len(first.encode()) > 127:
        # The kernel cannot read such a first line. To sh the second line is a command, and to
        # Python the beginning of a text that ends on the third.
        first = f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n"
    body = f"import runpy\n\nrunpy.run_path({str(script)!r}, run_name='__main__')\n"
    return "codememory", first + body


def clear(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Wait until no other process makes the environment. The lock is on this file: it stays."""
    with (ROOT / "manage.py").open("r+b" if WINDOWS else "rb") as file:
        lock_file(file)
        yield


def lock_file(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 -- of one platform

        file.seek(1 << 30)  # far behind the end: nobody's reading is disturbed
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl  # noqa: PLC0415 -- of the other platforms

        fcntl.flock(file, fcntl.LOCK_EX)
        # venv and pip inherit the lock: should we be killed, the next one waits until they end.
        os.set_inheritable(file.fileno(), True)


# --- interpreters --------------------------------------------------------------------------------


def find_python() -> list[str]:
    """The Python that started this if it can make environments, else the first that answers so."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    for command in [[own], *candidates(os.environ.get("PATH", ""), windows=WINDOWS)]:
        if probe(command):
            return command
    raise SystemExit(advice(has_version=version() in SUPPORTED))


def candidates(path: str, *, windows: bool = False) -> list[list[str]]:
    """Every command on PATH that may be a fitting Python, the best names first."""
    if windows:
        return [["py", f"-{number}"] for number in SUPPORTED] + [["python"]]
    names = [*(f"python{number}" for number in SUPPORTED), "python3", "python"]
    folders = [Path(part) for part in path.split(":") if part]
    found = [folder / name for name in names for folder in folders]
    return [[str(file)] for file in found if os.access(file, os.X_OK) and file.is_file()]


def probe(command: Sequence[str]) -> str | None:
    """The version a command answers with, when it is fit; a command can exist and still fail."""
    try:
        result = subprocess.run(
            [*command, "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=30,
            env=clean(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    answer = result.stdout.decode("ascii", "replace").strip()
    return answer if result.returncode == 0 and answer in SUPPORTED else None


def clean() -> dict[str, str]:
    """The environment without what would make a Python take another's home for its own."""
    unwanted = {"PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__"}
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def advice(*, has_version: bool) -> str:
    if has_version:
        what = f"this Python {version()} cannot make environments (venv and ensurepip are missing)"
    else:
        what = f"this is Python {version()}, and no Python 3.11 or 3.12 answers on PATH"
    return (
        f"codememory: {what}. Install one of them:\n"
        "  Debian, Ubuntu:  apt-get install python3 python3-venv\n"
        "  Fedora:          dnf install python3.12\n"
        "  macOS:           brew install python@3.12\n"
        "  anywhere:        https://www.python.org/downloads/"
    )


def restart(command: list[str], *, windows: bool = WINDOWS) -> int:
    """Become the command; Windows cannot, so there it is a child whose status becomes ours."""
    if os.environ.get(STARTED) == str(os.getpid()):
        raise SystemExit("codememory: .venv does not answer as an environment: remove it")
    sys.stdout.flush()
    environment = dict(clean(), **{STARTED: str(os.getpid())})
    if windows:
        return subprocess.call(command, env=environment)
    return os.execve(command[0], command, environment)  # noqa: S606 -- no shell, by design


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
