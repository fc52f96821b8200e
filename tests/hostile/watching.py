"""Runs the reading program under strace, where there is one, and tells what it started."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

READING = Path(__file__).with_name("reading.py")
_STARTED = re.compile(r'execve\("([^"]*)".*= 0$', re.MULTILINE)
_CONNECTED = re.compile(r"connect\(\d+, \{sa_family=AF_INET")


def can_watch() -> bool:
    """Whether programs can be traced here: containers may forbid it."""
    strace = shutil.which("strace")
    if strace is None:
        return False
    tried = subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, check=False)
    return tried.returncode == 0


def read_all(
    roots: Mapping[str, Path], folder: Path, environment: Mapping[str, str], *more: str
) -> tuple[dict[str, Any], set[str] | None, int]:
    """Return what was seen, the names of the programs it started (None: not watched), and how
    many connections to other hosts it tried.
    """
    asked, trace = folder / "roots.json", folder / "trace"
    asked.write_text(json.dumps({name: str(root) for name, root in roots.items()}))
    words = [sys.executable, str(READING), str(asked), str(folder / "scratch"), *more]
    is_watched = can_watch()
    if is_watched:
        words = ["strace", "-f", "-qq", "-e", "trace=execve,connect", "-o", str(trace), *words]
    ended = subprocess.run(
        words,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=500,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()[-3000:]
    if not is_watched:
        return json.loads(ended.stdout), None, 0
    text = trace.read_text(errors="replace")
    started = {Path(name).name for name in _STARTED.findall(text)}
    return json.loads(ended.stdout), started, len(_CONNECTED.findall(text))
