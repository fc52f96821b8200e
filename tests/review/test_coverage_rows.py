"""Rows under /admin/ can be read and nothing else; what is secret or the queue's is not there."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from codememory.models import (
    AuditEvent,
    Candidate,
    EvidenceLink,
    EvidenceSegment,
    GapRecord,
    Memory,
    Project,
    ReviewDecision,
    Run,
    SignInLink,
    Worktree,
)
from codememory.people import make_sign_in_link
from tests.builders import PASSWORD, make_memory, make_person, make_project, signed_in

TABLES = sorted(
    apps.get_app_config("codememory").get_models(), key=lambda model: str(model._meta.model_name)
)
pytestmark = pytest.mark.django_db


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


@pytest.fixture
def staff(root: User) -> Client:
    return signed_in(root)


@pytest.fixture
def memory(candidate: Candidate, alice: User) -> Memory:
    return make_memory(candidate, alice)


def address(model: type[Model], *rest: object) -> str:
    parts = "".join(f"{part}/" for part in rest)
    return f"/admin/codememory/{model._meta.model_name}/{parts}"


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_every_table_is_listed_and_nothing_can_be_added(model: type[Model], staff: Client) -> None:
    assert staff.get(address(model)).status_code == 200
    assert staff.get(address(model, "add")).status_code == 403
    assert staff.post(address(model, "add"), {"statement": "x"}).status_code == 403


@pytest.mark.parametrize(
    "model",
    [Memory, ReviewDecision, Candidate, EvidenceSegment, EvidenceLink, AuditEvent, Run, Project],
    ids=lambda model: model.__name__,
)
def test_a_row_is_shown_and_neither_changed_nor_deleted(
    model: type[Model], memory: Memory, staff: Client
) -> None:
    worktree = Worktree.objects.latest("pk")
    Run.objects.create(
        scope=worktree.scope, worktree=worktree, source="git", policy_generation=1, state="DONE"
    )
    row = model._default_manager.latest("pk")
    before = model._default_manager.values().get(pk=row.pk)
    answers = [
        staff.post(address(model, row.pk, "change"), {"statement": "x", "state": "ARCHIVED"}),
        staff.post(address(model, row.pk, "delete"), {"post": "yes"}),
        staff.post(
            address(model), {"action": "delete_selected", "_selected_action": [row.pk], "post": "1"}
        ),
    ]
    assert staff.get(address(model, row.pk, "change")).status_code == 200
    assert [answer.status_code for answer in answers[:2]] == [403, 403]
    assert model._default_manager.values().get(pk=row.pk) == before


def test_a_row_shows_bytes_as_text_with_nothing_hidden(memory: Memory, staff: Client) -> None:
    segment = EvidenceSegment.objects.latest("pk")
    EvidenceSegment.objects.filter(pk=segment.pk).update(content="A\u202eb<script>".encode())
    text = staff.get(address(EvidenceSegment, segment.pk, "change")).content.decode()
    assert "U+202E" in text
    assert "<script>" not in text.split("<main", 1)[1]


def test_what_a_link_or_token_is_found_by_is_never_shown(staff: Client, root: User) -> None:
    make_sign_in_link(root)
    link = SignInLink.objects.latest("pk")
    text = staff.get(address(SignInLink, link.pk, "change")).content.decode()
    assert bytes(link.digest).hex() not in text
    assert "Digest" not in text
    assert staff.get(f"{address(SignInLink)}?digest__isnull=False").status_code == 400


def test_the_queues_own_rows_have_no_page(staff: Client) -> None:
    OrmQ.objects.create(key="codememory", payload="pickled")
    for place in ("django_q/", "django_q/ormq/", "django_q/task/", "django_q/success/"):
        assert staff.get(f"/admin/{place}").status_code in {302, 404}
    assert "pickled" not in staff.get("/admin/", follow=True).content.decode()


def test_only_staff_opens_these_pages(alice: User, memory: Memory) -> None:
    member = signed_in(alice)
    for place in ("/admin/", address(Memory), "/admin/database/"):
        answer = member.get(place, follow=True)
        assert answer.status_code == 403
        assert memory.statement not in answer.content.decode()
    assert AuditEvent.objects.filter(action="access.refused", facts__page="admin:login").exists()


def test_a_stranger_is_sent_to_the_consoles_sign_in(client: Client, root: User) -> None:
    answer = client.get("/admin/codememory/memory/", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/accounts/login/?next=/admin/")
    assert (
        client.post("/admin/login/", {"username": "root", "password": PASSWORD}).status_code == 302
    )
    assert "_auth_user_id" not in client.session


def test_staff_without_any_permission_reads_and_edits_no_account(memory: Memory) -> None:
    user = make_person(None, name="stella")
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__contains="user"))
    client = signed_in(User.objects.get(pk=user.pk))
    assert client.get(address(Memory)).status_code == 200
    assert client.get("/admin/auth/user/").status_code == 403
    answer = client.post(f"/admin/auth/user/{user.pk}/change/", {"is_superuser": "on"})
    assert answer.status_code == 403


def test_an_account_is_made_and_changed_with_a_trace(staff: Client) -> None:
    fields = {"username": "nils", "password1": "a longer pass phrase"}
    staff.post("/admin/auth/user/add/", {**fields, "password2": fields["password1"]})
    nils = User.objects.get(username="nils")
    staff.post(f"/admin/auth/user/{nils.pk}/change/", {"username": "nils", "is_staff": "on"})
    nils.refresh_from_db()
    assert (nils.is_staff, nils.is_active) == (True, False)
    found = AuditEvent.objects.filter(subject=f"user {nils.pk}").values_list("action", flat=True)
    assert list(found) == ["account.create", "account.change"]


def test_a_lead_reads_rows_of_their_own_project_only(project: Project, bob: User) -> None:
    other = Project.objects.get(slug="other")
    for owner in (project, other):
        worktree = Worktree.objects.get(scope=owner.scope)
        Run.objects.create(
            scope=owner.scope, worktree=worktree, source="git", policy_generation=1, state="DONE"
        )
    lead = signed_in(bob)
    text = lead.get("/projects/other/coverage/rows/run/").content.decode()
    assert 'data-rows="1"' in text
    assert "payments-api" not in text
    for asked in ("?project=payments-api", f"?scope__id__exact={project.scope_id}"):
        narrowed = lead.get(f"/projects/other/coverage/rows/run/{asked}", follow=True)
        assert "payments-api</td>" not in narrowed.content.decode()
    assert lead.get("/projects/payments-api/coverage/rows/run/").status_code == 404


@pytest.mark.parametrize("table", ["apitoken", "signinlink", "actor", "user", "nothing"])
def test_a_lead_opens_no_table_whose_rows_belong_to_no_project(table: str, bob: User) -> None:
    assert signed_in(bob).get(f"/projects/other/coverage/rows/{table}/").status_code == 404


def test_reviewers_and_readers_see_no_coverage(alice: User, rita: User) -> None:
    for person in (alice, rita):
        client = signed_in(person)
        for place in ("coverage/", "coverage/rows/run/"):
            assert client.get(f"/projects/payments-api/{place}").status_code == 403


@pytest.mark.parametrize(
    "query",
    ["?project=%00", "?state__exact=%00", "?worktree=x", "?reached_by=99999999999999999999",
     "?open_at=yesterday", "?measure=metrics.'", "?nothing=1", "?created_at__gte=x", "?p=-5",
     "?id__exact=99999999999999999999", "?o=99", "?q=%00"],
)  # fmt: skip
def test_a_strange_address_is_answered(query: str, staff: Client) -> None:
    for table in ("run", "candidate", "gitcommit", "gaprecord", "auditevent"):
        answer = staff.get(f"/admin/codememory/{table}/{query}", follow=True)
        assert answer.status_code in {200, 400}, table


def test_a_page_of_rows_asks_the_database_no_more_for_more_rows(staff: Client) -> None:
    project = make_project("shop")
    worktree = Worktree.objects.get(scope=project.scope)
    run = Run.objects.create(
        scope=project.scope, worktree=worktree, source="git", policy_generation=1, state="DONE"
    )

    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            staff.get(address(GapRecord))
        return len(caught)

    queries()  # what Django keeps from the first time on is asked for only then
    few = queries()
    GapRecord.objects.bulk_create(
        GapRecord(scope=project.scope, run=run, source="git", reason="BINARY", object_oid=str(n))
        for n in range(40)
    )
    assert queries() == few


def test_no_page_has_a_script_or_style_in_line(memory: Memory, staff: Client) -> None:
    pages = ["/admin/", "/admin/database/", address(Memory), address(Memory, memory.pk, "change"),
             "/admin/auth/user/", "/admin/auth/user/add/"]  # fmt: skip
    for page in pages:
        answer = staff.get(page)
        text = answer.content.decode()
        assert re.findall(r"<style|<script(?![^>]* src=)| style=| on\w+=", text) == []
        assert "script-src 'self'" in answer["Content-Security-Policy"]


def test_the_lead_of_a_project_finds_its_coverage(bob: User) -> None:
    text = signed_in(bob).get("/projects/other/review/").content.decode()
    assert "/projects/other/coverage/" in text
