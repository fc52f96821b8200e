"""Who may do what: actors, memberships, agents' tokens and the audit trail."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from codememory.models.scopes import Scope


class ActorKind(models.TextChoices):
    PERSON = "PERSON"
    AGENT = "AGENT"
    DEMO = "DEMO"


class Role(models.TextChoices):
    READER = "READER"
    REVIEWER = "REVIEWER"
    LEAD = "LEAD"


class TokenScope(models.TextChoices):
    READ = "read"
    PROPOSE = "propose"


class Actor(models.Model):
    """Canonical. Somebody or something that acts; decisions refer to (id, kind) of it."""

    kind = models.CharField(max_length=8, choices=ActorKind.choices)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="actor"
    )
    name = models.CharField(max_length=150)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["id", "kind"], name="actor_id_kind"),
            # A person is somebody who can sign in; an agent never can.
            models.CheckConstraint(
                condition=models.Q(kind="AGENT", user=None) | ~models.Q(kind="AGENT"),
                name="actor_agent_has_no_user",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """Canonical. A person's role in a project."""

    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=8, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "user"], name="membership_scope_user"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id}"


class ApiToken(models.Model):
    """Canonical. An agent's bearer token: only its SHA-256 is kept, it is shown once."""

    actor = models.ForeignKey(Actor, on_delete=models.PROTECT, related_name="tokens")
    prefix = models.CharField(max_length=12)
    digest = models.BinaryField(max_length=32, unique=True)
    scopes = ArrayField(models.CharField(max_length=8, choices=TokenScope.choices))
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.prefix


class TokenProject(models.Model):
    """Canonical. A project that a token may read, and whether its agent has attached it."""

    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="projects")
    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, related_name="+")
    attached_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["token", "scope"], name="token_project"),
        ]

    def __str__(self) -> str:
        return f"{self.token_id} {self.scope_id}"


class SignInLink(models.Model):
    """Canonical. A one-time link that lets a new account set its password; kept as a digest."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    digest = models.BinaryField(max_length=32, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"link of {self.user_id}"


class AuditEvent(models.Model):
    """Canonical, append-only (a trigger refuses UPDATE and DELETE). Ids and counts, no content."""

    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, null=True, related_name="+")
    actor = models.ForeignKey(Actor, on_delete=models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=80, default="")
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        # The project's trail, newest first.
        indexes = [models.Index(fields=["scope", "-id"], name="audit_scope_newest")]

    def __str__(self) -> str:
        return self.action
