"""Which tables can be opened under /admin/: every one of ours, to read; and accounts, to edit."""

# ruff: noqa: ARG002 -- Django names the arguments

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BinaryField, IntegerField, JSONField, Min, Model, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils.safestring import SafeString

from codememory import audit, models
from codememory.paths import shown_path
from codememory.people import actor_of
from review.access import signed_in
from review.admin_filters import (
    GapWorktreeFilter,
    LatestFilter,
    NeedsYouFilter,
    OpenAtFilter,
    ReachableFilter,
    WorktreeFilter,
)
from review.admin_rows import Measure, Rows, metric, readable_columns
from review.admin_site import coverage_site
from review.templatetags.review_extras import visible

COLUMNS = 6  # of a table that has no list of its own
OLDEST = Measure("oldest", "moment", Min("created_at"))


def _text(raw: bytes | memoryview | None) -> SafeString | str:
    return visible(bytes(raw).decode("utf-8", "backslashreplace")) if raw is not None else "none"


def _path(path: models.Path | None) -> SafeString | str:
    return visible(shown_path(bytes(path.raw)) or "") if path is not None else "none"


@admin.display(description="project", ordering="scope_id")
def project_of(row: Any) -> str:
    return str(row.scope.project.slug) if row.scope_id and hasattr(row.scope, "project") else "none"


class OwnedRows(Rows):
    list_select_related: ClassVar[Any] = ("scope__project",)


class ProjectRows(Rows):
    list_display = ("slug", "root", "served_at", "created_at")
    search_fields = ("slug",)


class WorktreeRows(OwnedRows):
    list_display = ("root", project_of, "git_dir", "created_at")


class PolicyRows(OwnedRows):
    list_display = ("generation", project_of, "sources", "include", "exclude", "created_at")


class RunRows(OwnedRows):
    list_display = (
        "name", project_of, "source", "state", "phase", "done", "total", "created_at", "ended_at",
    )  # fmt: skip
    list_filter = ("source", "state")
    more_filters = (WorktreeFilter, NeedsYouFilter)
    measures = {
        "oldest": OLDEST,
        "listed": Measure(
            "documents of HEAD", "", Sum(Cast(KT("cursor__position"), IntegerField()))
        ),
        "total": Measure("commits or documents to work off", "", Sum("total")),
        "done": Measure("worked off", "", Sum("done")),
    }

    @admin.display(description="run", ordering="pk")
    def name(self, run: models.Run) -> str:
        return str(run)

    def measure_named(self, name: str) -> Measure | None:
        kind, _, key = name.partition(".")
        if kind != "metrics" or not key.isidentifier():
            return super().measure_named(name)
        unit = "seconds" if key.startswith("seconds_") else "bytes" if "bytes" in key else ""
        return Measure(f"recorded as {key}", unit, metric(key))


class GapRows(OwnedRows):
    list_display = (
        "reason", project_of, "source", "where", "unread", "commit", "detail", "created_at",
    )  # fmt: skip
    list_filter = ("source", ("reason", admin.AllValuesFieldListFilter))
    list_select_related = ("scope__project", "path")
    more_filters = (GapWorktreeFilter,)
    measures = {"oldest": OLDEST}
    is_always_counted = True

    @admin.display(description="path", empty_value="none")
    def where(self, gap: models.GapRecord) -> SafeString | str:
        return _path(gap.path)

    @admin.display(description="object")
    def unread(self, gap: models.GapRecord) -> str:
        return (gap.object_oid or "none")[:12]

    @admin.display(description="commit")
    def commit(self, gap: models.GapRecord) -> str:
        return (gap.commit_oid or "none")[:12]


class SnapshotRows(OwnedRows):
    list_display = ("head", project_of, "branch_label", "reachable", "is_shallow", "captured_at")
    more_filters = (WorktreeFilter, LatestFilter)
    measures = {
        "reachable": Measure("reachable commits", "", Sum("reachable")),
        "captured": Measure("captured", "moment", Min("captured_at")),
    }

    @admin.display(description="HEAD")
    def head(self, snapshot: models.RefSnapshot) -> str:
        return snapshot.head_oid[:12]


