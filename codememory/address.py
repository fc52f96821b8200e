"""Where the running `up` serves: it leaves its address in the home for commands that print one."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from codememory.collect import is_up_running

DEFAULT_PORT = 8420
NOT_SERVED = "when `up` runs (default port)"


def address_of(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def leave_address(port: int) -> None:
    _file().write_text(f"{address_of(port)}\n", encoding="ascii")


def remove_address() -> None:
    _file().unlink(missing_ok=True)


def served_address() -> str | None:
    """Return the address of the `up` that runs now; a killed one's file says nothing."""
    if not is_up_running():
        return None
    try:
        return _file().read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None


def shown_address(given: str | None) -> tuple[str, str]:
    """Return the address to print, and a note to it: empty where it is no guess."""
    if address := given or served_address():
        return address.rstrip("/"), ""
    return address_of(DEFAULT_PORT), NOT_SERVED


def _file() -> Path:
    return Path(settings.CODEMEMORY_HOME) / "address"
