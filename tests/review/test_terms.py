"""Promoting on other terms: edited words, a narrower place, a context. The original stays."""

from __future__ import annotations

import hashlib

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from codememory.models import Actor, AuditEvent, Candidate, Memory, Project, SymbolName
from codememory.people import actor_of
from review.actions import (
    promote_as_plan,
    promote_candidate,
    supersede_memory,
    undo_decision,
)
from review.outcomes import Decided, Refused
from review.terms import NO_CONTEXT, NO_PLACE, NO_WORDING, Terms
from tests.builders import make_candidate, make_memory
from tests.review.test_actions import shown

PATH = "docs/adr/0017-refund-idempotency.md"


@pytest.fixture
def actor(alice: User) -> Actor:
    return actor_of(alice)


def promote(candidate: Candidate, actor: Actor, terms: Terms) -> Memory | str:
    outcome = promote_candidate(candidate, shown(candidate), actor=actor, terms=terms)
    if isinstance(outcome, Refused):
        return outcome.reason
    assert isinstance(outcome, Decided)
    return Memory.objects.get(decision=outcome.decision)


def test_edited_wording_is_the_memory_s_and_the_original_stays(
    candidate: Candidate, actor: Actor
) -> None:
    memory = promote(candidate, actor, Terms(wording="Retried refunds keep\n their key."))
    assert isinstance(memory, Memory)
    assert memory.statement == memory.decision.wording == "Retried refunds keep their key."
    candidate.refresh_from_db()
    assert candidate.statement == "A retried refund keeps its first key."


def test_words_that_were_not_edited_are_no_wording(candidate: Candidate, actor: Actor) -> None:
    memory = promote(candidate, actor, Terms(wording=f"  {candidate.statement} "))
    assert isinstance(memory, Memory)
    assert memory.decision.wording is None


@pytest.mark.parametrize("wording", ["", " \n", "\u200b", "\u3164"])
def test_wording_that_says_nothing_is_refused(
    candidate: Candidate, actor: Actor, wording: str
) -> None:
    assert promote(candidate, actor, Terms(wording=wording)) == NO_WORDING


def test_wording_with_characters_that_nobody_sees_is_refused(
    candidate: Candidate, actor: Actor
) -> None:
    refused = promote(candidate, actor, Terms(wording="Keys \u202elive\u202c long."))
    assert refused == (
        "Your wording holds 2 characters that nobody can see. Take them out, then promote again."
    )


def test_a_memory_is_narrowed_to_a_folder_that_was_read(candidate: Candidate, actor: Actor) -> None:
    memory = promote(candidate, actor, Terms(narrow_kind="PATH", narrow_to="./docs/adr/"))
    assert isinstance(memory, Memory)
    assert (memory.narrow_kind, memory.narrow_to) == ("PATH", "docs/adr")


@pytest.mark.parametrize("place", ["nowhere/at/all.py", "docs/ad", "../docs"])
def test_a_place_that_was_never_read_is_refused(
    candidate: Candidate, actor: Actor, place: str
) -> None:
    refused = promote(candidate, actor, Terms(narrow_kind="PATH", narrow_to=place))
    assert isinstance(refused, str)
    assert refused.startswith(f"Nothing was ever read at {place}")


def test_a_memory_is_narrowed_to_a_symbol_that_was_read(
    project: Project, candidate: Candidate, actor: Actor
) -> None:
    name = "RefundService.create"
    digest = hashlib.sha256(name.encode()).digest()
    SymbolName.objects.create(scope=project.scope, qualified=name, leaf="create", digest=digest)
    asked = Terms(narrow_kind="SYMBOL", narrow_to="RefundService::create")
    memory = promote(candidate, actor, asked)
    assert isinstance(memory, Memory)
    assert memory.narrow_to == name


@pytest.mark.parametrize("kind", ["PATH", "SYMBOL"])
def test_narrowing_to_nothing_is_refused(candidate: Candidate, actor: Actor, kind: str) -> None:
    assert promote(candidate, actor, Terms(narrow_kind=kind, narrow_to=" ")) == NO_PLACE