class CommitRows(OwnedRows):
    list_display = ("commit", project_of, "said", "parents")
    more_filters = (ReachableFilter,)

    @admin.display(description="commit", ordering="pk")
    def commit(self, commit: models.GitCommit) -> str:
        return commit.oid[:12]

    @admin.display(description="message, as somebody wrote it")
    def said(self, commit: models.GitCommit) -> SafeString | str:
        return _text(bytes(commit.message).split(b"\n", 1)[0][:120])

    @admin.display(description="parents")
    def parents(self, commit: models.GitCommit) -> int:
        return len(commit.parent_oids)


class FileChangeRows(OwnedRows):
    list_display = ("name", project_of, "kind", "where", "path_class", "commit")
    list_filter = ("path_class",)
    list_select_related = ("scope__project", "old_path", "new_path", "commit")

    @admin.display(description="file change", ordering="pk")
    def name(self, change: models.FileChange) -> str:
        return str(change)

    @admin.display(description="path")
    def where(self, change: models.FileChange) -> SafeString | str:
        return _path(change.new_path or change.old_path)


class RevisionRows(OwnedRows):
    list_display = ("name", project_of, "kind", "where", "size", "captured_at")
    list_filter = ("kind",)
    list_select_related = ("scope__project", "path")

    @admin.display(description="revision", ordering="pk")
    def name(self, revision: models.SourceRevision) -> str:
        return str(revision)

    @admin.display(description="path")
    def where(self, revision: models.SourceRevision) -> SafeString | str:
        return _path(revision.path)


class SegmentRows(OwnedRows):
    list_display = ("name", project_of, "kind", "first_line", "last_line", "text")

    @admin.display(description="segment", ordering="pk")
    def name(self, segment: models.EvidenceSegment) -> str:
        return str(segment)

    @admin.display(description="content, redacted")
    def text(self, segment: models.EvidenceSegment) -> SafeString | str:
        return _text(bytes(segment.content)[:160])


class WorktreeDocumentRows(OwnedRows):
    list_display = ("where", project_of, "revision")
    list_select_related = ("scope__project", "path", "revision")
    more_filters = (WorktreeFilter,)

    @admin.display(description="path")
    def where(self, row: models.WorktreeDocument) -> SafeString | str:
        return _path(row.path)


class CandidateRows(OwnedRows):
    list_display = ("name", "said", project_of, "type", "modality", "state", "created_at")
    list_filter = ("state", "type", "modality")
    more_filters: Sequence[Any] = (OpenAtFilter,)
    measures = {"oldest": OLDEST}

    @admin.display(description="candidate", ordering="pk")
    def name(self, candidate: models.Candidate) -> str:
        return str(candidate)

    @admin.display(description="statement")
    def said(self, claim: models.Candidate | models.Memory) -> SafeString:
        return visible(claim.statement[:300])


class MemoryRows(CandidateRows):
    list_display = ("name", "said", project_of, "type", "modality", "state", "created_at")
    more_filters = ()

    @admin.display(description="memory", ordering="pk")
    def name(self, memory: models.Memory) -> str:  # type: ignore[override]
        return str(memory)


class DecisionRows(OwnedRows):
    list_display = ("name", project_of, "candidate", "actor", "why", "created_at")
    list_filter = ("action",)
    list_select_related = ("scope__project", "candidate", "actor")

    @admin.display(description="decision", ordering="pk")
    def name(self, decision: models.ReviewDecision) -> str:
        return decision.action.replace("_", " ").lower()

    @admin.display(description="reason")
    def why(self, decision: models.ReviewDecision) -> SafeString | str:
        return visible(decision.reason) if decision.reason else "none given"


