"""The forms in the bar's place: who may open and send them, and what a form says that is stale."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from codememory.candidates import shown_digest
from codememory.models import AuditEvent, Candidate, Memory, Project, Role
from codememory.people import actor_of
from review import claims
from review.merging import digest_of
from review.queries import said_as
from tests.builders import make_candidate, make_memory, make_person, signed_in

FORMS = ["edit", "narrow", "context", "merge"]
SENT = [*FORMS, "confirm", "second_reviewer"]


def address(name: str, project: Project, candidate: Candidate) -> str:
    number = [] if name == "second_reviewer" else [candidate.pk]
    return reverse(f"review:{name}", args=[project.slug, *number])


def fields(candidate: Candidate, **more: object) -> dict[str, object]:
    candidate.refresh_from_db()
    shown = shown_digest(candidate).hex()
    kept = {"version": candidate.version, "shown": shown, "said": said_as(candidate)}
    return {**kept, "rivals": "", "back": "page", **more}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_its_own_address(
    project: Project, candidate: Candidate, alice: User, name: str
) -> None:
    page = signed_in(alice).get(address(name, project, candidate))
    assert page.status_code == 200
    assert "Back, nothing decided" in page.content.decode()


@pytest.mark.parametrize("name", SENT)
def test_a_reader_sends_none_of_them(
    project: Project, candidate: Candidate, rita: User, name: str
) -> None:
    sent = signed_in(rita).post(address(name, project, candidate), fields(candidate))
    assert sent.status_code == 403
    assert AuditEvent.objects.filter(action="access.refused").count() == 1


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("method", ["get", "post"])
def test_for_somebody_else_there_is_no_such_page(
    project: Project, candidate: Candidate, bob: User, name: str, method: str
) -> None:
    assert getattr(signed_in(bob), method)(address(name, project, candidate)).status_code == 404


@pytest.mark.parametrize("name", SENT)
def test_without_a_session_or_a_token_of_the_form_nothing_is_sent(
    project: Project, candidate: Candidate, alice: User, name: str
) -> None:
    where = address(name, project, candidate)
    assert Client().post(where, fields(candidate)).status_code == 302
    strict = signed_in(alice, enforce_csrf_checks=True)
    assert strict.post(where, fields(candidate)).status_code == 403


def test_a_reviewer_does_not_switch_the_second_reviewer(project: Project, alice: User) -> None:
    where = reverse("review:second_reviewer", args=[project.slug])
    assert signed_in(alice).post(where, {"second_reviewer": "on"}).status_code == 403
    lead = make_person(project, Role.LEAD, "lena")
    assert signed_in(lead).post(where, {"second_reviewer": "on"}).status_code == 302
    project.refresh_from_db()
    assert project.second_reviewer


@pytest.mark.parametrize(
    "more",
    [
        {"narrow_kind": "EVERYWHERE"},
        {"memory": "x"},
        {"version": "0"},
        {"shown": "zz"},
        {"said": "a b"},
    ],
)
def test_a_form_that_is_not_ours_is_refused(
    project: Project, candidate: Candidate, alice: User, more: dict[str, str]
) -> None:
    where = address("edit", project, candidate)
    assert signed_in(alice).post(where, fields(candidate, **more)).status_code == 400
    assert not Memory.objects.exists()


def test_words_that_are_too_long_are_said_so_and_kept(
    project: Project, candidate: Candidate, alice: User
) -> None:
    words = "word " * 500
    sent = fields(candidate, wording=words)
    page = signed_in(alice).post(address("edit", project, candidate), sent)
    assert page.status_code == 422
    assert "Say it in 2000 characters or fewer." in page.content.decode()
    assert words.strip() in page.content.decode()


def test_nothing_chosen_merges_nothing(project: Project, candidate: Candidate, alice: User) -> None:
    page = signed_in(alice).post(address("merge", project, candidate), fields(candidate))
    assert page.status_code == 422
    assert "Choose what it joins" in page.content.decode()


@pytest.mark.parametrize("name", ["edit", "merge", "reject", "defer", "promote"])
def test_what_somebody_else_claimed_is_not_decided(
    project: Project, candidate: Candidate, alice: User, name: str
) -> None:
    other = make_memory(make_candidate(project, "Other words.", path=b"b.md"), alice)
    claims.claim(candidate, actor=actor_of(make_person(project, name="carol")))
    into = f"M{other.pk}|{digest_of(other)}"
    sent = fields(candidate, wording="New words.", into=into, reason="no")
    page = signed_in(alice).post(address(name, project, candidate), sent)
    assert page.status_code == 422
    assert "carol has claimed" in page.content.decode()
    assert Memory.objects.count() == 1


def test_what_the_rules_say_otherwise_is_named_as_the_difference(
    project: Project, candidate: Candidate, alice: User
) -> None:
    sent = fields(candidate, wording="Other words.")
    Candidate.objects.filter(pk=candidate.pk).update(modality="PLAN", flags=["ALSO_PLANNED"])
    page = signed_in(alice).post(address("edit", project, candidate), sent).content.decode()
    assert "How it was said: " in page
    assert "<del>decision</del> <ins>plan</ins>" in page
    assert "<ins>also planned</ins>" in page
    assert "Other words." in page


def test_a_page_of_many_similar_ones_asks_the_database_no_more_often(
    project: Project, candidate: Candidate, alice: User
) -> None:
    """The page shows some of them, however many there are."""
    for number in range(12):
        text = f"A retried refund keeps its first key, case {number}."
        make_candidate(project, text, path=b"many%d.md" % number)
    page = signed_in(alice).get(address("merge", project, candidate)).content.decode()
    assert page.count('type="radio"') <= 6


@pytest.mark.parametrize("name", FORMS)
def test_a_form_does_not_open_over_the_claim_of_somebody_else(
    project: Project, candidate: Candidate, alice: User, name: str
) -> None:
    claims.claim(candidate, actor=actor_of(make_person(project, Role.REVIEWER, "jonas")))
    page = signed_in(alice).get(address(name, project, candidate)).content.decode()
    assert "jonas has claimed" in page
    assert "Back, nothing decided" not in page


def test_where_nothing_can_be_merged_into_there_is_no_button_to_merge(
    project: Project, candidate: Candidate, alice: User
) -> None:
    plan = make_candidate(project, f"{candidate.statement} Soon.", path=b"plan.md", modality="PLAN")
    form, client = address("merge", project, candidate), signed_in(alice)
    page = client.get(form, {"into": f"C{plan.pk}"}).content.decode()
    assert "nor a rule of a plan" in page
    assert ">Merge</button>" not in page
    twin = make_candidate(project, f"{candidate.statement} Always.", path=b"twin.md")
    page = client.get(form, {"into": f"C{twin.pk}"}).content.decode()
    assert ">Merge</button>" in page
    assert page.count(" checked") == 1
