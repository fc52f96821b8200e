"""Four eyes: where a project asks for it, one person endorses and another one promotes."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from codememory.candidates import shown_digest
from codememory.models import (
    Actor,
    AuditEvent,
    Candidate,
    Memory,
    Project,
    ReviewDecision,
    Role,
)
from codememory.people import actor_of
from review.actions import (
    confirm_endorsement,
    defer_candidate,
    promote_candidate,
    reject_candidate,
    supersede_memory,
    undo_decision,
)
from review.batches import BatchAction, decide_together
from review.decisions import standing_decision
from review.outcomes import BatchStopped, Changed, Decided, Refused
from review.second_reviewers import people_beside, switch_second_reviewer, waiting_in, who_can
from review.terms import Terms
from tests.builders import make_candidate, make_memory, make_person, signed_in
from tests.review.test_actions import shown


@pytest.fixture
def actor(alice: User) -> Actor:
    return actor_of(alice)


@pytest.fixture
def second(project: Project) -> Actor:
    return actor_of(make_person(project, Role.REVIEWER, "marta"))


@pytest.fixture
def asking(project: Project, actor: Actor) -> Project:
    switch_second_reviewer(project, is_on=True, actor=actor)
    return project


def confirm(candidate: Candidate, actor: Actor) -> object:
    standing = standing_decision(candidate)
    assert standing
    return confirm_endorsement(candidate, shown(candidate), endorsement_id=standing.pk, actor=actor)


def test_the_first_promotion_endorses_and_makes_no_memory(
    asking: Project, candidate: Candidate, actor: Actor
) -> None:
    outcome = promote_candidate(candidate, shown(candidate), actor=actor)
    assert isinstance(outcome, Decided)
    assert (outcome.decision.action, Memory.objects.count()) == ("ENDORSE", 0)
    candidate.refresh_from_db()
    assert candidate.state == "PENDING"


def test_another_person_promotes_on_the_endorsed_terms(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor, terms=Terms(wording="Keep keys."))
    assert isinstance(confirm(candidate, second), Decided)
    memory = Memory.objects.get()
    assert memory.statement == "Keep keys."
    assert (memory.decision.actor, memory.decision.confirms.actor) == (second, actor)


def test_nobody_is_their_own_second(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    for outcome in (
        confirm(candidate, actor),
        promote_candidate(candidate, shown(candidate), actor=actor),
    ):
        assert isinstance(outcome, Refused)
        assert outcome.reason == (
            "You endorsed it. This project asks for a second reviewer. marta can promote it."
        )


def test_other_terms_are_a_new_endorsement(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    terms = Terms(wording="Keep all keys.")
    promote_candidate(candidate, shown(candidate), actor=second, terms=terms)
    assert Memory.objects.count() == 0
    assert isinstance(confirm(candidate, actor), Decided)
    assert Memory.objects.get().statement == "Keep all keys."


def test_the_same_promotion_by_another_confirms(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    promote_candidate(candidate, shown(candidate), actor=second)
    assert Memory.objects.get().decision.confirms.actor == actor


def test_an_endorsement_of_other_evidence_confirms_nothing(
    asking: Project, project: Project, candidate: Candidate, actor: Actor, second: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    Candidate.objects.filter(pk=candidate.pk).update(flags=["ALSO_PLANNED"])
    outcome = confirm(candidate, second)
    assert isinstance(outcome, Decided)
    assert outcome.decision.action == "ENDORSE"


def test_an_endorsed_supersession_ends_the_memory_with_the_second_person(
    project: Project, alice: User, actor: Actor, second: Actor
) -> None:
    old = make_memory(make_candidate(project, "Keys live 90 days.", subject="keys"), alice)
    new = make_candidate(project, "Keys live 400 days.", subject="keys")
    switch_second_reviewer(project, is_on=True, actor=actor)
    supersede_memory(new, shown(new), memory_id=old.pk, actor=actor)
    old.refresh_from_db()
    assert old.state == "ACTIVE"
    confirm(new, second)
    old.refresh_from_db()
    assert old.state == "SUPERSEDED"


def test_undoing_leads_back_step_by_step(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    confirm(candidate, second)
    undo_decision(candidate, shown(candidate), actor=second)
    standing = standing_decision(candidate)
    assert standing
    assert standing.action == "ENDORSE"
    undo_decision(candidate, shown(candidate), actor=actor)
    assert standing_decision(candidate) is None


def test_an_endorsement_taken_back_confirms_nothing(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    endorsed = ReviewDecision.objects.get()
    undo_decision(candidate, shown(candidate), actor=actor)
    outcome = confirm_endorsement(
        candidate, shown(candidate), endorsement_id=endorsed.pk, actor=second
    )
    assert isinstance(outcome, Changed)


def test_one_person_rejects_alone(asking: Project, candidate: Candidate, actor: Actor) -> None:
    assert isinstance(
        reject_candidate(candidate, shown(candidate), reason="no", actor=actor), Decided
    )


def test_several_at_once_are_refused(asking: Project, candidate: Candidate, actor: Actor) -> None:
    picks = [(candidate, shown(candidate))]
    outcome = decide_together(BatchAction.PROMOTE, picks, reason="", actor=actor)
    assert isinstance(outcome, BatchStopped)
    assert Memory.objects.count() == 0


def test_switched_off_again_the_endorser_promotes(
    asking: Project, candidate: Candidate, actor: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    switch_second_reviewer(asking, is_on=False, actor=actor)
    promote_candidate(candidate, shown(candidate), actor=actor)
    assert Memory.objects.get().decision.confirms is None


def test_switching_is_audited_once(project: Project, actor: Actor) -> None:
    assert switch_second_reviewer(project, is_on=True, actor=actor)
    assert not switch_second_reviewer(project, is_on=True, actor=actor)
    switch_second_reviewer(project, is_on=False, actor=actor)
    found = AuditEvent.objects.filter(action__startswith="second-reviewer").order_by("id")
    assert [event.action for event in found] == ["second-reviewer.on", "second-reviewer.off"]


def test_it_names_those_who_can_be_the_second(project: Project, alice: User, rita: User) -> None:
    actor = actor_of(alice)
    assert who_can(project.scope_id, actor).endswith("There is none yet: a lead adds one.")
    for name in ("jonas", "marta"):
        make_person(project, Role.LEAD, name)
    assert people_beside(project.scope_id, actor) == ["jonas", "marta"]
    assert who_can(project.scope_id, actor).endswith("jonas or marta can promote it.")


def insert(candidate: Candidate, actor: Actor, **more: object) -> ReviewDecision:
    return ReviewDecision.objects.create(
        scope_id=candidate.scope_id, candidate=candidate, action="PROMOTE", actor=actor,
        candidate_version=1, shown_digest=shown_digest(candidate), **more,
    )  # fmt: skip


def test_the_database_refuses_a_promotion_by_one(
    asking: Project, candidate: Candidate, actor: Actor
) -> None:
    with pytest.raises(IntegrityError, match="asks for a second"), transaction.atomic():
        insert(candidate, actor)


@pytest.mark.parametrize("who", ["the same person", "another one, on other terms"])
def test_the_database_refuses_what_does_not_confirm(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor, who: str
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    endorsed = ReviewDecision.objects.get()
    terms = {} if who == "the same person" else {"wording": "Other words."}
    person = actor if who == "the same person" else second
    with pytest.raises(IntegrityError, match="a second person confirms"), transaction.atomic():
        insert(candidate, person, confirms=endorsed, **terms)


QUEUE = "/projects/payments-api/review/"


def test_the_queue_says_who_is_to_be_the_second(
    asking: Project, candidate: Candidate, actor: Actor, second: Actor, alice: User
) -> None:
    make_candidate(asking, "Nobody endorsed this.", path=b"other.md")
    promote_candidate(candidate, shown(candidate), actor=actor)
    mine = signed_in(alice).get(QUEUE).content.decode()
    theirs = signed_in(User.objects.get(username="marta")).get(QUEUE).content.decode()
    assert re.search(r'waits for another <span class="count">1</span>', mine)
    assert re.search(r'waits for you <span class="count">1</span>', theirs)


@pytest.mark.parametrize(("asked", "count"), [("mine", 1), ("others", 0)])
def test_the_queue_lists_what_waits_for_a_second_reviewer(
    asking: Project, candidate: Candidate, actor: Actor, alice: User, asked: str, count: int
) -> None:
    make_candidate(asking, "Nobody endorsed this.", path=b"other.md")
    promote_candidate(candidate, shown(candidate), actor=actor)
    text = signed_in(alice).get(f"{QUEUE}?second={asked}").content.decode()
    assert text.count('<a class="claim"') == count
    assert f"{count} match" in text


def test_what_was_taken_back_or_deferred_waits_for_nobody(
    asking: Project, candidate: Candidate, actor: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    undo_decision(candidate, shown(candidate), actor=actor)
    other = make_candidate(asking, "Later.", path=b"later.md")
    promote_candidate(other, shown(other), actor=actor)
    asking.refresh_from_db()
    assert set(waiting_in(asking, None)) == {other.pk}
    defer_candidate(other, shown(other), actor=actor)
    assert waiting_in(asking, None) == {}