class AuditRows(OwnedRows):
    list_display = ("action", project_of, "actor", "subject", "facts", "created_at")
    list_select_related = ("scope__project", "actor")
    search_fields = ("=action", "=subject")


class TokenRows(Rows):
    list_display = ("prefix", "actor", "scopes", "expires_at", "revoked_at", "created_at")
    list_select_related = ("actor",)


class PathRows(OwnedRows):
    list_display = ("where", project_of)

    @admin.display(description="path")
    def where(self, path: models.Path) -> SafeString | str:
        return _path(path)


PAGES: dict[type[Model], type[Rows]] = {
    models.Project: ProjectRows,
    models.Worktree: WorktreeRows,
    models.Policy: PolicyRows,
    models.Run: RunRows,
    models.GapRecord: GapRows,
    models.RefSnapshot: SnapshotRows,
    models.GitCommit: CommitRows,
    models.FileChange: FileChangeRows,
    models.SourceRevision: RevisionRows,
    models.EvidenceSegment: SegmentRows,
    models.WorktreeDocument: WorktreeDocumentRows,
    models.Candidate: CandidateRows,
    models.Memory: MemoryRows,
    models.ReviewDecision: DecisionRows,
    models.AuditEvent: AuditRows,
    models.ApiToken: TokenRows,
    models.Path: PathRows,
}


def _page_of(model: type[Model]) -> type[Rows]:
    """Return the page of a table; one without a list of its own shows its first columns."""
    if model in PAGES:
        return PAGES[model]
    plain = [
        field.name
        for field in model._meta.concrete_fields
        if not isinstance(field, BinaryField | JSONField) and field.name != "scope"
    ]
    has_scope = any(field.name == "scope" for field in model._meta.concrete_fields)
    columns = [*plain[:COLUMNS], *([project_of] if has_scope else [])]
    related = [
        field.name
        for field in model._meta.concrete_fields
        if field.is_relation and field.name in plain[:COLUMNS]
    ]
    options = {
        "list_display": columns,
        "list_select_related": [*related, *(["scope__project"] if has_scope else [])] or False,
    }
    return type(f"{model.__name__}Rows", (Rows,), options)


for _model in apps.get_app_config("codememory").get_models():
    PAGES.setdefault(_model, _page_of(_model))
    coverage_site.register(_model, PAGES[_model])


if TYPE_CHECKING:
    AnyUserAdmin = UserAdmin[User]
else:  # Django's own class takes no parameter when it runs
    AnyUserAdmin = UserAdmin


class AccountAdmin(AnyUserAdmin):
    """Accounts: who may sign in. Every change leaves an audit row; nothing is deleted."""

    list_display = ("username", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    actions = None
    add_form = UserCreationForm
    add_fieldsets = ((None, {"fields": ("username", "password1", "password2")}),)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Access", {"fields": ("is_active", "is_staff", "is_superuser")}),
    )

    def get_list_display(self, request: HttpRequest) -> Any:
        return readable_columns(User, self.list_display)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return signed_in(request).is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return signed_in(request).is_superuser

    # Whoever edits accounts can make administrators: administrators alone do, whatever is granted.
    has_add_permission = has_module_permission
    has_change_permission = has_view_permission

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @transaction.atomic
    def log_addition(self, request: HttpRequest, obj: User, message: Any) -> Any:
        """Called by Django once an account is made."""
        audit.record("account.create", actor=actor_of(signed_in(request)), subject=f"user {obj.pk}")
        return super().log_addition(request, obj, message)

    @transaction.atomic
    def log_change(self, request: HttpRequest, obj: User, message: Any) -> Any:
        """Called by Django once an account or its password was changed."""
        fields = [
            name
            for part in (message if isinstance(message, list) else [])
            for name in part.get("changed", {}).get("fields", [])
        ]
        audit.record(
            "account.change",
            actor=actor_of(signed_in(request)),
            subject=f"user {obj.pk}",
            fields=fields or ["password"],
        )
        return super().log_change(request, obj, message)


coverage_site.register(User, AccountAdmin)
