"""`doctor`: which database and versions are used, where everything is, and what is missing."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from codememory.health import report


class Command(BaseCommand):
    help = "Say what is used here, in which versions, and what is missing. Status 1 if anything is."
    requires_system_checks = []  # they are part of the report

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def handle(self, *_: Any, **options: Any) -> None:
        found = report()
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=2))
        else:
            found["restarts"] = found["restarts"] or "no `up` runs here"
            for name, value in found.items():
                self.stdout.write(f"{name:14} {_shown(value)}")
        if found["missing"]:
            sys.exit(1)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, list):
        return "; ".join(value) or "nothing"
    return str(value)
