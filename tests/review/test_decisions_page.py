"""The three decisions as forms: who may send them, and what comes back."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from codememory.candidates import shown_digest
from codememory.models import (
    Actor,
    AuditEvent,
    Candidate,
    EvidenceLink,
    Memory,
    Project,
    ReviewDecision,
)
from tests.builders import make_candidate, make_memory, signed_in

ACTIONS = ["", "promote", "promote-as-plan", "supersede", "reject", "defer", "undo"]


def address(candidate: Candidate, action: str = "") -> str:
    return f"/projects/payments-api/candidates/{candidate.pk}/{action}"


def seen(candidate: Candidate) -> str:
    """The evidence that the page wrote into its form."""
    return "-".join(
        f"{link.segment_id}.{link.byte_start}" for link in candidate.evidence_links.all()
    )


def form(candidate: Candidate, **more: str) -> dict[str, str]:
    candidate.refresh_from_db()
    return {"version": str(candidate.version), "shown": shown_digest(candidate).hex(), **more}


def test_promoting_goes_on_to_the_next_open_candidate(
    alice: User, project: Project, candidate: Candidate
) -> None:
    following = make_candidate(project, "Refunds are never partial.", path=b"docs/b.md")
    answer = signed_in(alice).post(address(candidate, "promote"), form(candidate))
    assert answer.headers["Location"] == address(following)
    assert Memory.objects.get().candidate == candidate


def test_the_last_decision_goes_back_to_the_queue(alice: User, candidate: Candidate) -> None:
    client = signed_in(alice)
    answer = client.post(address(candidate, "promote"), form(candidate), follow=True)
    page = answer.content.decode()
    assert answer.redirect_chain[-1][0] == "/projects/payments-api/review/"
    assert "All 1 decided" in page
    assert f"C{candidate.pk}</a> as a decision" in page


def test_a_filter_is_kept_from_one_candidate_to_the_next(
    alice: User, project: Project, candidate: Candidate
) -> None:
    make_candidate(project, "Say it with types.", type="convention", path=b"docs/b.md")
    following = make_candidate(project, "Keys are ours.", path=b"docs/c.md")
    send = address(candidate, "promote") + "?type=decision"
    answer = signed_in(alice).post(send, form(candidate))
    assert answer.headers["Location"] == address(following) + "?type=decision"


def test_a_stale_form_answers_409_and_says_who_was_first(alice: User, candidate: Candidate) -> None:
    client, stale = signed_in(alice), form(candidate)
    client.post(address(candidate, "promote"), stale)
    answer = client.post(address(candidate, "reject"), {**stale, "reason": "no"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert f"C{candidate.pk} changed since you opened it." in page
    assert "Promoted by you" in " ".join(page.split())
    assert "Nothing was decided." in page


def test_a_stale_form_is_shown_what_was_added_since(
    alice: User, project: Project, candidate: Candidate
) -> None:
    stale = form(candidate, seen=seen(candidate))
    other = make_candidate(project, "Elsewhere.", path=b"docs/b.md").evidence_links.get()
    EvidenceLink.objects.create(
        scope=project.scope, candidate=candidate, segment=other.segment, byte_start=0, byte_end=9
    )
    answer = signed_in(alice).post(address(candidate, "promote"), stale)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "It is also said here now" in page
    assert "docs/b.md" in page


def test_a_form_is_shown_the_rule_that_appeared_since_word_by_word(
    alice: User, project: Project
) -> None:
    candidate = make_candidate(project, "Tests take 10 seconds.", subject="tests")
    stale = form(candidate, seen=seen(candidate))
    rival = make_candidate(project, "Tests take 90 seconds.", subject="tests", path=b"b.md")
    memory = make_memory(rival, alice)
    answer = signed_in(alice).post(address(candidate, "promote"), stale)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert f"M{memory.pk} stands beside it now" in page
    assert "<del>90</del><ins>10</ins>" in page


def test_a_plan_has_a_button_of_its_own(alice: User, project: Project) -> None:
    plan = make_candidate(project, modality="PLAN")
    page = signed_in(alice).get(address(plan)).content.decode()
    assert f"{address(plan, 'promote-as-plan')}" in page
    assert f'action="{address(plan, "promote")}"' not in page
    assert "says nothing of its being built" in page


def test_a_plan_sent_to_plain_promote_is_refused(alice: User, project: Project) -> None:
    plan = make_candidate(project, modality="PLAN")
    answer = signed_in(alice).post(address(plan, "promote"), form(plan))
    assert answer.status_code == 422
    assert "never as a rule that holds" in answer.content.decode()
    signed_in(alice).post(address(plan, "promote-as-plan"), form(plan))
    assert Memory.objects.get().modality == "PLAN"


def test_deferring_needs_no_reason_and_can_be_taken_back(alice: User, candidate: Candidate) -> None:
    client = signed_in(alice)
    client.post(address(candidate, "defer"), form(candidate, reason=""))
    page = client.get(address(candidate)).content.decode()
    assert "Deferred by you" in " ".join(page.split())
    client.post(address(candidate, "undo"), form(candidate))
    candidate.refresh_from_db()
    assert candidate.state == "PENDING"


def test_superseding_names_the_rule_that_ended(alice: User, project: Project) -> None:
    old = make_memory(make_candidate(project, "Keys live for 90 days.", after=""), alice)
    newer = make_candidate(project, "Keys live for 400 days.", after="")
    client = signed_in(alice)
    page = client.get(address(newer)).content.decode()
    assert "<del>90</del><ins>400</ins>" in page
    assert f"Supersede M{old.pk}" in page
    sent = form(newer, memory=str(old.pk), rivals=str(old.pk))
    done = client.post(address(newer, "supersede"), sent, follow=True).content.decode()
    old.refresh_from_db()
    assert (old.state, f"over M{old.pk}" in done) == ("SUPERSEDED", True)


def test_the_old_evidence_stands_beside_the_new(alice: User, project: Project) -> None:
    make_memory(make_candidate(project, "Keys live for 90 days.", after=""), alice)
    newer = make_candidate(project, "Keys live for 400 days.", after="")
    page = signed_in(alice).get(address(newer)).content.decode()
    table = page[page.index('<table class="diff"') :]
    assert "Keys live for <del>90</del> days." in table
    assert "Keys live for <ins>400</ins> days." in table


@pytest.mark.parametrize(
    ("flag", "warning"),
    [
        ("INSTRUCTION_LIKE", "These words address an AI."),
        ("UNTRUSTED_INSTRUCTIONS", "This stands in a file that instructs agents."),
    ],
)
def test_a_flag_is_a_warning_on_the_page_and_in_the_queue(
    alice: User, project: Project, flag: str, warning: str
) -> None:
    candidate = make_candidate(project, flags=[flag])
    for place in (address(candidate), "/projects/payments-api/review/"):
        page = signed_in(alice).get(place).content.decode()
        assert warning in page
        assert 'class="tag warning"' in page


def test_a_rejection_without_a_reason_asks_for_one(alice: User, candidate: Candidate) -> None:
    answer = signed_in(alice).post(address(candidate, "reject"), form(candidate, reason=" "))
    assert answer.status_code == 422
    assert "Say in a few words why, then reject again." in answer.content.decode()
    assert not ReviewDecision.objects.exists()


def test_a_reason_that_is_too_long_is_not_cut_in_silence(alice: User, candidate: Candidate) -> None:
    answer = signed_in(alice).post(address(candidate, "reject"), form(candidate, reason="x" * 501))
    assert answer.status_code == 422
    assert "x" * 501 in answer.content.decode()


def test_undo_comes_back_to_the_candidate(alice: User, candidate: Candidate) -> None:
    client = signed_in(alice)
    client.post(address(candidate, "reject"), form(candidate, reason="twice"))
    answer = client.post(address(candidate, "undo"), form(candidate), follow=True)
    assert answer.redirect_chain[-1][0] == address(candidate)
    assert "Took back the decision on" in answer.content.decode()


def test_a_reader_sees_and_cannot_decide(rita: User, candidate: Candidate) -> None:
    client = signed_in(rita)
    page = client.get(address(candidate)).content.decode()
    answer = client.post(address(candidate, "promote"), form(candidate))
    assert "You may read this project." in page
    assert answer.status_code == 403
    assert AuditEvent.objects.filter(action="access.refused").count() == 1
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize("action", ACTIONS)
def test_bob_gets_the_same_answer_as_for_what_does_not_exist(
    bob: User, candidate: Candidate, action: str
) -> None:
    client = signed_in(bob)
    sent = form(candidate, reason="no", memory="1")
    foreign = client.post(address(candidate, action), sent)
    absent = client.post(f"/projects/nowhere/candidates/{candidate.pk}/{action}", sent)
    assert (foreign.status_code, foreign.content) == (404, absent.content)
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize("action", ACTIONS[1:])
def test_a_foreign_number_in_bobs_own_project_answers_as_an_absent_one(
    bob: User, candidate: Candidate, action: str
) -> None:
    client = signed_in(bob)
    sent = form(candidate, reason="no", memory="1")
    foreign = client.post(f"/projects/other/candidates/{candidate.pk}/{action}", sent)
    absent = client.post(f"/projects/other/candidates/999999/{action}", sent)
    assert (foreign.status_code, foreign.content) == (404, absent.content)
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize(
    "place", ["review/", "review/bulk/", "review/bulk/undo", "people/", "audit/"]
)
def test_bob_sees_no_page_of_the_project(bob: User, candidate: Candidate, place: str) -> None:
    client = signed_in(bob)
    for send in (client.get, client.post):
        foreign, absent = send(f"/projects/payments-api/{place}"), send(f"/projects/no/{place}")
        assert (foreign.status_code, foreign.content) == (404, absent.content)


@pytest.mark.parametrize("action", ACTIONS[1:])
def test_a_reader_sends_no_decision(rita: User, candidate: Candidate, action: str) -> None:
    answer = signed_in(rita).post(address(candidate, action), form(candidate, reason="no"))
    assert answer.status_code == 403
    assert not ReviewDecision.objects.exists()


def test_bobs_own_project_does_not_open_a_foreign_candidate(
    bob: User, candidate: Candidate
) -> None:
    answer = signed_in(bob).get(f"/projects/other/candidates/{candidate.pk}/")
    absent = signed_in(bob).get("/projects/other/candidates/999999999999999999999999/")
    assert answer.status_code == absent.status_code == 404


def test_a_form_without_its_token_is_refused(alice: User, candidate: Candidate) -> None:
    client = signed_in(alice, enforce_csrf_checks=True)
    answer = client.post(address(candidate, "promote"), form(candidate))
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()
    assert not ReviewDecision.objects.exists()


def test_reading_a_decisions_address_decides_nothing(alice: User, candidate: Candidate) -> None:
    answer = signed_in(alice).get(address(candidate, "promote"), form(candidate))
    assert answer.headers["Location"] == address(candidate)
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize("broken", [{}, {"version": "1", "shown": "zz"}, {"version": "-1"}])
def test_a_form_that_is_not_ours_answers_400(
    alice: User, candidate: Candidate, broken: dict[str, str]
) -> None:
    answer = signed_in(alice).post(address(candidate, "promote"), broken)
    assert answer.status_code == 400


def test_nobody_decides_without_signing_in(candidate: Candidate) -> None:
    answer = Client().post(address(candidate, "promote"), form(candidate))
    assert answer.headers["Location"].startswith("/accounts/login/")
    assert not ReviewDecision.objects.exists()


def test_the_demos_actor_is_refused_in_any_other_database(
    alice: User, candidate: Candidate
) -> None:
    Actor.objects.create(user=alice, kind="DEMO", name="demo")
    client = signed_in(alice)
    client.raise_request_exception = False
    assert client.post(address(candidate, "promote"), form(candidate)).status_code == 500
