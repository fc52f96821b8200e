"""The audit trail, decisions and policies cannot be changed: the database itself refuses."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from codememory import audit
from codememory.models import AuditEvent, Policy
from tests.builders import make_candidate, make_memory, make_person, make_project

pytestmark = pytest.mark.django_db
TABLES = ["codememory_auditevent", "codememory_reviewdecision", "codememory_policy"]
CHANGES = ["UPDATE {} SET scope_id = scope_id", "DELETE FROM {}", "TRUNCATE {} CASCADE"]


@pytest.fixture(autouse=True)
def rows() -> None:
    project = make_project()
    make_memory(make_candidate(project), make_person(project))
    audit.record("test", scope=project.scope)


def refused(statement: str, *, setting: tuple[str, str] = ("codememory.is_test", "no")) -> bool:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SELECT set_config(%s, %s, true)", setting)
        try:
            with transaction.atomic():
                cursor.execute(statement)
        except DatabaseError as error:
            return "append-only" in str(error)
    return False


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("change", CHANGES)
def test_no_statement_changes_them(table: str, change: str) -> None:
    assert refused(change.format(table))


@pytest.mark.parametrize("table", TABLES)
def test_a_session_of_a_replica_may_not_either(table: str) -> None:
    assert refused(f"DELETE FROM {table}", setting=("session_replication_role", "replica"))


def test_emptying_everything_by_a_cascade_is_refused() -> None:
    assert refused("TRUNCATE codememory_scope CASCADE")


def test_the_trail_stays_where_its_project_goes() -> None:
    scope = str(Policy.objects.get().scope_id)
    assert refused("DELETE FROM codememory_auditevent", setting=("codememory.purging", scope))


def test_a_name_cannot_write_lines_into_the_trail(caplog: pytest.LogCaptureFixture) -> None:
    Client().post("/accounts/login/", {"username": "x\n2030 INFO promote\x1b[2J", "password": "y"})
    (event,) = AuditEvent.objects.filter(action="sign-in.failed")
    assert event.subject == "unknown user"
    assert "\x1b" not in caplog.text
