"""Runs the queue's processes, which share the memory of what all of them have loaded."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any

from django_q.management.commands.qcluster import Command as QueueCommand

# What a run needs in any case: loaded here once instead of by each worker.
SHARED = ("codememory.slices", "codememory.collect_documents", "codememory.collect_history")


class Command(QueueCommand):  # type: ignore[misc]  # django-q2 has no types
    def handle(self, *args: Any, **options: Any) -> None:
        for name in SHARED:
            import_module(name)
        # A collection of cycles writes to every object that it looks at, and what is written to is
        # no longer shared: what is here now will never be garbage.
        gc.collect()
        gc.freeze()
        super().handle(*args, **options)
