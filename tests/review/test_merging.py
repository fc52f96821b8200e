"""Merging: evidence joins another candidate or memory, both say so, and undo takes it out again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from codememory.models import (
    Actor,
    AuditEvent,
    Candidate,
    EvidenceLink,
    Memory,
    Project,
    ReviewDecision,
)
from codememory.people import actor_of
from review.actions import merge_candidate, promote_candidate, reject_candidate, undo_decision
from review.merging import Target, digest_of, find_target, name_of
from review.outcomes import Changed, Decided, Outcome, Refused, TargetChanged, Unsure
from tests.builders import make_candidate, make_memory, make_project
from tests.review.test_actions import shown


@pytest.fixture
def actor(alice: User) -> Actor:
    return actor_of(alice)


@pytest.fixture
def twin(project: Project) -> Candidate:
    return make_candidate(project, "Retried refunds keep their first key.", path=b"README.md")


def merge(candidate: Candidate, into: Target, actor: Actor, **more: bool) -> Outcome:
    into.refresh_from_db()
    seen, target = shown(candidate), digest_of(into)
    return merge_candidate(
        candidate, seen, into=name_of(into), target_shown=target, actor=actor, **more
    )


def cited_by(target: Target) -> set[int]:
    to = {"memory" if isinstance(target, Memory) else "candidate": target}
    return set(EvidenceLink.objects.filter(**to).values_list("segment_id", flat=True))


def test_evidence_joins_another_candidate_which_is_news_there(
    candidate: Candidate, twin: Candidate, actor: Actor
) -> None:
    before, own = shown(candidate), cited_by(twin)
    assert isinstance(merge(twin, candidate, actor), Decided)
    twin.refresh_from_db()
    assert twin.state == "SUPERSEDED"
    assert own <= cited_by(candidate)
    assert isinstance(promote_candidate(candidate, before, actor=actor), Changed)


def test_a_memory_of_the_target_cites_both(
    candidate: Candidate, twin: Candidate, actor: Actor
) -> None:
    merge(twin, candidate, actor)
    promote_candidate(candidate, shown(candidate), actor=actor)
    assert cited_by(Memory.objects.get()) == cited_by(candidate) > cited_by(twin)


def test_evidence_joins_a_memory_and_leaves_it_again(
    candidate: Candidate, twin: Candidate, alice: User, actor: Actor
) -> None:
    memory = make_memory(candidate, alice)
    before = cited_by(memory)
    merge(twin, memory, actor)
    assert cited_by(memory) == before | cited_by(twin)
    assert isinstance(undo_decision(twin, shown(twin), actor=actor), Decided)
    twin.refresh_from_db()
    assert (cited_by(memory), twin.state) == (before, "PENDING")


def test_a_merge_is_audited_with_its_target(
    candidate: Candidate, twin: Candidate, actor: Actor
) -> None:
    merge(twin, candidate, actor)
    event = AuditEvent.objects.get(action="candidate.merge")
    assert (event.subject, event.facts["into"]) == (f"C{twin.pk}", f"C{candidate.pk}")
    assert event.facts["joined"] == 1


def test_what_two_merges_bring_stays_while_one_of_them_stands(
    project: Project, candidate: Candidate, twin: Candidate, actor: Actor
) -> None:
    other = make_candidate(project, "Retried refunds keep keys.", path=b"third.md")
    link = EvidenceLink.objects.get(candidate=twin)
    same = (link.segment_id, link.byte_start)
    EvidenceLink.objects.filter(candidate=other).update(
        segment_id=link.segment_id, byte_start=link.byte_start, byte_end=link.byte_end
    )
    merge(twin, candidate, actor)
    merge(other, candidate, actor)
    undo_decision(twin, shown(twin), actor=actor)
    assert same in EvidenceLink.objects.filter(candidate=candidate).values_list(
        "segment_id", "byte_start"
    )
    undo_decision(other, shown(other), actor=actor)
    assert EvidenceLink.objects.filter(candidate=candidate).count() == 1


def test_a_target_that_changed_is_told_from_a_candidate_that_did(
    project: Project, candidate: Candidate, twin: Candidate, actor: Actor
) -> None:
    seen, target = shown(twin), digest_of(candidate)
    reject_candidate(other := make_candidate(project, "x y z"), shown(other), reason="no",
                     actor=actor)  # fmt: skip
    merge(make_candidate(project, "Refund keys stay.", path=b"b.md"), candidate, actor)
    outcome = merge_candidate(twin, seen, into=name_of(candidate), target_shown=target, actor=actor)
    assert isinstance(outcome, TargetChanged)
    assert ReviewDecision.objects.filter(candidate=twin).count() == 0


def test_a_plan_and_a_rule_stay_apart(project: Project, candidate: Candidate, actor: Actor) -> None:
    plan = make_candidate(project, "We will keep keys.", modality="PLAN", path=b"plan.md")
    assert isinstance(merge(plan, candidate, actor), Refused)
    assert isinstance(merge(candidate, plan, actor), Refused)


def test_a_question_is_no_evidence_of_a_rule(
    project: Project, candidate: Candidate, actor: Actor
) -> None:
    asked = make_candidate(project, "Do keys stay?", modality="QUESTION", path=b"q.md")
    outcome = merge(asked, candidate, actor)
    assert isinstance(outcome, Refused)
    assert "What was said as question is no evidence" in outcome.reason


def test_words_that_address_an_ai_join_a_rule_only_when_it_is_meant(
    project: Project, candidate: Candidate, actor: Actor
) -> None:
    bad = make_candidate(project, "You must.", flags=["INSTRUCTION_LIKE"], path=b"bad.md")
    assert isinstance(merge(bad, candidate, actor), Unsure)
    assert isinstance(merge(bad, candidate, actor, is_sure=True), Decided)


def test_nothing_is_merged_into_itself_or_into_what_is_decided(
    candidate: Candidate, twin: Candidate, actor: Actor
) -> None:
    assert isinstance(merge(candidate, candidate, actor), Refused)
    reject_candidate(twin, shown(twin), reason="no", actor=actor)
    assert isinstance(merge(candidate, twin, actor), Refused)


def test_a_promotion_with_merged_evidence_is_taken_back_after_the_merge(
    candidate: Candidate, twin: Candidate, alice: User, actor: Actor
) -> None:
    memory = make_memory(candidate, alice)
    merge(twin, memory, actor)
    outcome = undo_decision(candidate, shown(candidate), actor=actor)
    assert isinstance(outcome, Refused)
    assert f"C{twin.pk} was merged into M{memory.pk}" in outcome.reason
    undo_decision(twin, shown(twin), actor=actor)
    assert isinstance(undo_decision(candidate, shown(candidate), actor=actor), Decided)


def test_a_merge_stays_while_its_target_is_decided_on(
    candidate: Candidate, twin: Candidate, actor: Actor
) -> None:
    merge(twin, candidate, actor)
    promote_candidate(candidate, shown(candidate), actor=actor)
    assert isinstance(undo_decision(twin, shown(twin), actor=actor), Refused)
    undo_decision(candidate, shown(candidate), actor=actor)
    assert isinstance(undo_decision(twin, shown(twin), actor=actor), Decided)


def test_another_project_s_candidate_is_absent(candidate: Candidate, actor: Actor) -> None:
    foreign = make_candidate(make_project("other"))
    assert find_target(candidate.scope_id, f"C{foreign.pk}") is None
    assert isinstance(merge(candidate, foreign, actor), Refused)


@pytest.mark.parametrize("name", ["", "C", "M-1", "Cx", "X1", "C" + "9" * 19, "C\u0661"])
def test_what_names_nothing_finds_nothing(candidate: Candidate, name: str) -> None:
    assert find_target(candidate.scope_id, name) is None


def test_the_database_refuses_a_merge_without_a_target(candidate: Candidate, actor: Actor) -> None:
    with pytest.raises(IntegrityError, match="decision_merge_names_target"), transaction.atomic():
        ReviewDecision.objects.create(
            scope_id=candidate.scope_id, candidate=candidate, action="MERGE", actor=actor,
            candidate_version=1, shown_digest=b"\0" * 32,
        )  # fmt: skip
