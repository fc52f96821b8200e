"""A7: what was tried and undone becomes a candidate, with evidence and without a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.models import Candidate, EvidenceLink, EvidenceSegment
from codememory.recall import engineering_context
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db
PATH = "shop/refund.py"


def source(number: int = 0, lines: int = 4) -> str:
    body = "".join(f"    amount_{n} = order.lines[{n}].price * {number}\n" for n in range(lines))
    return f"def refund(order):\n{body}    return order\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write(PATH, source())
    repo.commit()
    return repo


def commit(repo: RepoBuilder, number: int, path: str = PATH) -> str:
    repo.write(path, source(number))
    return repo.commit()


def test_a_change_that_was_tried_and_undone_is_proposed(repo: RepoBuilder) -> None:
    """`becomes a candidate (error_fix or decision, rationale UNKNOWN)`"""
    tried, undone = commit(repo, 1), commit(repo, 0)
    collect(repo, ("git",))
    found = Candidate.objects.get(rule="tried-and-undone")
    assert (found.type, found.modality, found.state) == ("decision", "OBSERVATION", "PENDING")
    assert "`refund`" in found.statement
    assert tried[:12] in found.statement
    assert undone[:12] in found.statement


def test_both_ends_are_cited_byte_for_byte(repo: RepoBuilder) -> None:
    tried, undone = commit(repo, 1), commit(repo, 0)
    collect(repo, ("git",))
    links = EvidenceLink.objects.order_by("pk").select_related("segment__commit")
    cited = {link.segment.commit.oid: bytes(link.segment.content) for link in links}
    body = source(1).encode().split(b"\n", 1)[1].rsplit(b"    return", 1)[0]
    assert cited == {tried: body, undone: body.replace(b"* 1", b"* 0")}


def test_a_secret_in_it_is_not_stored(repo: RepoBuilder) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    repo.write(PATH, source(1) + f'AWS_KEY = "{key}"\n')
    repo.commit()
    commit(repo, 0)
    collect(repo, ("git",))
    assert EvidenceSegment.objects.exists()
    assert all(key.encode() not in bytes(s.content) for s in EvidenceSegment.objects.all())


def test_what_was_applied_again_is_no_candidate(repo: RepoBuilder) -> None:
    commit(repo, 1)
    commit(repo, 0)
    collect(repo, ("git",))
    assert Candidate.objects.count() == 1
    commit(repo, 1)
    collect(repo, ("git",))
    assert Candidate.objects.count() == 0


def test_another_run_proposes_nothing_twice(repo: RepoBuilder) -> None:
    commit(repo, 1)
    commit(repo, 0)
    collect(repo, ("git",))
    commit(repo, 3)
    collect(repo, ("git",))
    assert Candidate.objects.count() == 1


def test_at_most_twenty_are_open_the_largest_first(repo: RepoBuilder) -> None:
    for n in range(25):
        repo.write(f"part_{n}.py", source(0, lines=n + 4))
    repo.commit()
    for n in range(25):
        repo.write(f"part_{n}.py", source(1, lines=n + 4))
        repo.commit()
        repo.write(f"part_{n}.py", source(0, lines=n + 4))
        repo.commit()
    collect(repo, ("git",))
    found = list(Candidate.objects.values_list("statement", flat=True))
    assert len(found) == 20
    assert any("part_24.py" in text for text in found)
    assert not any("part_4.py" in text for text in found)


def test_an_agent_is_told_as_provisional(repo: RepoBuilder) -> None:
    commit(repo, 1)
    commit(repo, 0)
    project = collect(repo, ("git",))
    told = engineering_context(project, "change the refund")["documented_intent"]
    assert [(one["kind"], one["standing"]) for one in told] == [("candidate", "provisional")]
