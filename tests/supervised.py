"""A small `up` for tests: `supervised.py PORT`, with a home in the environment."""

from __future__ import annotations

import sys
from pathlib import Path

# In the place of this folder, whose names are not meant to be modules.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from codememory import entry


def main(port: int) -> int:
    with entry.database_for(["up"]):
        import django  # noqa: PLC0415 -- the settings need the home made above

        django.setup()
        entry.bring_up_to_date()
        from codememory.supervisor import supervise  # noqa: PLC0415

        return supervise(port, lambda: None, on_ready=lambda: print("ready", flush=True))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
