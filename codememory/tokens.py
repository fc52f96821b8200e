"""Agents' bearer tokens: issue, verify, revoke, and the projects that a token may read.

REST and MCP over HTTP ask `verify`; the `token` command and the console issue and revoke. Every
time is the database's own.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from codememory import audit
from codememory.errors import CodeMemoryError
from codememory.models import Actor, ActorKind, ApiToken, Project, TokenProject, TokenScope

MARK = "cmt_"
SECRET_BYTES = 32
SHOWN_LENGTH = 12  # what lists show and `revoke` takes: the mark and the first 48 bits
LONGEST = 128  # nothing longer is hashed


class TokenError(CodeMemoryError):
    """A token cannot be made or revoked as asked."""


@transaction.atomic
def create_token(
    actor_name: str,
    projects: Sequence[Project],
    scopes: Iterable[str],
    expires: timedelta | None = None,
    *,
    by: Actor | None = None,
) -> tuple[ApiToken, str]:
    """Return the new row and the token itself, which exists nowhere else from here on.

    The trail names the person who made it (`by`), else the account of this machine; and the agent
    as what the token is for, never as who made it.
    """
    wanted = sorted(set(scopes))
    if not projects:
        raise TokenError("A token needs at least one project.")
    if not wanted or not set(wanted) <= set(TokenScope.values):
        raise TokenError(f"Scopes are: {', '.join(TokenScope.values)}.")
    if expires is not None and expires <= timedelta(0):
        raise TokenError("A token has to expire later than now.")
    plain = MARK + secrets.token_urlsafe(SECRET_BYTES)
    token = ApiToken.objects.create(
        actor=_agent(actor_name),
        prefix=plain[:SHOWN_LENGTH],
        digest=_digest(plain),
        scopes=wanted,
        expires_at=None if expires is None else Now() + expires,
    )
    for project in projects:
        TokenProject.objects.create(token=token, scope_id=project.scope_id)
        audit.record(
            "token.create",
            scope=project.scope,
            actor=by,
            subject=token.prefix,
            agent=token.actor.name,
            scopes=wanted,
            **_account(by),
        )
    token.refresh_from_db()
    return token, plain


def verify(plain: str) -> ApiToken | None:
    """Return the live token that `plain` is; None for an unknown, expired or revoked one."""
    if not plain.startswith(MARK) or len(plain) > LONGEST or not plain.isascii():
        return None
    # The digest of 256 random bits is looked up, so that no comparison's duration tells anything.
    return _live().filter(digest=_digest(plain)).select_related("actor").first()


def find_ended(plain: str) -> ApiToken | None:
    """Return the token that `plain` was, if it is not live any more."""
    if not plain.startswith(MARK) or len(plain) > LONGEST or not plain.isascii():
        return None
    ended = ApiToken.objects.exclude(pk__in=_live().values("pk"))
    return ended.filter(digest=_digest(plain)).select_related("actor").first()


@transaction.atomic
def revoke(prefix: str) -> ApiToken:
    """Revoke the one live token shown as `prefix`; a whole token is taken for its prefix."""
    shown = prefix[:SHOWN_LENGTH]
    found = list(ApiToken.objects.select_for_update().filter(prefix=shown, revoked_at=None)[:2])
    if len(found) != 1:
        raise TokenError("No live token has this prefix; `token list` shows them.")
    [token] = found
    end(token)
    token.refresh_from_db()
    return token


@transaction.atomic
def end(token: ApiToken, *, by: Actor | None = None) -> bool:
    """Revoke a token for all that it reads; False when it was revoked already."""
    if not ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=Now()):
        return False
    for link in token.projects.select_related("scope"):
        _record_end("token.revoke", token, link, by)
    return True


@transaction.atomic
def withdraw(token: ApiToken, project: Project, *, by: Actor) -> bool:
    """Take one project from what a token reads; False when it did not read it any more."""
    link = token.projects.select_related("scope").filter(scope_id=project.scope_id).first()
    if link is None:
        return False
    link.delete()
    _record_end("token.withdraw", token, link, by)
    return True


def _record_end(act: str, token: ApiToken, link: TokenProject, by: Actor | None) -> None:
    audit.record(
        act,
        scope=link.scope,
        actor=by,
        subject=token.prefix,
        agent=token.actor.name,
        **_account(by),
    )


def _account(by: Actor | None) -> dict[str, str]:
    """The account of this machine, where nobody is signed in."""
    return {} if by else {"account": audit.account_name()}


def is_live(token_id: int) -> bool:
    return _live().filter(pk=token_id).exists()


def has_scope(token_id: int, scope: TokenScope) -> bool:
    """Tell whether the token is live and was made for this scope."""
    return _live().filter(pk=token_id, scopes__contains=[scope.value]).exists()


def actor_of(token_id: int) -> Actor:
    """The agent that the token was made for."""
    return Actor.objects.get(tokens__pk=token_id)


def readable_projects(token_id: int) -> QuerySet[Project]:
    """The projects that the token may read."""
    scopes = TokenProject.objects.filter(token_id=token_id).values("scope_id")
    return Project.objects.filter(scope_id__in=scopes).order_by("slug")


def attached_scopes(token_id: int) -> set[int]:
    links = TokenProject.objects.filter(token_id=token_id, attached_at__isnull=False)
    return set(links.values_list("scope_id", flat=True))


def attach_project(token_id: int, project: Project) -> None:
    """Note that the token's agent works on `project`; the first time is kept."""
    TokenProject.objects.filter(
        token_id=token_id, scope_id=project.scope_id, attached_at=None
    ).update(attached_at=Now())


def _live() -> QuerySet[ApiToken]:
    unexpired = Q(expires_at=None) | Q(expires_at__gt=Now())
    return ApiToken.objects.filter(unexpired, revoked_at=None)


def _agent(name: str) -> Actor:
    # Two rows of one name, made at the same moment, would harm nothing: tokens point at rows.
    known = Actor.objects.filter(kind=ActorKind.AGENT, name=name).order_by("pk").first()
    return known or Actor.objects.create(kind=ActorKind.AGENT, name=name)


def _digest(plain: str) -> bytes:
    return hashlib.sha256(plain.encode()).digest()
