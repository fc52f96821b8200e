"""A policy's keys, and its generations: append-only, in the audit trail, none for no change."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from codememory import runs
from codememory.models import AuditEvent, Policy, Project, Role, RunState
from codememory.people import actor_of
from codememory.policies import (
    PolicyMovedError,
    newest_policy,
    reading_generations,
    set_policy,
    values_of,
)
from codememory.policy_keys import KEYS, PolicyError, changed, difference, shown
from codememory.projects import primary_worktree
from tests.builders import make_person, make_project

REFUSED = [
    ("sources", ["git"]),
    ("sources", ["mail=enabled"]),
    ("sources", []),
    ("exclude", ["#comment"]),
    ("exclude", ["!"]),
    ("exclude", [""]),
    ("exclude", ["a\nb"]),
    ("exclude", ["*a*b*c*d*e*"]),
    ("include", ["x" * 501]),
    ("untracked", ["yes"]),
    ("untracked", ["on", "off"]),
    ("max_blob_bytes", ["2 miles"]),
    ("max_blob_bytes", ["1"]),
    ("max_blob_bytes", ["none"]),
    ("max_blob_bytes", ["900GB"]),
    ("disk_bytes", ["-5"]),
    ("transcript_days", ["0"]),
    ("audit_days", ["36501"]),
    ("provider", ["on"]),
    ("colour", ["red"]),
]


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


def change(project: Project, key: str, *words: str) -> Policy | None:
    row = newest_policy(project)
    values = changed(values_of(row), key, words)
    return set_policy(project, values, opened=row.generation, actor=None)


@pytest.mark.parametrize(("key", "words"), REFUSED)
def test_it_refuses_what_a_key_cannot_mean(project: Project, key: str, words: list[str]) -> None:
    with pytest.raises(PolicyError) as raised:
        change(project, key, *words)
    assert raised.value.key == key


def test_the_provider_is_refused_because_nothing_is_behind_it(project: Project) -> None:
    with pytest.raises(PolicyError, match="no code here sends evidence to a model"):
        change(project, "provider", "on")


def test_the_database_refuses_the_provider_too(project: Project) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Policy.objects.create(scope=project.scope, generation=2, sources=[], provider=True)


def test_the_database_refuses_a_source_in_two_states(project: Project) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Policy.objects.create(scope=project.scope, generation=2, sources=["git"], archived=["git"])


@pytest.mark.parametrize(
    ("word", "size"),
    [("2048", 2048), ("1KiB", 1024), ("1kb", None), ("2MiB", 2 << 20), ("3 MB", 3_000_000)],
)
def test_it_reads_bytes_in_the_usual_units(project: Project, word: str, size: int | None) -> None:
    if size is None:
        with pytest.raises(PolicyError):
            change(project, "max_blob_bytes", word)
        return
    row = change(project, "max_blob_bytes", word)
    assert newest_policy(project).max_blob_bytes == size
    assert row is None or row.generation == 2


def test_what_it_shows_of_a_key_it_takes_again(project: Project) -> None:
    values = values_of(newest_policy(project))
    for key in KEYS:
        if key not in {"include", "exclude"}:
            assert changed(values, key, shown(key, values[key]).split(" ")) == values


def test_each_change_is_a_new_generation(project: Project) -> None:
    change(project, "exclude", "drafts/")
    change(project, "max_blob_bytes", "1MiB")
    rows = Policy.objects.filter(scope=project.scope).order_by("generation")
    assert [(row.generation, row.exclude) for row in rows] == [
        (1, []),
        (2, ["drafts/"]),
        (3, ["drafts/"]),
    ]


def test_no_change_makes_no_generation_and_no_event(project: Project) -> None:
    assert change(project, "sources", "git=enabled") is None
    assert newest_policy(project).generation == 1
    assert not AuditEvent.objects.filter(action="policy.set").exists()


def test_a_generation_cannot_be_changed(project: Project) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Policy.objects.filter(scope=project.scope).update(exclude=["x"])


def test_the_audit_trail_tells_who_changed_what(project: Project) -> None:
    lead = actor_of(make_person(project, Role.LEAD, "lee"))
    row = newest_policy(project)
    values = changed(values_of(row), "exclude", ["drafts/"])
    set_policy(project, values, opened=1, actor=lead, by="console")
    event = AuditEvent.objects.get(action="policy.set")
    assert (event.actor, event.scope, event.subject) == (lead, project.scope, "generation 2")
    assert event.facts == {
        "by": "console",
        "difference": {"exclude": {"added": ["drafts/"], "removed": []}},
    }


def test_of_two_who_opened_the_same_generation_the_second_is_told(project: Project) -> None:
    values = values_of(newest_policy(project))
    set_policy(project, {**values, "exclude": ["a/"]}, opened=1, actor=None)
    with pytest.raises(PolicyMovedError) as raised:
        set_policy(project, {**values, "exclude": ["b/"]}, opened=1, actor=None)
    assert raised.value.newest == 2


def test_the_order_of_globs_is_a_difference(project: Project) -> None:
    old = {**values_of(newest_policy(project)), "exclude": ["a", "!a/b"]}
    assert difference(old, {**old, "exclude": ["!a/b", "a"]}) == {
        "exclude": {"from": ["a", "!a/b"], "to": ["!a/b", "a"]}
    }


def test_generations_that_read_the_same_are_known(project: Project) -> None:
    change(project, "audit_days", "30")
    change(project, "exclude", "x/")
    change(project, "disk_bytes", "5GB")
    generations = [reading_generations(project.scope_id, number) for number in (1, 2, 3, 4)]
    assert generations == [[1], [2, 1], [3], [4, 3]]


def test_a_run_that_read_nothing_yet_goes_by_the_new_generation(project: Project) -> None:
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    change(project, "exclude", "x/")
    run.refresh_from_db()
    assert run.policy_generation == 2


def test_a_waiting_run_ends_when_its_source_is_disabled(project: Project) -> None:
    run = runs.request_run(primary_worktree(project), "git", 1, None)
    change(project, "sources", "git=disabled")
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
