"""A candidate beside the active memories that it would replace or disagrees with."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from codememory.candidates import shown_digest
from codememory.models import Actor, Candidate, Memory, Project, ReviewDecision, SearchEntry
from codememory.people import actor_of
from review.actions import promote_candidate, supersede_memory, undo_decision
from review.outcomes import Changed, Decided, Refused, Shown
from review.rivals import Ground, rivals_of
from tests.builders import make_candidate, make_memory

DAYS = "Keys live for {} days."


def shown(candidate: Candidate) -> Shown:
    candidate.refresh_from_db()
    rivals = frozenset(rival.memory.pk for rival in rivals_of(candidate))
    return Shown(candidate.version, shown_digest(candidate), rivals)


@pytest.fixture
def actor(alice: User) -> Actor:
    return actor_of(alice)


@pytest.fixture
def old(project: Project, alice: User) -> Memory:
    """A rule whose sentence stood in the document before the newer one took its place."""
    return make_memory(make_candidate(project, DAYS.format(90), after=""), alice)


@pytest.fixture
def newer(project: Project, old: Memory) -> Candidate:
    return make_candidate(project, DAYS.format(400), after="")


def supersede(candidate: Candidate, memory: Memory, actor: Actor) -> object:
    return supersede_memory(candidate, shown(candidate), memory_id=memory.pk, actor=actor)


def test_a_rule_that_left_the_section_is_what_the_new_words_would_replace(
    old: Memory, newer: Candidate
) -> None:
    (rival,) = rivals_of(newer)
    assert (rival.memory, rival.grounds) == (old, (Ground.GONE_FROM_SECTION,))


def test_a_rule_that_still_stands_in_the_section_is_not_replaced(
    project: Project, old: Memory
) -> None:
    beside = make_candidate(project, "Retries are free.", before="## K\n\n", after=old.statement)
    assert rivals_of(beside) == []


def test_the_same_section_of_another_document_replaces_nothing(
    project: Project, old: Memory
) -> None:
    assert rivals_of(make_candidate(project, DAYS.format(1), path=b"docs/other.md")) == []


def test_an_identical_subject_is_a_conflict_wherever_it_is_said(
    project: Project, alice: User
) -> None:
    memory = make_memory(make_candidate(project, "Tests are fast.", subject="tests"), alice)
    candidate = make_candidate(project, "Tests are slow.", subject="tests", path=b"b.md")
    assert [rival.memory for rival in rivals_of(candidate)] == [memory]


def test_two_empty_subjects_are_no_conflict(project: Project, alice: User) -> None:
    make_memory(make_candidate(project, "Tests are fast."), alice)
    assert rivals_of(make_candidate(project, "Tests are slow.", path=b"b.md")) == []


def test_superseding_promotes_the_new_and_ends_the_old(
    old: Memory, newer: Candidate, actor: Actor
) -> None:
    outcome = supersede(newer, old, actor)
    old.refresh_from_db()
    memory = Memory.objects.get(candidate=newer)
    assert isinstance(outcome, Decided)
    assert (old.state, old.ended_by, memory.state) == ("SUPERSEDED", outcome.decision, "ACTIVE")
    assert (outcome.decision.supersedes, memory.decision_action) == (old, "SUPERSEDE")


def test_only_the_new_memory_is_found_then(old: Memory, newer: Candidate, actor: Actor) -> None:
    supersede(newer, old, actor)
    (entry,) = SearchEntry.objects.filter(kind="memory")
    assert entry.memory == Memory.objects.get(candidate=newer)


def test_the_old_candidate_says_that_it_was_superseded(
    old: Memory, newer: Candidate, actor: Actor
) -> None:
    supersede(newer, old, actor)
    old.candidate.refresh_from_db()
    assert old.candidate.state == "SUPERSEDED"


def test_taking_it_back_restores_exactly_what_was(
    old: Memory, newer: Candidate, actor: Actor
) -> None:
    supersede(newer, old, actor)
    undo_decision(newer, shown(newer), actor=actor)
    old.refresh_from_db()
    newer.refresh_from_db()
    assert (old.state, old.ended_by, old.candidate.state) == ("ACTIVE", None, "PROMOTED")
    assert (newer.state, Memory.objects.get(candidate=newer).state) == ("PENDING", "ARCHIVED")
    assert SearchEntry.objects.get(kind="memory").memory == old


def test_a_superseded_rule_is_taken_back_only_after_what_ended_it(
    old: Memory, newer: Candidate, actor: Actor
) -> None:
    supersede(newer, old, actor)
    outcome = undo_decision(old.candidate, shown(old.candidate), actor=actor)
    assert isinstance(outcome, Refused)
    assert f"M{old.pk} is superseded" in outcome.reason


def test_a_memory_that_is_no_rival_is_not_ended(
    project: Project, alice: User, newer: Candidate, actor: Actor
) -> None:
    other = make_memory(make_candidate(project, "Quite another.", path=b"b.md"), alice)
    outcome = supersede(newer, other, actor)
    assert outcome == Refused(f"M{other.pk} is not what C{newer.pk} would replace.")
    assert not ReviewDecision.objects.filter(candidate=newer).exists()


def test_a_plan_ends_no_rule(project: Project, old: Memory, actor: Actor) -> None:
    plan = make_candidate(project, DAYS.format(7), modality="PLAN", after="")
    outcome = supersede(plan, old, actor)
    assert isinstance(outcome, Refused)
    assert outcome.reason.startswith("A plan ends no rule")


def test_a_plan_may_end_a_plan(project: Project, alice: User, actor: Actor) -> None:
    first = make_candidate(project, DAYS.format(7), modality="PLAN", after="")
    plan = make_memory(first, alice)
    second = make_candidate(project, DAYS.format(9), modality="PLAN", after="")
    supersede(second, plan, actor)
    assert Memory.objects.get(state="ACTIVE").modality == "PLAN"


def test_a_rival_that_appeared_since_stops_the_decision(
    project: Project, alice: User, actor: Actor
) -> None:
    candidate = make_candidate(project, "Tests are slow.", subject="tests", path=b"b.md")
    seen = shown(candidate)
    make_memory(make_candidate(project, "Tests are fast.", subject="tests"), alice)
    assert isinstance(promote_candidate(candidate, seen, actor=actor), Changed)


def test_the_database_refuses_an_end_without_a_decision(old: Memory) -> None:
    with pytest.raises(IntegrityError, match="memory_ended_by_a_decision"), transaction.atomic():
        Memory.objects.filter(pk=old.pk).update(state="SUPERSEDED")


def test_the_database_refuses_to_supersede_nothing(newer: Candidate, actor: Actor) -> None:
    with pytest.raises(IntegrityError, match="supersede_names_memory"), transaction.atomic():
        ReviewDecision.objects.create(
            scope=newer.scope,
            candidate=newer,
            action="SUPERSEDE",
            actor=actor,
            candidate_version=1,
            shown_digest=bytes(32),
        )
