"""Deciding on a candidate: what each action writes, and what stops it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from codememory.candidates import shown_digest
from codememory.models import (
    Actor,
    ActorKind,
    AuditEvent,
    Candidate,
    EvidenceLink,
    Memory,
    MemoryState,
    Project,
    ReviewDecision,
    SearchEntry,
)
from codememory.people import actor_of
from review.actions import (
    PLAN_IS_NO_RULE,
    defer_candidate,
    promote_as_plan,
    promote_candidate,
    reject_candidate,
    undo_decision,
)
from review.outcomes import Changed, Decided, Outcome, Refused, Shown, Unsure
from tests.builders import make_agent, make_candidate


def shown(candidate: Candidate) -> Shown:
    candidate.refresh_from_db()
    return Shown(candidate.version, shown_digest(candidate))


@pytest.fixture
def actor(alice: User) -> Actor:
    return actor_of(alice)


def test_promoting_makes_an_active_memory_from_the_decision(
    candidate: Candidate, actor: Actor
) -> None:
    outcome = promote_candidate(candidate, shown(candidate), actor=actor)
    memory = Memory.objects.get(candidate=candidate)
    assert isinstance(outcome, Decided)
    assert (memory.state, memory.decision) == (MemoryState.ACTIVE, outcome.decision)
    assert (memory.statement, memory.type) == (candidate.statement, candidate.type)


def test_a_memory_cites_what_its_candidate_cited(candidate: Candidate, actor: Actor) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    ranges = EvidenceLink.objects.values_list("segment", "byte_start", "byte_end")
    cited = ranges.get(memory__candidate=candidate)
    assert cited == ranges.get(candidate=candidate)


def test_the_decision_keeps_who_decided_and_what_they_saw(
    candidate: Candidate, actor: Actor
) -> None:
    seen = shown(candidate)
    promote_candidate(candidate, seen, actor=actor)
    decision = ReviewDecision.objects.get()
    assert (decision.actor, decision.actor_kind) == (actor, ActorKind.PERSON)
    assert (decision.candidate_version, bytes(decision.shown_digest)) == (1, seen.digest)


def test_a_promotion_is_searchable_and_audited(candidate: Candidate, actor: Actor) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    assert SearchEntry.objects.filter(kind="memory", memory__candidate=candidate).exists()
    event = AuditEvent.objects.get(action="candidate.promote")
    assert (event.actor, event.subject) == (actor, f"C{candidate.pk}")
    assert "statement" not in event.facts


def test_a_second_promotion_of_the_same_version_decides_nothing(
    candidate: Candidate, actor: Actor
) -> None:
    seen = shown(candidate)
    promote_candidate(candidate, seen, actor=actor)
    assert isinstance(promote_candidate(candidate, seen, actor=actor), Changed)
    assert Memory.objects.count() == ReviewDecision.objects.count() == 1


def test_a_stale_version_decides_nothing(candidate: Candidate, actor: Actor) -> None:
    seen = shown(candidate)
    Candidate.objects.filter(pk=candidate.pk).update(version=2)
    assert isinstance(promote_candidate(candidate, seen, actor=actor), Changed)
    assert isinstance(reject_candidate(candidate, seen, reason="no", actor=actor), Changed)
    assert not ReviewDecision.objects.exists()


def test_evidence_that_changed_since_it_was_shown_decides_nothing(
    candidate: Candidate, actor: Actor
) -> None:
    seen = replace(shown(candidate), digest=bytes(32))
    assert isinstance(promote_candidate(candidate, seen, actor=actor), Changed)
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    ("modality", "said"),
    [
        ("OBSERVATION", "An observation"),
        ("EXPERIMENT", "An experiment"),
        ("QUESTION", "A question"),
    ],
)
def test_what_was_not_said_as_a_rule_is_not_promoted(
    project: Project, actor: Actor, modality: str, said: str
) -> None:
    candidate = make_candidate(project, modality=modality)
    outcome = promote_candidate(candidate, shown(candidate), actor=actor)
    assert outcome == Refused(f"{said} is never promoted as a rule.")
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize("kind", ["context", "command", "summary", "conversation"])
def test_a_type_that_is_no_rule_is_not_promoted(project: Project, actor: Actor, kind: str) -> None:
    candidate = make_candidate(project, type=kind)
    assert isinstance(promote_candidate(candidate, shown(candidate), actor=actor), Refused)
    assert not Memory.objects.exists()


@pytest.mark.parametrize(("modality", "said"), [("PLAN", "A plan"), ("PROPOSAL", "A proposal")])
def test_a_plan_is_never_promoted_as_a_rule(
    project: Project, actor: Actor, modality: str, said: str
) -> None:
    candidate = make_candidate(project, modality=modality)
    outcome = promote_candidate(candidate, shown(candidate), actor=actor)
    assert outcome == Refused(PLAN_IS_NO_RULE.format(said))
    assert not Memory.objects.exists()


@pytest.mark.parametrize("modality", ["PLAN", "PROPOSAL"])
def test_a_plan_is_kept_as_a_plan(project: Project, actor: Actor, modality: str) -> None:
    candidate = make_candidate(project, modality=modality)
    promote_as_plan(candidate, shown(candidate), actor=actor)
    memory = Memory.objects.get()
    assert (memory.modality, memory.decision_action) == (modality, "PROMOTE_AS_PLAN")


def test_what_is_no_plan_is_not_kept_as_one(candidate: Candidate, actor: Actor) -> None:
    outcome = promote_as_plan(candidate, shown(candidate), actor=actor)
    assert outcome == Refused("A decision is no plan: promote it as it is.")


def test_the_database_refuses_a_plan_that_was_promoted_as_a_rule(
    candidate: Candidate, actor: Actor
) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    with pytest.raises(IntegrityError, match="memory_plan_stays_a_plan"), transaction.atomic():
        Memory.objects.update(modality="PLAN")


def test_deferring_puts_it_aside_with_or_without_a_reason(
    candidate: Candidate, actor: Actor
) -> None:
    outcome = defer_candidate(candidate, shown(candidate), actor=actor)
    candidate.refresh_from_db()
    assert isinstance(outcome, Decided)
    assert (candidate.state, outcome.decision.reason) == ("DEFERRED", "")


def test_what_was_deferred_is_not_deferred_again(candidate: Candidate, actor: Actor) -> None:
    defer_candidate(candidate, shown(candidate), reason="later", actor=actor)
    outcome = defer_candidate(candidate, shown(candidate), actor=actor)
    assert outcome == Refused(f"C{candidate.pk} is deferred already.")


def test_taking_back_a_promotion_of_what_was_deferred_defers_it_again(
    candidate: Candidate, actor: Actor
) -> None:
    defer_candidate(candidate, shown(candidate), reason="ask Marta", actor=actor)
    promote_candidate(candidate, shown(candidate), actor=actor)
    undo_decision(candidate, shown(candidate), actor=actor)
    candidate.refresh_from_db()
    assert candidate.state == "DEFERRED"
    undo_decision(candidate, shown(candidate), actor=actor)
    candidate.refresh_from_db()
    assert candidate.state == "PENDING"


def test_a_form_shown_beside_other_rivals_decides_nothing(
    candidate: Candidate, actor: Actor
) -> None:
    seen = replace(shown(candidate), rivals=frozenset({404}))
    assert isinstance(promote_candidate(candidate, seen, actor=actor), Changed)
    assert not Memory.objects.exists()


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.DEMO])
def test_the_database_refuses_a_decision_that_is_not_a_persons(
    candidate: Candidate, kind: ActorKind
) -> None:
    actor = Actor.objects.create(kind=kind, name="not a person")
    with pytest.raises(IntegrityError, match="decision_by_a_person"), transaction.atomic():
        promote_candidate(candidate, shown(candidate), actor=actor)
    assert not Memory.objects.exists()


def test_an_agent_cannot_pass_for_a_person_in_the_database(candidate: Candidate) -> None:
    agent = make_agent()
    agent.kind = ActorKind.PERSON
    reject_candidate(candidate, shown(candidate), reason="no", actor=agent)
    with pytest.raises(IntegrityError, match="actor_kind"):  # found when the block ends
        connection.check_constraints()


@pytest.mark.parametrize("flag", ["INSTRUCTION_LIKE", "UNTRUSTED_INSTRUCTIONS"])
def test_what_may_want_to_be_obeyed_is_asked_about_once_more(
    project: Project, actor: Actor, flag: str
) -> None:
    candidate = make_candidate(project, flags=[flag])
    outcome = promote_candidate(candidate, shown(candidate), actor=actor)
    assert isinstance(outcome, Unsure)
    assert not ReviewDecision.objects.exists()
    sure = promote_candidate(candidate, shown(candidate), actor=actor, is_sure=True)
    assert isinstance(sure, Decided)


def test_a_flagged_plan_is_asked_about_too(project: Project, actor: Actor) -> None:
    plan = make_candidate(project, modality="PLAN", flags=["INSTRUCTION_LIKE"])
    assert isinstance(promote_as_plan(plan, shown(plan), actor=actor), Unsure)
    assert not Memory.objects.exists()


def test_rejecting_needs_a_reason(candidate: Candidate, actor: Actor) -> None:
    outcome = reject_candidate(candidate, shown(candidate), reason=" \n ", actor=actor)
    assert outcome == Refused("Say in a few words why, then reject again.")


@pytest.mark.parametrize(
    "reason", ["\u200b", "\u2060\ufeff \u00ad", "\u3164", "\u0301", "\u202e\t"]
)
def test_a_reason_that_nobody_can_see_is_none(
    candidate: Candidate, actor: Actor, reason: str
) -> None:
    outcome = reject_candidate(candidate, shown(candidate), reason=reason, actor=actor)
    assert isinstance(outcome, Refused)
    assert not ReviewDecision.objects.exists()


def test_a_reason_keeps_the_joiners_that_its_words_need(candidate: Candidate, actor: Actor) -> None:
    reject_candidate(candidate, shown(candidate), reason="ev\u200cler", actor=actor)
    assert ReviewDecision.objects.get().reason == "ev\u200cler"


def test_a_rejection_keeps_its_reason_and_makes_no_memory(
    candidate: Candidate, actor: Actor
) -> None:
    reject_candidate(candidate, shown(candidate), reason="same rule  twice", actor=actor)
    candidate.refresh_from_db()
    assert (candidate.state, ReviewDecision.objects.get().reason) == ("REJECTED", "same rule twice")
    assert not Memory.objects.exists()


def test_undoing_a_promotion_archives_its_memory(candidate: Candidate, actor: Actor) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    outcome = undo_decision(candidate, shown(candidate), actor=actor)
    memory = Memory.objects.get()
    assert isinstance(outcome, Decided)
    assert (memory.state, memory.ended_by) == (MemoryState.ARCHIVED, outcome.decision)
    assert not SearchEntry.objects.filter(kind="memory").exists()


def test_undoing_opens_the_candidate_again_and_names_what_it_undoes(
    candidate: Candidate, actor: Actor
) -> None:
    reject_candidate(candidate, shown(candidate), reason="no", actor=actor)
    undo_decision(candidate, shown(candidate), actor=actor)
    candidate.refresh_from_db()
    first, second = ReviewDecision.objects.order_by("id")
    assert (candidate.state, candidate.version) == ("PENDING", 3)
    assert second.undoes == first


def test_what_was_taken_back_can_be_decided_again(candidate: Candidate, actor: Actor) -> None:
    reject_candidate(candidate, shown(candidate), reason="no", actor=actor)
    undo_decision(candidate, shown(candidate), actor=actor)
    promote_candidate(candidate, shown(candidate), actor=actor)
    undo_decision(candidate, shown(candidate), actor=actor)
    promote_candidate(candidate, shown(candidate), actor=actor)
    assert sorted(Memory.objects.values_list("state", flat=True)) == ["ACTIVE", "ARCHIVED"]


def test_an_undo_submitted_twice_is_done_once(candidate: Candidate, actor: Actor) -> None:
    promote_candidate(candidate, shown(candidate), actor=actor)
    seen = shown(candidate)
    undo_decision(candidate, seen, actor=actor)
    assert isinstance(undo_decision(candidate, seen, actor=actor), Changed)
    assert ReviewDecision.objects.filter(action="UNDO").count() == 1


def test_a_superseded_memory_is_not_taken_back(candidate: Candidate, actor: Actor) -> None:
    promoted = promote_candidate(candidate, shown(candidate), actor=actor)
    assert isinstance(promoted, Decided)
    Memory.objects.update(state=MemoryState.SUPERSEDED, ended_by=promoted.decision)
    assert isinstance(undo_decision(candidate, shown(candidate), actor=actor), Refused)
    assert not ReviewDecision.objects.filter(action="UNDO").exists()


@pytest.mark.parametrize("decide", [reject_candidate, defer_candidate])
def test_a_reason_that_holds_a_secret_is_refused(
    candidate: Candidate, actor: Actor, decide: Callable[..., Outcome]
) -> None:
    reason = "see password = hunter2hunter2"
    outcome = decide(candidate, shown(candidate), reason=reason, actor=actor)
    assert isinstance(outcome, Refused)
    assert not ReviewDecision.objects.exists()
