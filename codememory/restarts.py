"""What the supervisor had to start again since it began, left in the home for whoever asks.

The supervisor alone writes; `doctor` and `/healthz` read. Times are for people, in UTC.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codememory.owners import is_owner_dead, owner_name

FILE = "supervisor.json"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(slots=True)
class Restarts:
    """Counts since one `up` began: processes that ended, and clusters that hung."""

    folder: Path
    owner: str = field(default_factory=owner_name)
    since: str = field(default_factory=_now)
    queue: int = 0  # the cluster ended by itself or was killed
    queue_hung: int = 0  # it lived and worked no more, and was restarted
    web: int = 0
    database: int = 0
    last_at: str | None = None

    def count(self, what: str) -> None:
        """Add one to `queue`, `queue_hung`, `web` or `database`."""
        setattr(self, what, getattr(self, what) + 1)
        self.last_at = _now()
        self.write()

    def write(self) -> None:
        """Leave it in the home; a full disk must not end the supervisor."""
        told = {name: value for name, value in asdict(self).items() if name != "folder"}
        draft = self.folder / f".{FILE}-{os.getpid()}"
        try:
            draft.write_text(json.dumps(told), encoding="ascii")
            draft.replace(self.folder / FILE)
        except OSError:
            draft.unlink(missing_ok=True)

    def remove(self) -> None:
        (self.folder / FILE).unlink(missing_ok=True)


def read_restarts(folder: Path) -> dict[str, Any] | None:
    """Return the counts of the `up` of this home; None when none runs here."""
    try:
        found: dict[str, Any] = json.loads((folder / FILE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    owner = str(found.pop("owner", "::"))
    return None if is_owner_dead(owner) else found
