"""The one application with models."""

from __future__ import annotations

from django.apps import AppConfig


class CodeMemoryConfig(AppConfig):
    name = "codememory"
    verbose_name = "CodeMemory"
