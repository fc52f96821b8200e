"""The one application with models."""

from __future__ import annotations

from django.apps import AppConfig


class CodeMemoryConfig(AppConfig):
    name = "codememory"
    verbose_name = "CodeMemory"

    def ready(self) -> None:
        from codememory import (  # noqa: PLC0415 -- importing registers the checks
            arrays,
            checks,  # noqa: F401
        )

        arrays.connect()
