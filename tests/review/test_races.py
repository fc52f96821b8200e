"""Two reviewers at once: the database lets one of them decide."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from codememory.candidates import shown_digest
from codememory.models import Actor, Candidate, Memory
from codememory.people import actor_of
from review.actions import promote_candidate
from review.outcomes import Changed, Decided, Outcome, Shown
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
