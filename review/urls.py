"""Addresses of the console, included by codememory.urls."""

from __future__ import annotations

from django.urls import path

from review import (
    accounts,
    candidate_pages,
    deciding,
    health,
    members,
    policy,
    queue_pages,
    second_reviewer_page,
    selection,
    token_pages,
    trail,
    views,
)
from review.coverage import views as coverage
from review.explorer import ask, changes, documents, evidence, history, knowledge, more, renames

CANDIDATE = "projects/<slug:slug>/candidates/<int:number>/"
RUN = "projects/<slug:slug>/coverage/runs/<int:number>/"

app_name = "review"
urlpatterns = [
    path("", views.home, name="home"),
    path("keys/", views.keys, name="keys"),
    path("projects/", views.projects, name="projects"),
    path("projects/<slug:slug>/review/", queue_pages.queue, name="queue"),
    path("projects/<slug:slug>/review/pane/", queue_pages.pane, name="pane"),
    path("projects/<slug:slug>/review/saved", queue_pages.save, name="save_filter"),
    path(
        "projects/<slug:slug>/review/saved/<int:number>/remove",
        queue_pages.forget,
        name="forget_filter",
    ),
    path("projects/<slug:slug>/review/bulk/", selection.bulk, name="bulk"),
    path("projects/<slug:slug>/review/bulk/undo", selection.bulk_undo, name="bulk_undo"),
    path("audit/", trail.whole_trail, name="whole_audit"),
    path("audit/file.csv", trail.whole_trail_file, name="whole_audit_file"),
    path("status/", health.status, name="status"),
    path("projects/<slug:slug>/status/", health.project_status, name="project_status"),
    path("projects/<slug:slug>/audit/", trail.audit_trail, name="audit"),
    path("projects/<slug:slug>/audit/file.csv", trail.audit_file, name="audit_file"),
    path("projects/<slug:slug>/coverage/", coverage.project_coverage, name="coverage"),
    path(
        "projects/<slug:slug>/coverage/rows/<slug:table>/",
        coverage.project_rows,
        name="coverage_rows",
    ),
    path(
        "projects/<slug:slug>/coverage/verdicts/",
        coverage.project_verdicts,
        name="coverage_verdicts",
    ),
    path("projects/<slug:slug>/coverage/disk/", coverage.project_disk, name="coverage_disk"),
    path(f"{RUN}retry", coverage.project_retry, name="coverage_retry"),
    path(f"{RUN}cancel", coverage.project_cancel, name="coverage_cancel"),
    path("projects/<slug:slug>/policy/", policy.policy, name="policy"),
    path("projects/<slug:slug>/policy/preview", policy.preview, name="policy_preview"),
    path("projects/<slug:slug>/policy/edit", policy.edit, name="policy_edit"),
    path("projects/<slug:slug>/policy/confirm", policy.confirm, name="policy_confirm"),
    path("projects/<slug:slug>/people/", members.people, name="people"),
    path(
        "projects/<slug:slug>/people/second-reviewer",
        second_reviewer_page.switch,
        name="second_reviewer",
    ),
    path("projects/<slug:slug>/people/add", members.add, name="add_member"),
    path("projects/<slug:slug>/people/<int:number>/role", members.change, name="change_member"),
    path("projects/<slug:slug>/people/<int:number>/remove", members.remove, name="remove_member"),
    path("projects/<slug:slug>/tokens/", token_pages.token_list, name="tokens"),
    path("projects/<slug:slug>/tokens/make", token_pages.make, name="make_token"),
    path("projects/<slug:slug>/tokens/<int:number>/end", token_pages.end, name="end_token"),
    path("projects/<slug:slug>/history/", history.history, name="history"),
    path("projects/<slug:slug>/changes/L<int:number>/", changes.change, name="change"),
    path("projects/<slug:slug>/documents/D<int:number>/", documents.document, name="document"),
    path("projects/<slug:slug>/evidence/<str:name>/", evidence.evidence, name="evidence"),
    path("projects/<slug:slug>/knowledge/", knowledge.knowledge, name="knowledge"),
    path("projects/<slug:slug>/ask/", ask.ask, name="ask"),
    path("projects/<slug:slug>/renames/", renames.renames, name="renames"),
    path(
        "projects/<slug:slug>/renames/F<int:number>/settle",
        renames.settle_rename,
        name="settle_rename",
    ),
    path("projects/<slug:slug>/more/", more.more, name="more"),
    path(CANDIDATE, candidate_pages.candidate, name="candidate"),
    path(f"{CANDIDATE}edit/", deciding.edit, name="edit"),
    path(f"{CANDIDATE}narrow/", deciding.narrow, name="narrow"),
    path(f"{CANDIDATE}context/", deciding.context, name="context"),
    path(f"{CANDIDATE}merge/", deciding.merge, name="merge"),
    path(f"{CANDIDATE}confirm", deciding.confirm, name="confirm"),
    path(f"{CANDIDATE}view", deciding.view_as, name="view_as"),
    path(f"{CANDIDATE}claim", queue_pages.claim, name="claim"),
    path(f"{CANDIDATE}promote", deciding.promote, name="promote"),
    path(f"{CANDIDATE}promote-as-plan", deciding.promote_as_plan, name="promote_as_plan"),
    path(f"{CANDIDATE}supersede", deciding.supersede, name="supersede"),
    path(f"{CANDIDATE}reject", deciding.reject, name="reject"),
    path(f"{CANDIDATE}defer", deciding.defer, name="defer"),
    path(f"{CANDIDATE}undo", deciding.undo, name="undo"),
    path("accounts/", accounts.account, name="account"),
    path("accounts/login/", accounts.SignIn.as_view(), name="login"),
    path("accounts/logout/", accounts.SignOut.as_view(), name="logout"),
    path("accounts/keys/", accounts.switch_keys, name="switch_keys"),
    path("accounts/start/<str:token>/", accounts.start, name="start"),
]
