"""What agents get of narrowed memories: a rule only where the question touches them, else named."""

from __future__ import annotations

import hashlib

import pytest
from django.contrib.auth.models import User

from codememory.listing import list_rows
from codememory.models import (
    Candidate,
    ContentChange,
    FileChange,
    GitCommit,
    Memory,
    Path,
    Project,
    SymbolChange,
    SymbolName,
)
from codememory.narrowing import applies
from codememory.people import actor_of
from codememory.recall import engineering_context, search
from review.actions import promote_candidate
from review.terms import Terms
from tests.builders import make_candidate, make_person, make_project
from tests.review.test_actions import shown

TASK = "retried refund keeps its key"
NAMED = {"PATH": "shop/refunds", "SYMBOL": "RefundService.create"}


@pytest.fixture
def project(db: None) -> Project:
    made = make_project()
    raw = b"shop/refunds/service.py"
    Path.objects.create(scope=made.scope, raw=raw, digest=hashlib.sha256(raw).digest())
    name = NAMED["SYMBOL"]
    digest = hashlib.sha256(name.encode()).digest()
    SymbolName.objects.create(scope=made.scope, qualified=name, leaf="create", digest=digest)
    return made


@pytest.fixture
def user(project: Project) -> User:
    return make_person(project)


def promote(project: Project, user: User, terms: Terms) -> Memory:
    candidate: Candidate = make_candidate(project)
    promote_candidate(candidate, shown(candidate), actor=actor_of(user), terms=terms)
    return Memory.objects.get(candidate=candidate)


def narrowed(project: Project, user: User, kind: str) -> Memory:
    return promote(project, user, Terms(narrow_kind=kind, narrow_to=NAMED[kind]))


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("PATH", {"paths": ["shop/refunds/service.py"]}),
        ("PATH", {"paths": ["shop/refunds/"]}),
        ("PATH", {"paths": ["shop"]}),
        ("PATH", {"task": f"{TASK} in shop/refunds"}),
        ("SYMBOL", {"symbols": ["RefundService.create"]}),
        ("SYMBOL", {"symbols": ["RefundService::create"]}),
        ("SYMBOL", {"symbols": ["create"]}),
        ("SYMBOL", {"symbols": ["RefundService"]}),
        ("SYMBOL", {"task": f"{TASK}: see RefundService.create"}),
    ],
)
def test_a_narrowed_rule_applies_where_the_question_touches_it(
    project: Project, user: User, kind: str, asked: dict[str, object]
) -> None:
    memory = narrowed(project, user, kind)
    answer = engineering_context(project, **{"task": TASK, **asked})  # type: ignore[arg-type]
    [rule] = answer["applicable_rules"]
    assert rule["id"] == f"M{memory.pk}"
    assert rule["applies_to"] == {kind.lower(): NAMED[kind]}
    assert answer["omitted"] == []


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("PATH", {}),
        ("PATH", {"paths": ["shop/refunds_v2.py"]}),
        ("PATH", {"task": f"{TASK} when you shop"}),
        ("SYMBOL", {"symbols": ["OrderService.create"]}),
        ("SYMBOL", {"task": f"{TASK}: create one"}),
        ("SYMBOL", {"paths": ["shop/refunds/service.py"]}),
    ],
)
def test_elsewhere_it_is_no_rule_and_named_as_left_out(
    project: Project, user: User, kind: str, asked: dict[str, object]
) -> None:
    memory = narrowed(project, user, kind)
    answer = engineering_context(project, **{"task": TASK, **asked})  # type: ignore[arg-type]
    assert answer["applicable_rules"] == []
    [left] = answer["omitted"]
    assert (left["reason"], left["count"]) == ("NARROWED", 1)
    assert left["rules"] == [{"id": f"M{memory.pk}", "applies_to": {kind.lower(): NAMED[kind]}}]


def test_a_path_below_which_a_symbol_was_changed_touches_it(project: Project, user: User) -> None:
    memory = narrowed(project, user, "SYMBOL")
    same = {"scope": project.scope}
    path = Path.objects.get(**same, raw=b"shop/refunds/service.py")
    content = ContentChange.objects.create(
        **same, old_oid="1" * 40, new_oid="2" * 40, policy_generation=1
    )
    commit = GitCommit.objects.create(
        **same, oid="3" * 40, tree_oid="4" * 40, author_name=b"", author_email=b"", message=b"",
        author_time=0, author_offset=0, committer_time=0,
    )  # fmt: skip
    FileChange.objects.create(
        **same, commit=commit, parent_index=0, kind="M", old_mode=0, new_mode=0,
        new_path=path, old_path=path, path_class="NORMAL", content_change=content,
    )  # fmt: skip
    name = SymbolName.objects.get(**same)
    SymbolChange.objects.create(
        **same, content_change=content, position=0, kind="MODIFIED", symbol_kind="METHOD",
        name=name, confidence=100,
    )  # fmt: skip
    assert applies(memory, "", [b"shop/refunds"])
    assert not applies(memory, "", [b"shop/orders"])


def test_a_memory_that_depends_on_context_comes_with_that_word(
    project: Project, user: User
) -> None:
    promote(project, user, Terms(context="only while v1 is served"))
    [rule] = engineering_context(project, TASK)["applicable_rules"]
    assert rule["depends_on_context"] == "only while v1 is served"
    [found] = search(project, TASK, kinds=["memory"])["results"]
    assert found["snippet"].startswith("(depends on context: only while v1 is served) A retried")


def test_edited_words_come_with_those_of_the_evidence(project: Project, user: User) -> None:
    memory = promote(project, user, Terms(wording="A retried refund keeps its key for good."))
    [rule] = engineering_context(project, TASK)["applicable_rules"]
    assert rule["snippet"] == memory.statement
    assert rule["edited_from"] == memory.candidate.statement


def test_a_plain_memory_says_that_it_holds_everywhere(project: Project, user: User) -> None:
    promote(project, user, Terms())
    [row] = list_rows(project, "memories")["rows"]
    assert [row[key] for key in ("applies_to", "depends_on_context", "edited_from")] == [None] * 3
