"""A project's people: everybody in it sees them, a lead changes them, all of it is written down."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from codememory.models import AuditEvent, Membership, Project, Role
from tests.builders import make_person, make_project, signed_in

PEOPLE = "/projects/payments-api/people/"


@pytest.fixture
def lena(project: Project) -> User:
    made: User = make_person(project, Role.LEAD, "lena")
    return made


@pytest.fixture
def carol(db: None) -> User:
    return make_person(name="carol")


def role_of(user: User) -> str | None:
    found = Membership.objects.filter(user=user, scope__project__slug="payments-api").first()
    return found.role if found else None


def test_a_lead_adds_an_existing_account(lena: User, carol: User) -> None:
    signed_in(lena).post(f"{PEOPLE}add", {"name": "carol", "role": "REVIEWER"})
    event = AuditEvent.objects.get(action="member.add")
    assert role_of(carol) == "REVIEWER"
    assert (event.subject, event.facts) == (f"user {carol.pk}", {"role": "REVIEWER"})


def test_an_added_member_sees_the_project(lena: User, carol: User) -> None:
    assert signed_in(carol).get(PEOPLE).status_code == 404
    signed_in(lena).post(f"{PEOPLE}add", {"name": "carol", "role": "READER"})
    assert signed_in(carol).get(PEOPLE).status_code == 200


@pytest.mark.parametrize("name", ["nobody", "closed"])
def test_an_account_that_cannot_sign_in_is_not_added(lena: User, name: str) -> None:
    User.objects.create(username="closed", is_active=False)
    answer = signed_in(lena).post(f"{PEOPLE}add", {"name": name, "role": "READER"})
    assert answer.status_code == 409
    assert "No active account has that name" in answer.content.decode()


def test_nobody_is_added_twice(lena: User, rita: User) -> None:
    answer = signed_in(lena).post(f"{PEOPLE}add", {"name": "rita", "role": "LEAD"})
    assert "rita is a member already: reader." in answer.content.decode()
    assert role_of(rita) == "READER"


def test_a_lead_changes_a_role(lena: User, rita: User) -> None:
    form = {"was": "READER", "role": "REVIEWER"}
    signed_in(lena).post(f"{PEOPLE}{rita.pk}/role", form)
    assert role_of(rita) == "REVIEWER"
    assert AuditEvent.objects.get(action="member.role").facts == form


def test_a_role_that_changed_since_is_not_changed_again(lena: User, rita: User) -> None:
    answer = signed_in(lena).post(f"{PEOPLE}{rita.pk}/role", {"was": "REVIEWER", "role": "LEAD"})
    assert answer.status_code == 409
    assert "rita is reader since you opened this page" in answer.content.decode()
    assert role_of(rita) == "READER"


def test_a_lead_removes_a_member_who_then_sees_nothing(lena: User, rita: User) -> None:
    signed_in(lena).post(f"{PEOPLE}{rita.pk}/remove", {"was": "READER"})
    assert role_of(rita) is None
    assert signed_in(rita).get(PEOPLE).status_code == 404
    assert AuditEvent.objects.filter(action="member.remove").exists()


@pytest.mark.parametrize("action", ["role", "remove"])
def test_the_last_lead_stays(lena: User, action: str) -> None:
    form = {"was": "LEAD", "role": "READER"}
    answer = signed_in(lena).post(f"{PEOPLE}{lena.pk}/{action}", form)
    assert "A project keeps a lead" in answer.content.decode()
    assert role_of(lena) == "LEAD"


def test_one_of_two_leads_may_go(project: Project, lena: User) -> None:
    make_person(project, Role.LEAD, "leo")
    signed_in(lena).post(f"{PEOPLE}{lena.pk}/remove", {"was": "LEAD"})
    assert role_of(lena) is None


@pytest.mark.parametrize("action", ["add", "{}/role", "{}/remove"])
def test_a_reviewer_manages_nobody(alice: User, rita: User, action: str) -> None:
    form = {"name": "alice", "role": "LEAD", "was": "READER"}
    answer = signed_in(alice).post(PEOPLE + action.format(rita.pk), form)
    assert answer.status_code == 403
    assert (role_of(alice), role_of(rita)) == ("REVIEWER", "READER")


def test_members_see_each_other_and_no_form(rita: User, lena: User) -> None:
    text = signed_in(rita).get(PEOPLE).content.decode()
    assert "lena" in text
    assert "/people/add" not in text


def test_a_lead_of_another_project_changes_nobody_here(bob: User, rita: User) -> None:
    form = {"was": "READER", "role": "LEAD"}
    foreign = signed_in(bob).post(f"{PEOPLE}{rita.pk}/role", form)
    through = signed_in(bob).post(f"/projects/other/people/{rita.pk}/role", form)
    assert (foreign.status_code, through.status_code, role_of(rita)) == (404, 409, "READER")


def test_a_member_of_elsewhere_answers_as_an_absent_one(bob: User, rita: User) -> None:
    client = signed_in(bob)
    form = {"was": "READER", "role": "LEAD"}
    foreign = client.post(f"/projects/other/people/{rita.pk}/role", form)
    absent = client.post("/projects/other/people/999999/role", form)
    assert foreign.status_code == absent.status_code == 409
    assert "Somebody removed that member" in foreign.content.decode()
    assert "rita" not in foreign.content.decode()


def test_an_administrator_manages_a_project_without_a_lead(db: None) -> None:
    make_project("second")
    root, carol = make_person(name="root"), make_person(name="carol")
    User.objects.filter(pk=root.pk).update(is_superuser=True)
    signed_in(User.objects.get(pk=root.pk)).post(
        "/projects/second/people/add", {"name": "carol", "role": "LEAD"}
    )
    assert Membership.objects.get(user=carol).role == "LEAD"


@pytest.mark.parametrize("form", [{}, {"was": "READER"}, {"was": "READER", "role": "KING"}])
def test_a_form_that_is_not_ours_changes_nobody(
    lena: User, rita: User, form: dict[str, str]
) -> None:
    answer = signed_in(lena).post(f"{PEOPLE}{rita.pk}/role", form)
    assert (answer.status_code, role_of(rita)) == (400, "READER")
