"""Secrets of a content are looked for once, and what a policy says decides each time anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory import kept_spans
from codememory.kept_spans import spans_of
from codememory.models import Policy, Project
from codememory.recall import search
from collectors.redact import find_secrets
from tests.collected import collect
from tests.repos import RepoBuilder

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TEXT = f"refund = 1\ntoken = '{SECRET}'\n"


def test_it_finds_what_find_secrets_does_and_remembers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    content = TEXT.encode()
    found = spans_of(content)
    assert found
    assert found == find_secrets(content)
    monkeypatch.setattr(kept_spans, "find_secrets", lambda _: ())
    assert spans_of(bytes(bytearray(content))) == found


def test_contents_that_differ_in_a_byte_have_their_own() -> None:
    plain = TEXT.replace(SECRET, "an ordinary word in a sentence").encode()
    assert not spans_of(plain)
    assert spans_of(TEXT.encode())
    assert not spans_of(plain)


def test_few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_spans, "MOST_SPANS", 3)
    for number in range(9):
        spans_of(b"text %d" % number)
    assert len(kept_spans._kept) <= 3
    assert kept_spans._held <= 3
    assert spans_of(TEXT.encode()) == find_secrets(TEXT.encode())


@pytest.mark.django_db(transaction=True)
def test_a_policy_that_excludes_the_path_hides_it_from_the_next_question(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("shop/refund.py", TEXT)
    repo.commit()
    project: Project = collect(repo)
    shown = search(project, "refund token", kinds=["change"])["results"]
    assert shown
    assert SECRET not in str(shown)
    newest = Policy.objects.filter(scope_id=project.scope_id).latest("generation")
    Policy.objects.create(
        scope_id=project.scope_id,
        generation=newest.generation + 1,
        sources=newest.sources,
        exclude=["shop/"],
    )
    assert not search(project, "refund token", kinds=["change"])["results"]
