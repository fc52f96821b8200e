"""Isolation and human decision are structural: SQL itself refuses what the code must not do."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.backends.utils import CursorWrapper

from codememory.keys import EXTRA_KEYS, CompositeKey, expected_keys
from codememory.models import Actor, ActorKind, ReviewDecision, Scope, ScopeKind
from tests.builders import make_candidate, make_person, make_project

KEYS = """
    SELECT source.relname, target.relname,
           ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k (n, i)
                 JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n ORDER BY i),
           ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k (n, i)
                 JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.n ORDER BY i),
           c.condeferrable
    FROM pg_constraint c
    JOIN pg_class source ON source.oid = c.conrelid
    JOIN pg_class target ON target.oid = c.confrelid
    WHERE c.contype = 'f' AND cardinality(c.conkey) > 1
"""
LINKS = sorted(expected_keys() - set(EXTRA_KEYS))


@pytest.mark.django_db
def test_the_database_has_exactly_the_composite_keys_that_the_models_call_for() -> None:
    with connection.cursor() as cursor:
        cursor.execute(KEYS)
        rows = cursor.fetchall()
    found = {
        CompositeKey(table, tuple(own), target, tuple(of)) for table, target, own, of, _ in rows
    }
    assert found == expected_keys()
    assert all(deferrable for *_, deferrable in rows)


@pytest.mark.django_db
def test_every_owned_table_leads_its_unique_keys_with_the_scope() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT t.relname, i.indexrelid::regclass::text, a.attname
            FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
            JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
            WHERE i.indisunique AND NOT i.indisprimary
            """
        )
        rows = cursor.fetchall()
    owned = {key.table for key in expected_keys()} | {key.target for key in LINKS}
    leading = {(table, index): first for table, index, first in rows if table in owned}
    assert leading
    assert set(leading.values()) == {"scope_id"}, leading


def fill(cursor: CursorWrapper, table: str, values: dict[str, Any]) -> int:
    """Insert a row with these values and something harmless in every other NOT NULL column."""
    cursor.execute(
        """
        SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull
          AND attidentity = '' AND NOT atthasdef
        """,
        [table],
    )
    harmless = {"bytea": secrets.token_bytes(32), "jsonb": "{}", "boolean": False}
    columns = dict(values)
    for name, kind in cursor.fetchall():
        if name in columns:
            continue
        if kind.endswith("[]"):
            columns[name] = []
        elif kind.startswith(("character", "text")):
            columns[name] = secrets.token_hex(4)[:1]
        else:
            columns[name] = harmless.get(kind, secrets.randbelow(30_000) + 1)
    names = ", ".join(columns)
    marks = ", ".join(["%s"] * len(columns))
    cursor.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks}) RETURNING id", list(columns.values())
    )
    return int(cursor.fetchone()[0])


def drop_checks(cursor: CursorWrapper, table: str) -> None:
    """Only the key under test may speak; the test's transaction brings the checks back."""
    cursor.execute(
        "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'",
        [table],
    )
    for (name,) in cursor.fetchall():
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")


@pytest.mark.django_db
@pytest.mark.parametrize("key", LINKS, ids=lambda key: f"{key.table}.{key.columns[1]}")
def test_a_link_to_a_row_of_another_scope_is_refused(key: CompositeKey) -> None:
    mine = Scope.objects.create(kind=ScopeKind.PROJECT)
    theirs = Scope.objects.create(kind=ScopeKind.PROJECT)
    table = key.table.removeprefix("codememory_")
    name = f"{table}_{key.columns[1].removesuffix('_id')}_same_scope"
    with connection.cursor() as cursor:
        for each in {key.table, key.target}:
            drop_checks(cursor, each)
        cursor.execute("SET session_replication_role = replica")
        foreign_id = fill(cursor, key.target, {"scope_id": theirs.pk})
        own_id = fill(cursor, key.target, {"scope_id": mine.pk})
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute(f"SET CONSTRAINTS {name} IMMEDIATE")
        fill(cursor, key.table, {"scope_id": mine.pk, key.columns[1]: own_id})
        with pytest.raises(IntegrityError, match=name):
            fill(cursor, key.table, {"scope_id": mine.pk, key.columns[1]: foreign_id})


def decide(actor: Actor, kind: str) -> ReviewDecision:
    project = make_project()
    candidate = make_candidate(project)
    return ReviewDecision.objects.create(
        scope=project.scope,
        candidate=candidate,
        action="PROMOTE",
        actor=actor,
        actor_kind=kind,
        candidate_version=1,
        shown_digest=b"\x00" * 32,
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.DEMO])
def test_a_decision_of_anything_but_a_person_is_refused(kind: str) -> None:
    actor = Actor.objects.create(kind=kind, name="somebody else")
    with pytest.raises(IntegrityError, match="decision_by_a_person"):
        decide(actor, kind)


@pytest.mark.django_db(transaction=True)
def test_an_agent_cannot_pass_as_a_person() -> None:
    actor = Actor.objects.create(kind=ActorKind.AGENT, name="agent")
    with pytest.raises(IntegrityError, match="reviewdecision_actor_kind"), transaction.atomic():
        decide(actor, ActorKind.PERSON)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", ["UPDATE {} SET reason = 'x'", "DELETE FROM {}"])
def test_a_decision_can_be_neither_changed_nor_removed(statement: str) -> None:
    person = make_person()
    actor = Actor.objects.create(kind=ActorKind.PERSON, user=person, name="alice")
    decide(actor, ActorKind.PERSON)
    with pytest.raises(Exception, match="append-only"), connection.cursor() as cursor:
        cursor.execute(statement.format("codememory_reviewdecision"))


@pytest.mark.django_db(transaction=True)
def test_a_memory_without_a_promotion_is_refused() -> None:
    project = make_project()
    candidate = make_candidate(project)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        fill(
            cursor,
            "codememory_memory",
            {
                "scope_id": project.scope_id,
                "candidate_id": candidate.pk,
                "decision_id": 999_999,
                "decision_action": "PROMOTE",
                "type": "decision",
                "modality": "DECISION",
            },
        )
