from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from codememory import audit, tokens
from codememory.models import ApiToken, AuditEvent, Project, Scope, ScopeKind

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    scope = Scope.objects.create(kind=ScopeKind.PROJECT)
    return Project.objects.create(scope=scope, slug="alpha", root="/a", root_digest=b"a" * 32)


def test_a_token_is_kept_as_its_digest_only(project: Project) -> None:
    token, plain = tokens.create_token("agent", [project], ["read"])
    row = ApiToken.objects.values().get(pk=token.pk)
    assert plain not in str(row)
    assert bytes(row["digest"]) == hashlib.sha256(plain.encode()).digest()


def test_a_token_has_at_least_192_random_bits(project: Project) -> None:
    _, plain = tokens.create_token("agent", [project], ["read"])
    assert plain.startswith("cmt_")
    assert len(plain.removeprefix("cmt_")) * 6 >= 192


def test_a_live_token_is_recognised(project: Project) -> None:
    token, plain = tokens.create_token("agent", [project], ["read"])
    assert tokens.verify(plain) == token


def test_an_expired_token_is_nobody(project: Project) -> None:
    token, plain = tokens.create_token("agent", [project], ["read"], timedelta(hours=1))
    ApiToken.objects.filter(pk=token.pk).update(expires_at=Now())
    assert tokens.verify(plain) is None


def test_a_token_lives_until_it_expires(project: Project) -> None:
    _, plain = tokens.create_token("agent", [project], ["read"], timedelta(hours=1))
    assert tokens.verify(plain) is not None


def test_a_revoked_token_is_nobody(project: Project) -> None:
    token, plain = tokens.create_token("agent", [project], ["read"])
    tokens.revoke(token.prefix)
    assert tokens.verify(plain) is None


def test_revoking_twice_is_refused(project: Project) -> None:
    token, _ = tokens.create_token("agent", [project], ["read"])
    tokens.revoke(token.prefix)
    with pytest.raises(tokens.TokenError):
        tokens.revoke(token.prefix)


@pytest.mark.parametrize("plain", ["", "cmt_", "cmt_" + "x" * 5000, "cmt_é", "cmt_\0", "Bearer"])
def test_nonsense_is_nobody(project: Project, plain: str) -> None:
    assert tokens.verify(plain) is None


@pytest.mark.parametrize("scopes", [[], ["promote"], ["read", "admin"]])
def test_other_scopes_are_refused(project: Project, scopes: list[str]) -> None:
    with pytest.raises(tokens.TokenError):
        tokens.create_token("agent", [project], scopes)


def test_a_token_needs_a_project() -> None:
    with pytest.raises(tokens.TokenError):
        tokens.create_token("agent", [], ["read"])


def test_making_and_revoking_leave_a_trail(project: Project) -> None:
    token, plain = tokens.create_token("agent", [project], ["read"])
    tokens.revoke(plain)
    trail = AuditEvent.objects.filter(scope=project.scope_id).order_by("pk")
    assert [event.action for event in trail] == ["token.create", "token.revoke"]
    assert {event.subject for event in trail} == {token.prefix}


def test_the_trail_names_the_account_that_made_it_and_never_the_agent(project: Project) -> None:
    token, _ = tokens.create_token("agent", [project], ["read"])
    tokens.revoke(token.prefix)
    for event in AuditEvent.objects.filter(scope=project.scope_id):
        assert event.actor is None
        assert event.facts["account"] == audit.account_name()
        assert event.facts["agent"] == "agent"


def test_a_token_reads_its_own_projects_only(project: Project) -> None:
    scope = Scope.objects.create(kind=ScopeKind.PROJECT)
    Project.objects.create(scope=scope, slug="beta", root="/b", root_digest=b"b" * 32)
    token, _ = tokens.create_token("agent", [project], ["read"])
    assert list(tokens.readable_projects(token.pk)) == [project]


def test_attaching_is_kept_with_the_token(project: Project) -> None:
    token, _ = tokens.create_token("agent", [project], ["read"])
    assert tokens.attached_scopes(token.pk) == set()
    tokens.attach_project(token.pk, project)
    assert tokens.attached_scopes(token.pk) == {project.scope_id}
