"""People: actors, memberships and one-time sign-in links, for the console, `up`, `createadmin`.

A link is a 256-bit random token of which only the SHA-256 is kept; it ends after a day or with its
first use, and serves to set a password.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import Case, QuerySet, When
from django.db.models.functions import Now

from codememory import audit
from codememory.errors import CodeMemoryError
from codememory.models import Actor, ActorKind, Membership, Project, Role, Scope, SignInLink

LINK_LIFE = timedelta(hours=24)
# Not by its name: that would load every page and interface into the process that asks, for good.
SIGN_IN = "/accounts/start/"
TOKEN_BYTES = 32
DECIDING_ROLES = (Role.REVIEWER, Role.LEAD)


class NotAnAdministratorError(CodeMemoryError):
    """The name belongs to an account that is no administrator: a lead gives it its access."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} has an account already and is no administrator")
        self.name = name


class MemberError(CodeMemoryError):
    """Members cannot be changed so; the message is a sentence for the lead."""


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


def members_of(project: Project) -> QuerySet[Membership]:
    """Return the project's members, leads first, then by name."""
    rank = Case(When(role=Role.LEAD, then=0), When(role=Role.REVIEWER, then=1), default=2)
    members = Membership.objects.filter(scope=project.scope_id).select_related("user")
    return members.order_by(rank, "user__username")


@transaction.atomic
def add_member(project: Project, name: str, role: Role, *, actor: Actor) -> Membership:
    """Give an existing account a role in the project. Raises MemberError."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise MemberError("No active account has that name. An administrator makes accounts.")
    member, is_new = Membership.objects.get_or_create(
        scope=project.scope, user=user, defaults={"role": role}
    )
    if not is_new:
        raise MemberError(f"{name} is a member already: {member.role.lower()}.")
    _record_member("member.add", project, user, actor, role=role)
    return member


@transaction.atomic
def change_role(project: Project, user_id: int, was: Role, role: Role, *, actor: Actor) -> User:
    """Change a member's role from the one that was shown. Raises MemberError."""
    member = _lock_member(project, user_id, was)
    if was == Role.LEAD and role != Role.LEAD:
        _keep_a_lead(project, member)
    Membership.objects.filter(pk=member.pk).update(role=role)
    if was != role:
        _record_member("member.role", project, member.user, actor, was=was, role=role)
    return member.user


@transaction.atomic
def remove_member(project: Project, user_id: int, was: Role, *, actor: Actor) -> User:
    """End a membership; what the person decided stays theirs. Raises MemberError."""
    member = _lock_member(project, user_id, was)
    if was == Role.LEAD:
        _keep_a_lead(project, member)
    user = member.user
    member.delete()
    _record_member("member.remove", project, user, actor, was=was)
    return user


def _lock_member(project: Project, user_id: int, was: Role) -> Membership:
    """Lock the member with the role that was shown; changes of members happen one by one."""
    Scope.objects.select_for_update(no_key=True).get(pk=project.scope_id)
    member = (
        Membership.objects.filter(scope=project.scope_id, user_id=user_id)
        .select_related("user")
        .first()
    )
    if member is None:
        raise MemberError("Somebody removed that member since you opened this page.")
    if member.role != was:
        raise MemberError(
            f"{member.user.username} is {member.role.lower()} since you opened this page, no"
            f" longer {was.lower()}. Nothing was changed."
        )
    return member


def _keep_a_lead(project: Project, member: Membership) -> None:
    leads = Membership.objects.filter(scope=project.scope_id, role=Role.LEAD)
    if not leads.exclude(pk=member.pk).exists():
        raise MemberError("A project keeps a lead: make somebody else one first.")


def _record_member(
    action: str, project: Project, user: User, actor: Actor, **facts: object
) -> None:
    audit.record(action, scope=project.scope, actor=actor, subject=f"user {user.pk}", **facts)


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
    return f"{SIGN_IN}{token}/"


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
