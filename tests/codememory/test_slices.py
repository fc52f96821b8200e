"""How the end of a slice is recorded, also while the database is away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import OperationalError

from codememory import runs, slices
from codememory.models import Run, RunState, SourceKind, Worktree
from tests.builders import make_project

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_failure_is_recorded_once_the_database_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    worktree = Worktree.objects.get(scope=make_project().scope)
    run = runs.request_run(worktree, SourceKind.GIT, 1, None)
    claim = runs.claim_run(run.pk)
    assert claim is not None
    real, refused = runs.fail_run, list[Exception]()

    def broken(_: runs.Claim) -> Iterator[None]:
        raise OperationalError("the server closed the connection")

    def fail_run(claim: runs.Claim, error: Exception) -> None:
        if not refused:
            refused.append(error)
            raise OperationalError("connection refused")
        real(claim, error)

    monkeypatch.setattr(slices, "RETRY_SECONDS", 0.01)
    monkeypatch.setitem(slices.BATCHES, SourceKind.GIT, broken)
    monkeypatch.setattr(runs, "fail_run", fail_run)
    slices.work_slice(claim)
    assert refused
    assert Run.objects.get(pk=run.pk).state == RunState.QUEUED
