"""`createadmin [NAME]`: makes an administrator, or a fresh sign-in link for an existing one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from codememory.people import create_administrator


class Command(BaseCommand):
    help = "Create an administrator, or a fresh one-time sign-in link for an existing one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default="admin", help="user name (default: admin)")
        parser.add_argument("--url", default="http://127.0.0.1:8420", help="where the console is")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  (Django's signature)
        path = create_administrator(options["name"])
        self.stdout.write(f"sign-in: {options['url'].rstrip('/')}{path}")
        self.stderr.write("It ends after 24 hours or with its first use.")
