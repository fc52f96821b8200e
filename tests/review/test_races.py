"""Two reviewers at once: the database lets one of them decide."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection

from codememory.candidates import shown_digest
from codememory.models import Actor, Candidate, EvidenceLink, Memory, ReviewDecision
from codememory.people import actor_of
from review.actions import confirm_endorsement, merge_candidate, promote_candidate
from review.merging import digest_of
from review.outcomes import Changed, Decided, Outcome, Shown
from review.second_reviewers import switch_second_reviewer
from tests.builders import make_candidate, make_person, make_project


def decide(candidate: Candidate, shown: Shown, actor: Actor) -> Outcome:
    try:
        return promote_candidate(candidate, shown, actor=actor)
    finally:
        connection.close()  # this thread's own


@pytest.mark.django_db(transaction=True)
def test_one_of_two_promotions_at_the_same_moment_decides() -> None:
    project = make_project()
    actors = [actor_of(make_person(project, name=name)) for name in ("alice", "carol")]
    candidate = make_candidate(project)
    shown = Shown(candidate.version, shown_digest(candidate))
    with ThreadPoolExecutor(2) as threads:
        outcomes = threads.map(lambda actor: decide(candidate, shown, actor), actors)
        assert {type(outcome) for outcome in outcomes} == {Decided, Changed}
    assert Memory.objects.count() == 1


def at_once(*acts: Callable[[], Outcome]) -> list[Outcome]:
    """Do all of it at the same moment, each over a connection of its own."""

    def run(act: Callable[[], Outcome]) -> Outcome:
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))


def seen(candidate: Candidate) -> Shown:
    candidate.refresh_from_db()
    return Shown(candidate.version, shown_digest(candidate))


@pytest.mark.django_db(transaction=True)
def test_of_two_second_reviewers_at_once_one_confirms() -> None:
    project = make_project()
    first, *others = (actor_of(make_person(project, name=n)) for n in ("alice", "carol", "dan"))
    candidate = make_candidate(project)
    switch_second_reviewer(project, is_on=True, actor=first)
    promote_candidate(candidate, seen(candidate), actor=first)
    shown, endorsed = seen(candidate), ReviewDecision.objects.get()
    outcomes = at_once(
        *(
            partial(confirm_endorsement, candidate, shown, endorsement_id=endorsed.pk, actor=other)
            for other in others
        )
    )
    assert {type(outcome) for outcome in outcomes} == {Decided, Changed}
    assert Memory.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_merging_and_promoting_the_target_at_once_leave_no_evidence_behind() -> None:
    project = make_project()
    alice, carol = (actor_of(make_person(project, name=n)) for n in ("alice", "carol"))
    target = make_candidate(project)
    twin = make_candidate(project, "Retried refunds keep their first key.", path=b"twin.md")
    at_target, at_twin = seen(target), seen(twin)
    merge = partial(
        merge_candidate, twin, at_twin,
        into=f"C{target.pk}", target_shown=digest_of(target), actor=carol,
    )  # fmt: skip
    merged, promoted = at_once(merge, partial(promote_candidate, target, at_target, actor=alice))
    done = [isinstance(outcome, Decided) for outcome in (merged, promoted)]
    assert sorted(done) == [False, True]
    links = EvidenceLink.objects.filter(candidate=target).count()
    assert links == (2 if done[0] else 1)


@pytest.mark.django_db(transaction=True)
def test_two_that_are_merged_into_each_other_at_once_do_not_both_go() -> None:
    project = make_project()
    alice, carol = (actor_of(make_person(project, name=n)) for n in ("alice", "carol"))
    one = make_candidate(project)
    other = make_candidate(project, "Retried refunds keep their first key.", path=b"twin.md")
    acts = [
        partial(
            merge_candidate, each, seen(each),
            into=f"C{into.pk}", target_shown=digest_of(into), actor=actor,
        )
        for each, into, actor in ((one, other, alice), (other, one, carol))
    ]  # fmt: skip
    assert sum(isinstance(outcome, Decided) for outcome in at_once(*acts)) == 1
    assert Candidate.objects.filter(state="PENDING").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_promotion_beside_the_switch_is_made_before_it_or_endorsed_after_it() -> None:
    project = make_project()
    lead, alice = (actor_of(make_person(project, name=n)) for n in ("lena", "alice"))
    candidate = make_candidate(project)
    shown = seen(candidate)

    def switch() -> Outcome:
        switch_second_reviewer(project, is_on=True, actor=lead)
        return Changed()

    at_once(switch, partial(promote_candidate, candidate, shown, actor=alice))
    decision = ReviewDecision.objects.get()
    assert (decision.action, Memory.objects.count()) in {("PROMOTE", 1), ("ENDORSE", 0)}
