"""Strict readers of the environment; only settings, the home folder and the entry use them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from codememory.errors import SettingError

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})


def text(name: str, default: str = "", environ: Mapping[str, str] | None = None) -> str:
    """The value of `name`, or what the file named by `name_FILE` holds; both at once is refused."""
    environ = os.environ if environ is None else environ
    value, file = environ.get(name), environ.get(f"{name}_FILE")
    if value is not None and file is not None:
        raise SettingError(name, f"is given twice: set {name} or {name}_FILE")
    if file is not None:
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(f"{name}_FILE", "names a file that cannot be read") from error
    return default if value is None else value


def boolean(name: str, *, default: bool, environ: Mapping[str, str] | None = None) -> bool:
    value = text(name, "", environ).strip().lower()
    if not value:
        return default
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise SettingError(name, "must be one of 1, 0, true, false, yes, no, on, off")


def integer(name: str, *, default: int, environ: Mapping[str, str] | None = None) -> int:
    value = text(name, "", environ).strip()
    if not value:
        return default
    try:
        return int(value)
    except ValueError as error:
        raise SettingError(name, "must be a whole number") from error


def words(name: str, default: list[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """Comma-separated words, without empty ones."""
    value = text(name, "", environ)
    return [word.strip() for word in value.split(",") if word.strip()] if value else list(default)