def test_a_symbol_that_was_never_read_is_refused(candidate: Candidate, actor: Actor) -> None:
    refused = promote(candidate, actor, Terms(narrow_kind="SYMBOL", narrow_to="no_such"))
    assert isinstance(refused, str)
    assert refused.startswith("No symbol no_such was read")


def test_what_it_depends_on_is_kept_in_words(candidate: Candidate, actor: Actor) -> None:
    memory = promote(candidate, actor, Terms(context="only while  v1 is served"))
    assert isinstance(memory, Memory)
    assert memory.context == memory.decision.context == "only while v1 is served"
    assert AuditEvent.objects.get(action="candidate.promote").facts["context"] is True


def test_a_context_of_nothing_is_refused(candidate: Candidate, actor: Actor) -> None:
    assert promote(candidate, actor, Terms(context="\u200b")) == NO_CONTEXT


def test_terms_are_audited_without_their_words(candidate: Candidate, actor: Actor) -> None:
    promote(candidate, actor, Terms("Secret words.", "PATH", PATH, "only now"))
    facts = AuditEvent.objects.get(action="candidate.promote").facts
    assert (facts["edited"], facts["narrowed"]) == (True, "path")
    assert "Secret" not in str(facts)


def test_a_plan_is_kept_on_other_terms_as_a_plan(project: Project, actor: Actor) -> None:
    plan = make_candidate(project, "We will drop v1.", modality="PLAN")
    terms = Terms(wording="We plan to drop v1.")
    assert isinstance(promote(plan, actor, terms), str)
    promote_as_plan(plan, shown(plan), actor=actor, terms=terms)
    memory = Memory.objects.get(candidate=plan)
    assert (memory.modality, memory.statement) == ("PLAN", "We plan to drop v1.")


def test_a_memory_is_superseded_by_edited_words_and_comes_back(
    project: Project, alice: User, actor: Actor
) -> None:
    old = make_memory(make_candidate(project, "Keys live for 90 days.", subject="keys"), alice)
    new = make_candidate(project, "Keys live for 400 days.", subject="keys")
    terms = Terms(wording="Keys live for 400 days, no longer for 90.")
    supersede_memory(new, shown(new), memory_id=old.pk, actor=actor, terms=terms)
    assert Memory.objects.get(candidate=new).statement == terms.wording
    undo_decision(new, shown(new), actor=actor)
    old.refresh_from_db()
    assert old.state == "ACTIVE"


def test_undo_archives_the_memory_with_its_terms(candidate: Candidate, actor: Actor) -> None:
    promote(candidate, actor, Terms(wording="Other words."))
    undo_decision(candidate, shown(candidate), actor=actor)
    memory = Memory.objects.get(candidate=candidate)
    assert (memory.state, memory.statement) == ("ARCHIVED", "Other words.")
    assert isinstance(promote(candidate, actor, Terms()), Memory)


@pytest.mark.parametrize("change", ["statement = 'other'", "narrow_to = 'x'", "context = 'x'"])
def test_the_database_keeps_a_memory_as_it_was_decided(
    candidate: Candidate, actor: Actor, change: str
) -> None:
    promote(candidate, actor, Terms(narrow_kind="PATH", narrow_to=PATH))
    with pytest.raises(IntegrityError, match="keeps what was decided"), transaction.atomic():
        connection.cursor().execute(f"UPDATE codememory_memory SET {change}")


def test_the_database_refuses_a_memory_that_says_something_else(
    candidate: Candidate, actor: Actor
) -> None:
    memory = promote(candidate, actor, Terms())
    assert isinstance(memory, Memory)
    memory.pk, memory.statement = None, "Something else."
    with pytest.raises(IntegrityError, match="says what its decision says"), transaction.atomic():
        memory.save(force_insert=True)


@pytest.mark.parametrize("terms", [{"wording": "Set {}."}, {"context": "while {}"}])
def test_a_secret_that_was_typed_is_refused_and_kept_nowhere(
    candidate: Candidate, actor: Actor, terms: dict[str, str]
) -> None:
    typed = {name: text.format("password = hunter2hunter2") for name, text in terms.items()}
    refusal = promote(candidate, actor, Terms(**typed))
    assert isinstance(refusal, str)
    assert "looks like a secret (password)" in refusal
    assert not Memory.objects.exists()
