"""projects: list, add and remove; a removed project leaves its audit trail and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import Model

from codememory.models import (
    AuditEvent,
    Candidate,
    Memory,
    Policy,
    Project,
    ReviewDecision,
    SearchTerm,
    SearchTotal,
    Worktree,
)
from codememory.removal import owned_models
from tests.builders import make_candidate, make_person, make_project, signed_in
from tests.collected import collect
from tests.commands import said
from tests.repos import RepoBuilder


@pytest.fixture
def repo(db: None, tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("README.md", "# Rules\n\nThe shop must stay open on Sundays.\n")
    repo.commit()
    return repo


@pytest.fixture
def decided(repo: RepoBuilder) -> Project:
    """A collected project with a memory, promoted in the console."""
    project = collect(repo)
    candidate = Candidate.objects.filter(scope_id=project.scope_id).first()
    assert candidate is not None
    promote(project, candidate)
    assert Memory.objects.filter(scope_id=project.scope_id).exists()
    return project


def promote(project: Project, candidate: Candidate) -> None:
    from codememory.candidates import shown_digest  # noqa: PLC0415 -- only this helper needs it

    client = signed_in(make_person(project))
    shown = {"version": candidate.version, "shown": shown_digest(candidate).hex()}
    client.post(f"/projects/{project.slug}/candidates/{candidate.pk}/promote", shown)


def rows_of(model: type[Model], project: Project) -> int:
    return model._default_manager.filter(scope_id=project.scope_id).count()


def test_without_projects_it_says_how_to_get_one(db: None) -> None:
    assert "projects add PATH" in said("projects").out
    assert said("projects", "--json").document == {"projects": []}


def test_a_project_is_listed_with_its_counts(decided: Project) -> None:
    [row] = said("projects", "list", "--json").document["projects"]
    assert (row["project"], row["commits"], row["memories"]) == ("shop", 1, 1)


def test_adding_shows_the_preview_and_needs_a_yes(repo: RepoBuilder) -> None:
    refused = said("projects", "add", str(repo.root))
    assert refused.status == 1
    assert "1 commit reachable" in refused.err
    assert said("projects", "add", str(repo.root), "--yes", "--json").document["is_new"]


def test_adding_twice_changes_nothing(repo: RepoBuilder) -> None:
    said("projects", "add", str(repo.root), "--yes")
    assert "was registered already" in said("projects", "add", str(repo.root)).out
    assert Project.objects.count() == 1


def test_what_is_no_repository_is_refused(db: None, tmp_path: Path) -> None:
    answer = said("projects", "add", str(tmp_path), "--yes")
    assert answer.status == 1
    assert "NOT_A_REPOSITORY" in answer.err


def test_removing_says_what_would_go_and_needs_a_yes(decided: Project) -> None:
    answer = said("projects", "remove", "shop")
    assert answer.status == 1
    assert "1 memories" in answer.err
    assert Project.objects.filter(pk=decided.pk).exists()


def test_a_removed_project_leaves_no_row_but_its_trail(decided: Project) -> None:
    assert said("projects", "remove", "shop", "--yes").status == 0
    others: list[type[Model]] = [Policy, Worktree, Project, SearchTerm, SearchTotal]
    left = [model for model in [*owned_models(), *others] if rows_of(model, decided)]
    assert left == []
    actions = AuditEvent.objects.filter(scope_id=decided.scope_id).values_list("action", flat=True)
    assert {"candidate.promote", "project.remove"} <= set(actions)


def test_removing_one_project_leaves_the_others(decided: Project) -> None:
    other = make_project("other")
    make_candidate(other)
    said("projects", "remove", "shop", "--yes")
    assert rows_of(Candidate, other) == 1


def test_a_removed_folder_can_be_registered_again(decided: Project, repo: RepoBuilder) -> None:
    said("projects", "remove", "shop", "--yes")
    assert collect(repo).slug == "shop"


def purging(scope_id: int | str, statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('codememory.purging', %s, true)", [str(scope_id)])
        cursor.execute(statement)


def test_a_removal_reaches_no_decision_of_another_project(decided: Project) -> None:
    other = make_project("other")
    with pytest.raises(DatabaseError, match="append-only"):
        purging(other.scope_id, "DELETE FROM codememory_reviewdecision")
    assert rows_of(ReviewDecision, decided) == 1


def test_not_even_a_removal_edits_a_decision(decided: Project) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        purging(decided.scope_id, "UPDATE codememory_reviewdecision SET reason = 'other'")


def test_not_even_a_removal_deletes_from_the_trail(decided: Project) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        purging(decided.scope_id, "DELETE FROM codememory_auditevent")


@pytest.mark.django_db(transaction=True)
def test_the_permission_to_remove_ends_with_its_transaction() -> None:
    scope = make_project().scope_id
    purging(scope, "SELECT 1")
    with pytest.raises(DatabaseError, match="append-only"):
        Policy.objects.filter(scope_id=scope).delete()


def test_the_permission_to_remove_ends_with_the_removal(decided: Project) -> None:
    said("projects", "remove", "shop", "--yes")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('codememory.purging', true)")
        assert cursor.fetchone()[0] == ""
