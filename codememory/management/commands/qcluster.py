"""Runs the queue's processes, which share the memory of what all of them have loaded."""

from __future__ import annotations

import gc
from typing import Any

from django_q.management.commands.qcluster import Command as QueueCommand

# What every run needs: loaded here once instead of by each worker.
from codememory import collect_documents, collect_history, slices  # noqa: F401


class Command(QueueCommand):  # type: ignore[misc]  # django-q2 has no types
    def handle(self, *args: Any, **options: Any) -> None:
        # A collection of cycles writes to every object that it looks at, and what is written to is
        # no longer shared: what is here now will never be garbage.
        gc.collect()
        gc.freeze()
        super().handle(*args, **options)
