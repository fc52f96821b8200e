"""People: their actors, roles and one-time sign-in links, for the console, `up` and `createadmin`.

A link is a 256-bit random token of which only the SHA-256 is kept; it ends after a day or with its
first use, and serves to set a password.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.urls import reverse

from codememory import audit
from codememory.errors import CodeMemoryError
from codememory.models import Actor, ActorKind, Membership, Project, Role, SignInLink

LINK_LIFE = timedelta(hours=24)
TOKEN_BYTES = 32
DECIDING_ROLES = (Role.REVIEWER, Role.LEAD)


class NotAnAdministratorError(CodeMemoryError):
    """The name belongs to an account that is no administrator: a lead gives it its access."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} has an account already and is no administrator")
        self.name = name


def actor_of(user: User) -> Actor:
    """Return the user's actor, made as a PERSON at first need (the demo makes its own)."""
    actor, _ = Actor.objects.get_or_create(
        user=user, defaults={"kind": ActorKind.PERSON, "name": user.get_username()}
    )
    return actor


def visible_projects(user: User) -> QuerySet[Project]:
    """Return the projects that the user may see, by name."""
    projects = Project.objects.order_by("slug")
    if user.is_superuser:
        return projects
    return projects.filter(scope__memberships__user=user)


def role_in(user: AbstractBaseUser | AnonymousUser, project: Project) -> Role | None:
    """Return the user's role in a project; None means the project does not exist for them."""
    if not isinstance(user, User):
        return None
    if user.is_superuser:
        return Role.LEAD
    found = Membership.objects.filter(scope=project.scope_id, user=user).values_list("role").first()
    return Role(found[0]) if found else None


@transaction.atomic
def create_administrator(name: str) -> str:
    """Create an administrator, or find the existing one, and return a fresh link's path."""
    user, is_new = User.objects.get_or_create(
        username=name, defaults={"is_staff": True, "is_superuser": True}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        audit.record("administrator.create", actor=actor_of(user), subject=f"user {user.pk}")
    elif not user.is_superuser:
        raise NotAnAdministratorError(name)
    return make_sign_in_link(user)


def make_sign_in_link(user: User) -> str:
    """Return the path of a fresh link; earlier unused ones of the user end."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        SignInLink.objects.filter(user=user, used_at=None).update(used_at=Now())
        SignInLink.objects.create(user=user, digest=_digest(token), expires_at=Now() + LINK_LIFE)
        audit.record("sign-in-link.create", actor=actor_of(user), subject=f"user {user.pk}")
    return reverse("review:start", args=[token])


def find_sign_in_link(token: str) -> SignInLink | None:
    """Return the link if it can still be used."""
    return (
        SignInLink.objects.filter(
            digest=_digest(token), used_at=None, expires_at__gt=Now(), user__is_active=True
        )
        .select_related("user")
        .first()
    )


def end_sign_in_link(link: SignInLink) -> bool:
    """Use the link up; False when somebody else was first."""
    used = SignInLink.objects.filter(pk=link.pk, used_at=None, expires_at__gt=Now())
    return used.update(used_at=Now()) == 1


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
