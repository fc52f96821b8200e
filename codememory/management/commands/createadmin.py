"""`createadmin [NAME]`: makes an administrator, or a fresh sign-in link for an existing one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from codememory.address import shown_address
from codememory.people import create_administrator


class Command(BaseCommand):
    help = "Create an administrator, or a fresh one-time sign-in link for an existing one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default="admin", help="user name (default: admin)")
        parser.add_argument("--url", help="where the console is (where `up` serves)")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  (Django's signature)
        path = create_administrator(options["name"])
        address, note = shown_address(options["url"])
        self.stdout.write(f"sign-in: {address}{path}")
        if note:
            self.stderr.write(f"It opens {note}.")
        self.stderr.write("It ends after 24 hours or with its first use.")
